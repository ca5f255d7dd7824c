// SPDX-License-Identifier: Apache-2.0
#include "cli/session/count_both.h"

#include "base/fs.h"
#include "profile/ingest.h"

enum {
	REPETITIONS_MAX = 2,
};

static void take(const struct fg_count_both *both, const struct fg_profile *profile,
		 enum fg_arm arm, unsigned repetition)
{
	const struct fg_benchmark *benchmark = both->benchmark;
	struct fg_ingest_row row = {.arm = (uint8_t)arm, .pair = both->first_pair + repetition};

	if (arm == FG_ARM_BASELINE && benchmark->baseline_command.argc > 0) {
		row.program = fg_fs_base_name(benchmark->baseline_command.argv[0]);
		row.called = fg_fs_base_name(benchmark->command.argv[0]);
	}
	fg_profile_ingest_profile(both->set, profile, &row, NULL);
}

static int count_sides(const struct fg_count_both *both, unsigned repetition, bool *counted,
		       struct fg_error *err)
{
	*counted = true;
	for (unsigned arm = 0; arm < FG_ARM_COUNT && *counted; arm++) {
		struct fg_profile profile;
		int status = FG_OK;

		if (arm == FG_ARM_BASELINE && !both->has_baseline)
			continue;
		status = both->count(both->context, (enum fg_arm)arm, &profile, counted, err);
		if (status != FG_OK)
			return status;
		if (!*counted)
			continue;
		take(both, &profile, (enum fg_arm)arm, repetition);
		fg_profile_release(&profile);
	}
	return FG_OK;
}

int fg_session_count_both(const struct fg_count_both *both, unsigned *done, struct fg_error *err)
{
	bool counted = true;

	*done = 0;
	for (unsigned i = 0; i < REPETITIONS_MAX; i++) {
		const int status = count_sides(both, i, &counted, err);

		if (status != FG_OK)
			return status;
		if (!counted)
			break;
		++*done;
		if (both->has_baseline && both->is_equal(both->set, both->first_pair))
			break;
	}
	return FG_OK;
}
