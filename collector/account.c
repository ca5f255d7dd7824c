// SPDX-License-Identifier: Apache-2.0
#include "collector/account.h"

enum {
	FIRST_LEAST_NS = 100000, /* or half a period, */
	INTERRUPT_NS = 50000     /* but not less than this, or the whole period */
};

void fg_account_open(struct fg_account *account, const struct fg_times *now, bool split_known)
{
	*account = (struct fg_account){.last = *now, .split_known = split_known, .on = true};
}

void fg_account_look(struct fg_account *account, const struct fg_times *now, bool on,
		     uint32_t switches, struct fg_times *split)
{
	*split = (struct fg_times){now->cpu_ns - account->last.cpu_ns, 0, 0};
	if (account->split_known) {
		split->user_ns = now->user_ns - account->last.user_ns;
		split->system_ns = now->system_ns - account->last.system_ns;
	}
	if (on && account->on) {
		const int64_t beyond_ns = (int64_t)(split->cpu_ns - account->sampled_ns);
		const int64_t system_ns = (int64_t)split->system_ns;

		account->unsampled_ns += system_ns;
		account->owed_ns += switches != account->switches && system_ns < beyond_ns
					    ? system_ns
					    : beyond_ns;
	}
	account->last = *now;
	account->split_known = true;
	account->sampled_ns = 0;
	account->on = on;
	account->switches = switches;
}

uint64_t fg_account_due(const struct fg_account *account, uint64_t period_ns)
{
	const int64_t slack_ns = (int64_t)period_ns;
	int64_t due_ns = account->unsampled_ns;

	if (due_ns < account->owed_ns - slack_ns)
		due_ns = account->owed_ns - slack_ns;
	if (due_ns > account->owed_ns + slack_ns)
		due_ns = account->owed_ns + slack_ns;
	return due_ns > 0 ? (uint64_t)due_ns : 0;
}

void fg_account_give(struct fg_account *account, uint64_t weight_ns)
{
	account->owed_ns -= (int64_t)weight_ns;
	account->unsampled_ns -= (int64_t)weight_ns;
}

uint64_t fg_account_first_period(uint64_t phase_ns, uint64_t period_ns)
{
	uint64_t least_ns = period_ns / 2;

	if (least_ns > FIRST_LEAST_NS)
		least_ns = FIRST_LEAST_NS;
	if (least_ns < INTERRUPT_NS)
		least_ns = period_ns < INTERRUPT_NS ? period_ns : INTERRUPT_NS;
	return phase_ns < least_ns ? least_ns : phase_ns;
}
