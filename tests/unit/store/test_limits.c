// SPDX-License-Identifier: Apache-2.0
/* Quotas and retention of a project: limits, usage and removal. */
#include "base/clock.h"
#include "store/db.h"
#include "store/serving/limits.h"
#include "tests/unit/store/fixture.h"

static const struct fg_sample_shape tiny = {
	.functions = 6, .paths = 12, .pairs = 2, .samples = 400};

/* All sample runs start before this time, a minute apart. */
#define NOW_NS (INT64_C(1790000000000000000) + 100 * FG_NS_PER_DAY)

static struct fg_usage usage_of(struct fixture *f, const char *project)
{
	struct fg_usage usage = {0};

	must(f, fg_store_usage(f->store, project, &usage, &f->err));
	return usage;
}

static void set(struct fixture *f, struct fg_limits limits)
{
	must(f, fg_store_limits_set(f->store, &limits, &f->err));
}

static int64_t bytes_of_blocks(struct fixture *f)
{
	struct fg_query q;
	int64_t bytes = 0;

	fg_query_begin(&q, f->store->db, FG_SQL_CHUNKS_ALL);
	while (fg_query_step(&q, &f->err) > 0) {
		size_t size = 0;

		(void)fg_column_bytes(&q, 2, &size);
		bytes += (int64_t)size;
	}
	fg_query_end(&q);
	return bytes;
}

FG_TEST_IN(a_projects_usage_is_the_size_of_its_runs, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_usage usage = usage_of(f, "tracker");

	assert_int_equal(usage.runs, 0);
	assert_int_equal(usage.bytes, 0);
	save_samples(f, 1, 4, &tiny);
	save_samples(f, 2, 2, &tiny); /* stored again */
	usage = usage_of(f, "tracker");
	assert_int_equal(usage.runs, 4);
	assert_true(usage.bytes > bytes_of_blocks(f)); /* rows and conditions also count */
	assert_int_equal(usage_of(f, "other").runs, 0);
}

/* The names in a run may be larger than its samples. */
FG_TEST_IN(names_count_by_their_bytes, setup, teardown)
{
	static const char note[] = "\xf0\x9d\x84\x9e"; /* one character */
	enum {
		CHARACTERS = 10000
	};
	struct fixture *f = *state;
	struct fg_stored_run s = {0};
	struct fg_strbuf name = {0};
	int64_t before = 0;

	for (int i = 0; i < CHARACTERS; i++)
		fg_strbuf_add_text(&name, note);
	save_samples(f, 1, 1, &tiny);
	before = usage_of(f, "tracker").bytes;
	fg_sample_run(&s, 2, &tiny);
	s.profiles[0]->functions[1].name = fg_strbuf_text(&name);
	fg_environment_set(&s.run.host, "user.note", fg_strbuf_text(&name), true);
	must(f, save_plain(f->store, &s, &f->err));
	assert_true(usage_of(f, "tracker").bytes - before > 2 * (int64_t)name.length);
	fg_stored_run_release(&s);
	fg_strbuf_release(&name);
}

FG_TEST_IN(own_limits_precede_the_common_ones, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_limits limits = {0};
	struct fg_limits_list list = {0};

	must(f, fg_store_limits_of(f->store, "tracker", &limits, &f->err));
	assert_null(limits.project);
	set(f, (struct fg_limits){.project = "", .most_runs = 10});
	set(f, (struct fg_limits){.project = "tracker", .most_bytes = 5000});
	must(f, fg_store_limits_of(f->store, "tracker", &limits, &f->err));
	assert_string_equal(limits.project, "tracker");
	assert_int_equal(limits.most_runs, 0);
	assert_int_equal(limits.most_bytes, 5000);
	must(f, fg_store_limits_of(f->store, "other", &limits, &f->err));
	assert_int_equal(limits.most_runs, 10);
	set(f, (struct fg_limits){.project = "tracker"}); /* removes its own limits */
	must(f, fg_store_limits_list(f->store, &list, &f->err));
	assert_int_equal(list.count, 1);
	assert_string_equal(list.items[0].project, "");
	fg_limits_list_release(&list);
}

FG_TEST_IN(limits_that_make_no_sense_are_refused, setup, teardown)
{
	static const struct fg_limits wrong[] = {
		{.project = "p", .most_runs = -1},
		{.project = "p", .most_bytes = -1},
		{.project = "p", .keep_days = -1},
		{.project = "p", .keep_days = FG_KEEP_DAYS_MAX + 1},
		{.project = "p", .keep_newest = 5},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		struct fg_limits limits = wrong[i];

		assert_int_equal(fg_store_limits_set(f->store, &limits, &f->err), FG_EINVAL);
		assert_true(strlen(f->err.message) > 0);
	}
}

static size_t removed_by(struct fixture *f, const struct fg_gc_policy *policy)
{
	struct fg_gc_result result = {0};

	must(f, fg_store_gc(f->store, policy, &result, &f->err));
	return result.runs;
}

FG_TEST_IN(retention_of_a_project_precedes_that_of_the_command, setup, teardown)
{
	struct fixture *f = *state;
	const struct fg_gc_policy nothing = {.keep = 1000, .now_ns = NOW_NS, .dry_run = true};
	const struct fg_gc_policy everything = {
		.older_than_ns = INT64_MAX, .now_ns = NOW_NS, .dry_run = true};

	save_samples(f, 1, 6, &tiny);
	assert_int_equal(removed_by(f, &nothing), 0);
	assert_int_equal(removed_by(f, &everything), 6);
	set(f, (struct fg_limits){.project = "tracker", .keep_days = 101});
	assert_int_equal(removed_by(f, &everything), 0);
	set(f, (struct fg_limits){.project = "tracker", .keep_days = 99});
	assert_int_equal(removed_by(f, &nothing), 6);
	set(f, (struct fg_limits){.project = "tracker", .keep_days = 99, .keep_newest = 4});
	assert_int_equal(removed_by(f, &nothing), 2);
	set(f, (struct fg_limits){.project = "tracker"});
	set(f, (struct fg_limits){.project = "", .keep_days = 99, .keep_newest = 5});
	assert_int_equal(removed_by(f, &nothing), 1);
	/* For a project that only has its own quota, the command's retention applies. */
	set(f, (struct fg_limits){.project = "tracker", .most_runs = 7});
	assert_int_equal(removed_by(f, &nothing), 0);
}
