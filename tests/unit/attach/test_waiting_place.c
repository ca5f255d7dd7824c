// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/waiting_place.h"
#include "tests/support/fg_test.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

FG_TEST(a_system_call_is_read)
{
	struct fg_blocked blocked;

	assert_true(fg_blocked_parse("232 0x4 0x7ffc 0x1 0xffffffff 0x0 0x8 0x7ffc10 0x7f0042\n",
				     &blocked));
	assert_true(blocked.waits);
	assert_int_equal(blocked.number, SYS_epoll_wait);
	assert_int_equal(blocked.argument, 4);
	assert_int_equal(blocked.stack, 0x7ffc10);
	assert_int_equal(blocked.code, 0x7f0042);
}

FG_TEST(waiting_for_a_page_is_not_a_system_call)
{
	struct fg_blocked blocked;

	assert_true(fg_blocked_parse("-1 0x7ffc10 0x401000\n", &blocked));
	assert_true(blocked.waits);
	assert_int_equal(blocked.number, -1);
	assert_int_equal(blocked.stack, 0x7ffc10);
	assert_int_equal(blocked.code, 0x401000);
}

FG_TEST(a_running_thread_does_not_wait)
{
	struct fg_blocked blocked;

	assert_true(fg_blocked_parse("running\n", &blocked));
	assert_false(blocked.waits);
}

FG_TEST(other_text_is_refused)
{
	static const char *const texts[] = {"",    "\n", "7", "7 0x1", "words of another kind",
					    " 1 2"};
	struct fg_blocked blocked;

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		const bool parsed = fg_blocked_parse(texts[i], &blocked);

		assert_false(parsed && blocked.waits);
	}
}

static bool survives(long number, uint64_t argument)
{
	return fg_blocked_survives_stop(
		getpid(),
		&(struct fg_blocked){.waits = true, .number = number, .argument = argument});
}

FG_TEST(calls_that_would_end_are_not_stopped)
{
	int sockets[2];
	int pipes[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_false(survives(SYS_epoll_wait, 3));
	assert_false(survives(SYS_rt_sigtimedwait, 0));
	assert_false(survives(SYS_recvfrom, (uint64_t)sockets[0]));
	assert_false(survives(SYS_read, (uint64_t)sockets[0]));
	assert_true(survives(SYS_read, (uint64_t)pipes[0]));
	assert_true(survives(SYS_futex, 0));
	assert_true(survives(SYS_clock_nanosleep, 0));
	assert_true(survives(-1, 0));
	for (size_t i = 0; i < FG_ARRAY_SIZE(sockets); i++) {
		(void)close(sockets[i]);
		(void)close(pipes[i]);
	}
}

FG_TEST(a_changed_stack_is_another_place)
{
	uint64_t stack[1024] = {0};
	struct fg_memory memory;
	struct fg_blocked blocked = {.waits = true, .number = SYS_futex, .code = 1};
	struct fg_waiting_place known = {.node = 7};
	uint64_t address = 0;
	void *first = &stack[0];

	memcpy(&address, &first, sizeof(address));
	blocked.stack = address;
	fg_memory_init(&memory, getpid());
	known.blocked = blocked;
	known.hash = fg_waiting_place_hash(&memory, blocked.stack, 1);
	fg_memory_forget(&memory);
	assert_true(fg_waiting_place_is(&known, &blocked,
					fg_waiting_place_hash(&memory, blocked.stack, 1)));
	stack[0]++;
	fg_memory_forget(&memory);
	assert_false(fg_waiting_place_is(&known, &blocked,
					 fg_waiting_place_hash(&memory, blocked.stack, 1)));
	blocked.code++;
	assert_false(fg_waiting_place_is(&known, &blocked, known.hash));
	known.node = 0;
	blocked.code--;
	assert_false(fg_waiting_place_is(&known, &blocked, known.hash));
	fg_memory_release(&memory);
}
