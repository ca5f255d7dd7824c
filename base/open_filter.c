// SPDX-License-Identifier: Apache-2.0
#include "base/open_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

/* If the system call has this number, jumps ahead by `steps`, to the end of the filter. */
# define ON_CALL(number, steps) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), (steps), 0)

bool fg_open_filter_install(void)
{
	static struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 9),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ON_CALL(SYS_open, 6),
		ON_CALL(SYS_openat, 5),
		ON_CALL(SYS_openat2, 4),
		ON_CALL(SYS_creat, 3),
		ON_CALL(SYS_open_by_handle_at, 3),
		ON_CALL(SYS_io_uring_setup, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | FG_OPEN_EVENT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | FG_OPEN_UNSEEN),
	};
	static const struct sock_fprog program = {.len = FG_ARRAY_SIZE(steps), .filter = steps};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool fg_open_filter_install(void)
{
	return false;
}

#endif
