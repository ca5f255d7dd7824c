// SPDX-License-Identifier: Apache-2.0
#include "collector/counting/dumps.h"

#include "collector/counting/live.h"
#include "collector/process/real.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/writer.h"

#include <string.h>

enum {
	DUMPS_MAX = 250 /* each dump adds measures to the profile, which has room for 1,024 */
};

struct fg_dumps fg_dumps;

static _Atomic bool at_it;

static void read_control(void)
{
	const uint32_t requested = __atomic_load_n(&fg_g.control->dumps, __ATOMIC_ACQUIRE);
	const uint32_t before = atomic_exchange(&fg_g.control_dumps, requested);

	(void)atomic_fetch_add(&fg_dumps.requested, requested - before);
}

void fg_dumps_take(struct fg_thread *thread)
{
	if (atomic_exchange(&at_it, true))
		return;
	if (fg_control_has_more())
		read_control();
	while (atomic_load(&fg_dumps.started) != atomic_load(&fg_dumps.requested)) {
		const uint32_t number = atomic_fetch_add(&fg_dumps.started, 1) + 1;

		if (!fg_ensure_file(thread))
			continue;
		if (number <= DUMPS_MAX)
			fg_live_dump(thread, number);
		else if (number == DUMPS_MAX + 1)
			(void)fg_note(thread, "only the first 250 dumps are recorded");
	}
	atomic_store(&at_it, false);
}

void fg_dump_request(void)
{
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	(void)atomic_fetch_add(&fg_dumps.requested, 1);
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
	fg_dump_request();
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
