// SPDX-License-Identifier: Apache-2.0
/* Steps between commits, as the store records them. */
#include "store/serving/chain.h"
#include "tests/unit/store/fixture.h"

#include <math.h>

static const struct fg_sample_shape tiny = {.functions = 3, .paths = 5, .pairs = 2, .samples = 40};

/* A run of these commits, and its report on the metric. */
struct reported {
	const char *from;
	const char *to;
	const char *verdict;
	const char *step; /* NULL: missing in the report */
	bool is_dirty;
	bool is_unaffected;
};

static char *report_of(const struct reported *reported)
{
	return fg_xasprintf(
		"{\"schema\":\"fastgate-report/1\",\"verdict\":\"%s\",\"benchmarks\":[{\"name\":"
		"\"parse\",\"verdict\":\"%s\",\"metrics\":[{\"name\":\"cpu_time\",\"verdict\":"
		"\"%s\",\"pairs\":27,\"ratio\":1.5,\"interval\":[1,2]%s%s}]}]}",
		reported->verdict, reported->verdict, reported->verdict,
		reported->step ? ",\"step\":" : "", reported->step ? reported->step : "");
}

static void set_commit(struct fg_side *side, const char *commit, bool is_dirty)
{
	free(side->commit);
	side->commit = fg_xstrdup(commit);
	side->dirty = is_dirty;
}

static void save_reported(struct fixture *f, uint64_t seed, const struct reported *reported)
{
	struct fg_stored_run s = {0};
	char *report = report_of(reported);

	fg_sample_run(&s, seed, &tiny);
	s.run.has_baseline = true;
	s.run.complete = true;
	set_commit(&s.run.sides[FG_ARM_BASELINE], reported->from, false);
	set_commit(&s.run.sides[FG_ARM_CANDIDATE], reported->to, reported->is_dirty);
	if (reported->is_unaffected) {
		fg_series_release(&s.run.series[0]);
		fg_series_init(&s.run.series[0], "parse");
		s.run.series[0].unaffected = true;
	}
	must(f, fg_store_save(f->store, &s.run, reported->is_unaffected ? NULL : s.profiles, report,
			      &f->err));
	free(report);
	fg_stored_run_release(&s);
}

FG_TEST_IN(steps_come_with_their_commits_and_errors, setup, teardown)
{
	static const struct reported runs[] = {
		{.from = "aa", .to = "bb", .verdict = "pass", .step = "[0.01,0.003]"},
		{.from = "bb", .to = "cc", .verdict = "regression", .step = "[0.2,0.003]"},
		{.from = "cc", .to = "dd", .verdict = "pass", .step = "[0,0]"},
		{.from = "dd", .to = "ee", .verdict = "pass", .is_unaffected = true},
		/* not steps */
		{.from = "ee",
		 .to = "ff",
		 .verdict = "pass",
		 .step = "[0.1,0.1]",
		 .is_dirty = true},
		{.from = "ee", .to = "ee", .verdict = "pass", .step = "[0.1,0.1]"},
		{.from = "ee", .to = "gg", .verdict = "error"},
		{.from = "ee", .to = "hh", .verdict = "pass", .step = "[null,null]"},
	};
	struct fixture *f = *state;
	struct fg_chain_edges edges = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(runs); i++)
		save_reported(f, i + 1, &runs[i]);
	must(f, fg_store_chain(f->store, "tracker", "parse", "cpu_time", &edges, &f->err));
	assert_int_equal(edges.count, 4);
	for (size_t i = 0; i < edges.count; i++) {
		assert_string_equal(edges.items[i].from, runs[i].from);
		assert_string_equal(edges.items[i].to, runs[i].to);
		assert_string_equal(edges.items[i].run, sample_id(i + 1));
		assert_true(edges.items[i].series > 0);
		assert_int_equal(edges.items[i].is_known, i == 1);
	}
	assert_true(fabs(edges.items[0].change - 0.01) < 1e-12);
	assert_true(fabs(edges.items[0].error - 0.003) < 1e-12);
	assert_int_equal(edges.items[0].pairs, 27);
	assert_true(fabs(edges.items[3].change) + fabs(edges.items[3].error) <= 0);
	fg_chain_edges_release(&edges);
	must(f, fg_store_chain(f->store, "tracker", "parse", "no such", &edges, &f->err));
	assert_int_equal(edges.count, 1); /* the unaffected run, whose step is zero */
	fg_chain_edges_release(&edges);
	assert_int_equal(
		fg_store_chain(f->store, "tracker", "unknown", "cpu_time", &edges, &f->err),
		FG_ENOENT);
}
