// SPDX-License-Identifier: Apache-2.0
#include "cli/session/arms.h"
#include "tests/support/fg_test.h"

static struct fg_benchmark benchmarks[] = {{.name = "scan"}, {.name = "pack"}, {.name = "find"}};
/* The shard of each benchmark, out of three, by the hash of its name. */
enum {
	OF_SCAN = 3,
	OF_PACK = 1,
	OF_FIND = 2,
	SHARDS = 3
};

static const struct fg_plan plan = {.benchmarks = benchmarks, .benchmark_count = 3};

static struct fg_stored_run part(unsigned index, const char *benchmark, const char *cpu)
{
	struct fg_stored_run stored = {0};
	struct fg_side *candidate = &stored.run.sides[FG_ARM_CANDIDATE];

	fg_run_init(&stored.run);
	(void)snprintf(stored.run.id, sizeof(stored.run.id), "0198f000-0000-7000-8000-%012x",
		       index);
	stored.run.project = fg_xstrdup("split");
	stored.run.started_ns = 1000 + index;
	stored.run.complete = true;
	stored.run.seed = index;
	candidate->commit = fg_xstrdup("1111111111111111111111111111111111111111");
	fg_environment_set(&stored.run.host, "host.cpu.model", cpu, true);
	fg_environment_printf(&stored.run.host, "host.load", false, "%u", index);
	if (benchmark)
		fg_run_add_series(&stored.run, benchmark)->state = FG_MEASURED;
	fg_shard_mark(&stored.run, index, SHARDS);
	return stored;
}

static void add(struct fg_shards *shards, struct fg_stored_run stored)
{
	struct fg_error err = {0};

	if (fg_shards_add(shards, &stored, "a file", &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_null(stored.run.project); /* `shards` has taken the run over */
}

static void refuses(struct fg_shards *shards, struct fg_stored_run stored, const char *words)
{
	struct fg_error err = {0};
	const size_t before = shards->count;

	assert_int_equal(fg_shards_add(shards, &stored, "a file", &err), FG_EINVAL);
	if (!strstr(err.message, words))
		fail_msg("no '%s' in: %s", words, err.message);
	assert_int_equal(shards->count, before);
}

FG_TEST(shards_become_one_run_in_the_order_of_the_plan)
{
	static const unsigned orders[2][3] = {{OF_FIND, OF_SCAN, OF_PACK},
					      {OF_PACK, OF_FIND, OF_SCAN}};
	static const char *const names[] = {NULL, "pack", "find", "scan"};
	char ids[2][37];

	for (int round = 0; round < 2; round++) {
		struct fg_shards shards = {0};
		struct fg_stored_run merged = {0};
		struct fg_strbuf missing = {0};
		unsigned index = 0;
		unsigned count = 0;

		for (int i = 0; i < SHARDS; i++)
			add(&shards, part(orders[round][i], names[orders[round][i]],
					  orders[round][i] == OF_SCAN ? "Zen" : "Skylake"));
		fg_shards_merge(&shards, &plan, &merged, &missing);
		assert_int_equal(missing.length, 0);
		assert_int_equal(merged.run.series_count, 3);
		for (size_t i = 0; i < 3; i++)
			assert_string_equal(merged.run.series[i].name, benchmarks[i].name);
		assert_false(fg_shard_of(&merged.run, &index, &count));
		assert_true(merged.run.started_ns > 1000 + SHARDS);
		/*
		 * The hosts are of two kinds, so the merged run has both models and no load;
		 * differences outside of the fingerprint do not matter.
		 */
		assert_string_equal(fg_environment_get(&merged.run.host, "host.cpu.model"),
				    "Skylake | Zen");
		assert_null(fg_environment_get(&merged.run.host, "host.load"));
		memcpy(ids[round], merged.run.id, sizeof(ids[round]));
		fg_stored_run_release(&merged);
		fg_shards_release(&shards);
		fg_strbuf_release(&missing);
	}
	assert_int_equal(strlen(ids[0]), 36);
	assert_string_equal(ids[0], ids[1]);
}

FG_TEST(missing_shards_are_not_measured)
{
	struct fg_shards shards = {0};
	struct fg_stored_run merged = {0};
	struct fg_strbuf missing = {0};
	struct fg_stored_run cut = part(OF_FIND, NULL, "Zen");

	cut.run.complete = false;
	add(&shards, cut);
	add(&shards, part(OF_PACK, "pack", "Zen"));
	fg_shards_merge(&shards, &plan, &merged, &missing);
	assert_string_equal(
		fg_strbuf_text(&missing),
		"shard 2/3 was interrupted: find was not measured; shard 3/3 is missing: scan "
		"was not measured");
	assert_int_equal(merged.run.series_count, 3);
	assert_int_equal(fg_run_find(&merged.run, "pack")->state, FG_MEASURED);
	assert_int_equal(fg_run_find(&merged.run, "find")->state, FG_NOT_MEASURED);
	assert_string_equal(fg_run_find(&merged.run, "scan")->failure, "shard 3/3 is missing");
	fg_stored_run_release(&merged);
	fg_shards_release(&shards);
	fg_strbuf_release(&missing);
}

FG_TEST(a_shard_without_a_benchmark_is_not_missing)
{
	const struct fg_plan one = {.benchmarks = benchmarks, .benchmark_count = 1};
	struct fg_shards shards = {0};
	struct fg_stored_run merged = {0};
	struct fg_strbuf missing = {0};

	add(&shards, part(OF_SCAN, "scan", "Zen"));
	add(&shards, part(OF_PACK, NULL, "Zen"));
	/* Two of three shards; no benchmark belongs to the missing shard. */
	fg_shards_merge(&shards, &one, &merged, &missing);
	assert_int_equal(missing.length, 0);
	assert_int_equal(merged.run.series_count, 1);
	fg_stored_run_release(&merged);
	fg_shards_release(&shards);
	fg_strbuf_release(&missing);
}

FG_TEST(shards_that_do_not_belong_together_are_refused)
{
	struct fg_shards shards = {0};
	struct fg_stored_run other;

	add(&shards, part(OF_PACK, "pack", "Zen"));
	refuses(&shards, part(OF_PACK, "pack", "Zen"), "shard 1/3 is given twice");
	other = part(OF_FIND, "find", "Zen");
	other.run.sides[FG_ARM_CANDIDATE].commit[0] = '2';
	refuses(&shards, other, "measured the candidate at commit 1111");
	other = part(OF_FIND, "find", "Zen");
	other.run.sides[FG_ARM_CANDIDATE].dirty = true;
	refuses(&shards, other, "a work tree with changes");
	other = part(OF_FIND, "find", "Zen");
	other.run.has_baseline = true;
	refuses(&shards, other, "measured a baseline");
	other = part(OF_FIND, "find", "Zen");
	other.run.project[0] = 'x';
	refuses(&shards, other, "merge one project at a time");
	other = part(OF_FIND, "find", "Zen");
	fg_shard_mark(&other.run, OF_FIND, SHARDS + 1);
	refuses(&shards, other, "do not belong to the same split");
	refuses(&shards, part(OF_FIND, "pack", "Zen"), "benchmark 'pack' is in shard 1/3");
	other = part(OF_FIND, "find", "Zen");
	fg_environment_release(&other.run.sides[FG_ARM_CANDIDATE].build);
	refuses(&shards, other, "is not a shard");
	fg_shards_release(&shards);
}
