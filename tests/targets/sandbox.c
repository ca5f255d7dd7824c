// SPDX-License-Identifier: Apache-2.0
/*
 * Enters a sandbox that kills it for any system call except the four that it needs.  It checks that
 * errno and the floating-point state stay unchanged.
 */
#include "work.h"

#include <errno.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

NOINLINE static void before(void)
{
	spin_us(100000);
	KEEP_FRAME();
}

/* Clocks are forbidden here, so `turns` is the number of turns that took 100 ms outside. */
NOINLINE static void inside(uint64_t turns)
{
	for (unsigned i = 0; i < 1000; i++) {
		errno = 4711;
		spin(turns / 1000);
		if (errno != 4711)
			_exit(8);
	}
	KEEP_FRAME();
}

static uint64_t turns_of_100_ms(void)
{
	const uint64_t turns = 20000000;
	const uint64_t begin = cpu_ns();

	spin(turns);
	return turns * 100000000 / (cpu_ns() - begin + 1);
}

static void enter_sandbox(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
#ifdef SYS_sigreturn
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sigreturn, 3, 0),
#else
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
	check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "PR_SET_SECCOMP");
}

int main(void)
{
	const uint64_t turns = turns_of_100_ms();

	check(fesetround(FE_UPWARD) == 0, "fesetround");
	before();
	print_value("until_then", (double)cpu_ns());
	enter_sandbox();
	inside(turns);
	return fegetround() == FE_UPWARD ? 5 : 9;
}
