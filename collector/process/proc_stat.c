// SPDX-License-Identifier: Apache-2.0
#include "collector/process/proc_stat.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t fg_stat_field(const char *path, enum fg_stat_number number)
{
	char text[512];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t size;
	uint64_t value = 0;

	if (fd < 0)
		return 0;
	size = syscall(SYS_read, fd, text, sizeof(text) - 1);
	(void)syscall(SYS_close, fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	/* The name, field 2, may contain anything; field 3 follows its last parenthesis. */
	const char *at = strrchr(text, ')');

	for (int field = 2; at && field < (int)number; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	for (; at && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}
