// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/account.h"

enum {
	FIRST_MIN_NS = 100000, /* shortest first period; half a period if that is less */
	INTERRUPT_NS = 50000, /* hard minimum of a first period; the whole period if that is less */
	FAULT_NS = 1000,      /* generous time of a fault that clears a page of 4 KiB */
	PORTIONS = 16,        /* samples over which a difference of the clocks is spread */
	/*
	 * a portion is at most `each_ns` times this and, unless `is_last`, at least `each_ns`
	 * divided by this
	 */
	MAX_TIMES = 4
};

void fg_account_open(struct fg_account *account, const struct fg_times *now)
{
	*account = (struct fg_account){.last = *now, .on = true};
}

void fg_account_look(struct fg_account *account, const struct fg_times *now, bool on,
		     uint32_t switches, struct fg_times *split)
{
	const struct fg_times *last = &account->last;

	*split = (struct fg_times){
		.cpu_ns = now->cpu_ns - last->cpu_ns,
		.user_ns = now->user_ns - last->user_ns,
		.system_ns = now->system_ns - last->system_ns,
		.faults = now->faults - last->faults,
		.departures = now->departures - last->departures,
	};
	if (on && account->on) {
		const int64_t beyond_ns = (int64_t)(split->cpu_ns - account->sampled_ns);
		const int64_t system_ns = (int64_t)split->system_ns;

		account->owed_ns += switches != account->switches && system_ns < beyond_ns
					    ? system_ns
					    : beyond_ns;
	}
	account->last = *now;
	account->sampled_ns = 0;
	account->on = on;
	account->switches = switches;
}

bool fg_account_is_fault(const struct fg_times *split, uint64_t due_ns)
{
	return split->faults > 0 &&
	       (split->system_ns > split->user_ns || split->faults * FAULT_NS * 2 > due_ns);
}

uint64_t fg_account_portion(const struct fg_account *account, uint32_t left, uint64_t each_ns,
			    bool is_last)
{
	const int64_t each = (int64_t)each_ns;
	const int64_t beyond_ns = account->owed_ns - (int64_t)left * each;
	const int64_t portion_ns =
		each + beyond_ns / (int64_t)(is_last ? left : left + PORTIONS - 1);

	if (!is_last && portion_ns < each / MAX_TIMES)
		return each_ns / MAX_TIMES;
	return portion_ns > MAX_TIMES * each ? MAX_TIMES * each_ns : (uint64_t)portion_ns;
}

uint64_t fg_account_first_period(uint64_t phase_ns, uint64_t period_ns)
{
	uint64_t min_ns = period_ns / 2;

	if (min_ns > FIRST_MIN_NS)
		min_ns = FIRST_MIN_NS;
	if (min_ns < INTERRUPT_NS)
		min_ns = period_ns < INTERRUPT_NS ? period_ns : INTERRUPT_NS;
	return phase_ns < min_ns ? min_ns : phase_ns;
}
