// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/waiting_place.h"

#include "base/hash.h"
#include "base/text.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

bool fg_blocked_parse(const char *text, struct fg_blocked *blocked)
{
	const char *code = strrchr(text, ' ');
	const char *stack = code;
	char *end = NULL;

	*blocked = (struct fg_blocked){.number = -1};
	if (fg_text_starts_with(text, "running"))
		return true;
	while (stack && stack > text && stack[-1] != ' ')
		stack--;
	blocked->number = strtol(text, &end, 10);
	if (!stack || end == text || stack <= end)
		return false;
	blocked->argument = strtoull(end, NULL, 16);
	blocked->stack = strtoull(stack, NULL, 16);
	blocked->code = strtoull(code, NULL, 16);
	blocked->waits = blocked->stack != 0 && blocked->code != 0;
	return true;
}

static bool is_socket(pid_t pid, uint64_t fd)
{
	static const char socket[] = "socket:";
	char path[64];
	char name[sizeof(socket)] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)fd);
	return readlink(path, name, sizeof(name) - 1) > 0 && strcmp(name, socket) == 0;
}

enum after_stop {
	GOES_ON,
	ENDS,           /* ends with EINTR */
	ENDS_ON_SOCKET, /* ends with EINTR if the call waits on a socket */
};

/*
 * signal(7) lists the calls that end with EINTR after a stop. A call on a socket ends with EINTR
 * only if it has a time limit; here every call on a socket counts as limited.
 */
static enum after_stop after_stop(long number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		return ENDS;
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
		return ENDS_ON_SOCKET;
	default:
		return GOES_ON;
	}
}

bool fg_blocked_survives_stop(pid_t pid, const struct fg_blocked *blocked)
{
	const enum after_stop what = after_stop(blocked->number);

	return what == GOES_ON || (what == ENDS_ON_SOCKET && !is_socket(pid, blocked->argument));
}

bool fg_call_was_interrupted(const struct user_regs_struct *registers)
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

/* connect() is left out: a second call would fail with EALREADY. */
bool fg_call_is_cut_by_stop(const struct user_regs_struct *registers)
{
	const long number = (long)registers->orig_rax;

	return number >= 0 && (long)registers->rax == -EINTR && number != SYS_connect &&
	       after_stop(number) != GOES_ON;
}

struct user_regs_struct fg_blocked_registers(const struct fg_blocked *blocked)
{
	return (struct user_regs_struct){.rip = blocked->code, .rsp = blocked->stack};
}

uint64_t fg_waiting_place_hash(struct fg_memory *memory, uint64_t stack, size_t pages)
{
	const uint64_t end = stack - stack % FG_MEMORY_PAGE + pages * FG_MEMORY_PAGE;
	uint8_t page[FG_MEMORY_PAGE];
	uint64_t hash = 0;

	while (stack < end) {
		const size_t size = FG_MEMORY_PAGE - stack % FG_MEMORY_PAGE;

		if (!fg_memory_read(memory, stack, page, size))
			break;
		hash = fg_hash64(page, size, hash);
		stack += size;
	}
	return hash;
}

bool fg_waiting_place_is(const struct fg_waiting_place *known, const struct fg_blocked *blocked,
			 uint64_t hash)
{
	return known->node != 0 && known->hash == hash &&
	       known->blocked.number == blocked->number && known->blocked.stack == blocked->stack &&
	       known->blocked.code == blocked->code;
}
