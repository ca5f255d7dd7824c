// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/waiting.h"

#include "base/base.h"

#include <errno.h>
#include <sys/syscall.h>

static const struct {
	long number;
	const char *name;
} calls[] = {
	{SYS_read, "read"},
	{SYS_readv, "readv"},
	{SYS_pread64, "pread"},
	{SYS_write, "write"},
	{SYS_writev, "writev"},
	{SYS_openat, "open"},
	{SYS_recvfrom, "recv"},
	{SYS_recvmsg, "recvmsg"},
	{SYS_sendto, "send"},
	{SYS_sendmsg, "sendmsg"},
	{SYS_connect, "connect"},
	{SYS_accept, "accept"},
	{SYS_accept4, "accept"},
	{SYS_flock, "flock"},
	{SYS_fcntl, "fcntl"},
	{SYS_poll, "poll"},
	{SYS_ppoll, "poll"},
	{SYS_select, "select"},
	{SYS_pselect6, "select"},
	{SYS_epoll_wait, "epoll_wait"},
	{SYS_epoll_pwait, "epoll_wait"},
	{SYS_futex, "futex"},
	{SYS_wait4, "wait"},
	{SYS_waitid, "wait"},
	{SYS_nanosleep, "sleep"},
	{SYS_clock_nanosleep, "sleep"},
	{SYS_pause, "pause"},
	{SYS_rt_sigsuspend, "sigsuspend"},
	{SYS_rt_sigtimedwait, "sigwait"},
	{SYS_msgrcv, "msgrcv"},
	{SYS_semop, "semop"},
	{SYS_semtimedop, "semop"},
};

/* A system call that our stop interrupted still says so in the register of its result. */
static bool was_interrupted(const struct user_regs_struct *registers)
{
	enum {
		ERESTARTSYS = 512,
		ERESTARTNOINTR = 513,
		ERESTARTNOHAND = 514,
		ERESTART_RESTARTBLOCK = 516
	};
	const long result = (long)registers->rax;

	return (long)registers->orig_rax >= 0 &&
	       (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
		result == -ERESTART_RESTARTBLOCK || result == -EINTR);
}

const char *fg_waiting_call(const struct user_regs_struct *registers)
{
	if (!was_interrupted(registers))
		return NULL;
	for (size_t i = 0; i < FG_ARRAY_SIZE(calls); i++) {
		if (calls[i].number == (long)registers->orig_rax)
			return calls[i].name;
	}
	return "a system call";
}
