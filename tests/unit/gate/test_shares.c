// SPDX-License-Identifier: Apache-2.0
#include "gate/shares.h"
#include "tests/unit/statistics/close.h"

enum {
	FUNCTIONS_MAX = 4,
};

/* A change of the whole by `total`, and of functions, the unsure ones last. */
struct row {
	const char *why;
	double total;
	double sure[FUNCTIONS_MAX];
	double unsure;
	bool whole_changed;
	bool has_shares;
};

static const struct row rows[] = {
	{"as usual", 10, {9, 0.5}, 0.2, true, true},
	{"the whole did not change", 10, {9, 0.5}, 0.2, false, false},
	{"twice the whole", 10, {20}, 0, true, true},
	{"beyond twice", 10, {20.1}, 0, true, false},
	{"beyond twice, the other way", 10, {12, -20.1}, 0, true, false},
	{"twice, of a whole that fell", -10, {-20}, 0, true, true},
	{"beyond, of a whole that fell", -10, {-20.1}, 0, true, false},
	{"each within, and all together leave less", 10, {15, 15}, 0, true, true},
	{"each within, and all together leave too much", 10, {15, 15, 1}, 0, true, false},
	{"what is not sure needs no share", 10, {5}, 90, true, true},
};

static void there_are_shares_where_each_is_at_most_twice_the_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct fg_node_verdict functions[FUNCTIONS_MAX + 1];
		struct fg_node_verdict *exactly = NULL;
		struct fg_blame blame = {.functions = functions, .total_delta = row->total};
		double sure = 0;

		for (size_t k = 0; k < FUNCTIONS_MAX; k++) {
			if (row->sure[k] < 0 || row->sure[k] > 0)
				functions[blame.function_count++] = (struct fg_node_verdict){
					.delta = row->sure[k],
					.share_of_change = (double)NAN,
					.standing = row->sure[k] > 0 ? FG_STANDING_GUILTY
								     : FG_STANDING_FASTER};
			sure += row->sure[k];
		}
		functions[blame.function_count++] =
			(struct fg_node_verdict){.delta = row->unsure,
						 .share_of_change = (double)NAN,
						 .standing = FG_STANDING_NOT_SURE};
		/* A copy of exactly this size, so that a read beyond the end is noticed. */
		exactly = fg_xcalloc(blame.function_count, sizeof(exactly[0]));
		memcpy(exactly, functions, blame.function_count * sizeof(exactly[0]));
		blame.functions = exactly;
		fg_shares_set(&blame, row->whole_changed);
		assert_near(blame.everything_else, row->total - sure, 1e-12);
		assert_near(blame.unattributed, row->total - sure - row->unsure, 1e-12);
		for (size_t k = 0; k + 1 < blame.function_count; k++) {
			if (isnan(exactly[k].share_of_change) == row->has_shares)
				fail_msg("%s", row->why);
			if (row->has_shares)
				assert_close(exactly[k].share_of_change,
					     exactly[k].delta / row->total, 1e-12);
		}
		assert_true(isnan(exactly[blame.function_count - 1].share_of_change));
		free(exactly);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_shares_where_each_is_at_most_twice_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
