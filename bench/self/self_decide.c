// SPDX-License-Identifier: Apache-2.0
/*
 * The decision with its explanation by function, as made after every run and by every comparison.
 */
#include "bench/self/self.h"
#include "gate/gate.h"

enum {
	TIMES = 20
};

int main(void)
{
	struct fg_stored_run stored = {0};
	struct fg_policy policy;
	struct fg_measuring measure;
	struct fg_error err = {0};
	size_t judged = 0;

	fg_self_run(&stored, 1);
	fg_policy_defaults(&policy);
	fg_measuring_defaults(&measure);
	for (int i = 0; i < TIMES; i++) {
		const struct fg_gate_input input = {
			.run = &stored.run,
			.profiles = (const struct fg_profile_set *const *)stored.profiles,
			.policy = &policy,
			.measure = &measure};
		struct fg_verdict verdict = {0};

		fg_self_must(fg_gate_decide(&input, &verdict, &err), &err);
		judged += verdict.benchmark_count;
		fg_verdict_release(&verdict);
	}
	fg_stored_run_release(&stored);
	(void)printf("%zu verdicts\n", judged);
	return judged == TIMES ? 0 : 1;
}
