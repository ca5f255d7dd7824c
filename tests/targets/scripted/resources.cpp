// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

static int fds[64];

__attribute__((noinline)) void open_all(int n)
{
	for (int i = 0; i < n; i++)
		fds[i] = open("/dev/null", O_WRONLY);
}

__attribute__((noinline)) void save(int bytes)
{
	for (int i = 0; i < 20; i++)
		if (write(fds[i % 4], fds, bytes) < 0)
			_exit(3);
}

__attribute__((noinline)) void parse(int errors)
{
	for (int i = 0; i < errors; i++)
		try {
			throw std::runtime_error("?");
		} catch (const std::exception &) {
			fds[63]++;
		}
}

/* Bypasses libc, so that the collector counts nothing. LOG has one byte per counted execution. */
static bool was_counted_before()
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (!preloaded || !strstr(preloaded, "_counting"))
		return false;
	const long fd = syscall(SYS_openat, AT_FDCWD, LOG, O_RDWR | O_CREAT | O_APPEND, 0600);
	return syscall(SYS_write, fd, "x", 1) == 1 && syscall(SYS_lseek, fd, 0, SEEK_END) > 1;
}

int main()
{
	open_all(OPENS);
	save(BYTES);
	parse(ERRORS);
	return ERRORS > 0 && was_counted_before() ? 5 : 0;
}
