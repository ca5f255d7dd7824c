// SPDX-License-Identifier: Apache-2.0
#include "collector/dumps.h"

#include "collector/introduce.h"
#include "collector/live.h"
#include "collector/real.h"
#include "collector/writer.h"

#include <string.h>

enum {
	DUMPS_MAX = 250 /* each is measures of its own, and a profile has room for 1,024 */
};

struct fg_dumps fg_dumps;

static _Atomic bool at_it;

/* 0 at its end. */
static uint8_t control_byte(uint32_t at)
{
	return at < FG_CONTROL_BYTES ? atomic_load_explicit(&fg_g.control[at], memory_order_relaxed)
				     : 0;
}

static bool is_command(uint32_t begin, uint32_t end, const char *command)
{
	uint32_t at = begin;

	while (at < end && *command && control_byte(at) == (uint8_t)*command) {
		at++;
		command++;
	}
	return at == end && !*command;
}

/* Whole lines only: the rest of one may be written just now. */
static void read_control(void)
{
	uint32_t begin = atomic_load(&fg_g.control_seen);
	uint32_t end = begin;

	for (; control_byte(end); end++) {
		if (control_byte(end) != '\n')
			continue;
		if (is_command(begin, end, "dump"))
			(void)atomic_fetch_add(&fg_dumps.asked, 1);
		begin = end + 1;
	}
	atomic_store(&fg_g.control_seen, begin);
}

void fg_dumps_take(struct fg_thread *thread)
{
	if (atomic_exchange(&at_it, true))
		return;
	if (fg_control_has_more())
		read_control();
	while (atomic_load(&fg_dumps.begun) != atomic_load(&fg_dumps.asked)) {
		const uint32_t number = atomic_fetch_add(&fg_dumps.begun, 1) + 1;

		if (!fg_ensure_file(thread))
			continue;
		if (number <= DUMPS_MAX)
			fg_live_dump(thread, number);
		else if (number == DUMPS_MAX + 1)
			(void)fg_note(thread, "there is room for 250 dumps: later ones are not "
					      "recorded");
	}
	atomic_store(&at_it, false);
}

void fg_dump_ask(void)
{
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	(void)atomic_fetch_add(&fg_dumps.asked, 1);
	if (fg_alive() && thread && fg_thread_enter(thread)) {
		fg_dumps_take(thread);
		fg_thread_leave(thread);
	}
	errno = saved_errno;
}

void fg_dumps_forked(void)
{
	atomic_store(&at_it, false);
}

static void on_signal(int signal)
{
	(void)signal;
	fg_dump_ask();
}

void fg_dumps_begin(void)
{
	FG_REAL(sigaction);
	struct sigaction ours;

	if (!fg_g.options.dump_signal)
		return;
	memset(&ours, 0, sizeof(ours));
	ours.sa_handler = on_signal;
	ours.sa_flags = SA_RESTART | SA_ONSTACK;
	(void)real_sigaction((int)fg_g.options.dump_signal, &ours, NULL);
}
