// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/sampling.h"

#include "collector/sampler/writer.h"

bool fg_sampling_on(uint64_t now_ns)
{
	const struct fg_options *options = &fg_g.options;
	const uint64_t begin_ns = fg_g.start_ns + options->delay_ns;

	if (!atomic_load_explicit(&fg_g.sampling, memory_order_relaxed))
		return false;
	if (options->delay_ns && now_ns < begin_ns)
		return false;
	if (options->duration_ns && now_ns >= begin_ns + options->duration_ns)
		return false;
	return !fg_is_switched_off();
}

void fg_sampling_set(bool on)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || atomic_exchange(&fg_g.sampling, on) == on)
		return;
	(void)atomic_fetch_add(&fg_g.switches, 1);
	if (!thread || !fg_thread_enter(thread))
		return;
	if (atomic_load(&fg_g.header)) {
		fg_record_begin(thread, FG_RECORD_SAMPLING);
		fg_record_number(thread, on);
		fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
		(void)fg_record_write(thread);
	}
	fg_thread_leave(thread);
}
