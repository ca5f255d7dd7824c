// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/introduce.h"

#include "collector/counting/count_hooks.h"
#include "collector/python/python.h"
#include "collector/sampler/region_table.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	COMMAND_MAX = 65536
};

static void write_command(struct fg_thread *thread)
{
	static char command[COMMAND_MAX]; /* set once, by the thread that creates the file */
	long size = 0;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	size = syscall(SYS_read, fd, command, sizeof(command));
	(void)syscall(SYS_close, fd);
	if (size > 0)
		(void)fg_text_write(thread, FG_RECORD_COMMAND, command, (size_t)size);
}

void fg_trace_introduce(struct fg_thread *thread)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	(void)fg_text_write(thread, FG_RECORD_EXE, fg_g.program, strlen(fg_g.program));
	write_command(thread);
	if (fg_g.perf_errno)
		(void)fg_note(
			thread,
			"the kernel refuses perf events to this process: samples come from a timer "
			"instead");
	if (fg_g.options.invalid_variable) {
		(void)fg_note(thread, "a setting could not be read and was ignored:");
		(void)fg_note(thread, fg_g.options.invalid_variable);
	}
	if (fg_g.control_missing)
		(void)fg_note(thread, "the control file cannot be mapped: it does not control this "
				      "process");
	if (fg_count_hooks)
		fg_count_hooks->introduce(thread);
	fg_modules_rewrite(thread);
	fg_python_rewrite(thread);
	fg_region_table_rewrite(thread);
	__atomic_store_n(&header->state, FG_STATE_ACTIVE, __ATOMIC_RELEASE);
}

bool fg_ensure_file(struct fg_thread *thread)
{
	uint8_t nobody = 0;

	if (atomic_load_explicit(&fg_g.header, memory_order_acquire))
		return true;
	if (!fg_g.lazy || fg_g.sandboxed ||
	    !atomic_compare_exchange_strong(&fg_g.opening, &nobody, 1))
		return false;
	if (fg_file_open() != 0) {
		fg_g.lazy = false; /* leave `opening` set: another attempt would also fail */
		return false;
	}
	fg_trace_introduce(thread);
	atomic_store(&fg_g.opening, 0);
	return true;
}
