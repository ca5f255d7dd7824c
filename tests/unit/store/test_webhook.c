// SPDX-License-Identifier: Apache-2.0
/* A project's webhook and its calls: exactly one per run, and one caller at a time. */
#include "base/clock.h"
#include "store/serving/webhook.h"
#include "tests/unit/store/fixture.h"

enum {
	MOST = 1000
};

static const int64_t hour_ns = 3600 * FG_NS_PER_S;

static void set(struct fixture *f, const char *project)
{
	must(f,
	     fg_store_webhook_set(f->store, project, "https://hooks.example.org/x", "{}", &f->err));
}

static void add(struct fixture *f, const char *project, const char *run)
{
	must(f, fg_store_webhook_call(f->store, project, run, &f->err));
}

static struct fg_webhook get(struct fixture *f, struct fg_arena *arena, const char *project)
{
	struct fg_webhook hook = {0};

	must(f, fg_store_webhook_get(f->store, project, arena, &hook, &f->err));
	return hook;
}

static int claim(struct fixture *f, struct fg_arena *arena, int64_t retry_ns,
		 struct fg_webhook_call *call)
{
	return fg_store_webhook_claim(f->store, retry_ns, arena, call, &f->err);
}

FG_TEST_IN(only_a_project_with_a_webhook_has_calls, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_arena arena = {0};

	set(f, "tracker");
	add(f, "tracker", sample_id(1));
	add(f, "other", sample_id(2));
	assert_int_equal(get(f, &arena, "tracker").waiting, 1);
	assert_null(get(f, &arena, "other").url);
	must(f, fg_store_webhook_set(f->store, "tracker", NULL, NULL, &f->err));
	set(f, "tracker");
	assert_int_equal(get(f, &arena, "tracker").waiting, 0);
	fg_arena_release(&arena);
}

FG_TEST_IN(calls_that_wait_are_bounded, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_arena arena = {0};

	set(f, "tracker");
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t i = 0; i < MOST + 2; i++)
		add(f, "tracker", sample_id(i));
	must(f, fg_store_batch_end(f->store, &f->err));
	assert_int_equal(get(f, &arena, "tracker").waiting, MOST);
	fg_arena_release(&arena);
}

FG_TEST_IN(a_rolled_back_run_leaves_no_call, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_arena arena = {0};

	set(f, "tracker");
	must(f, fg_store_batch_begin(f->store, &f->err));
	add(f, "tracker", sample_id(1));
	fg_store_batch_undo(f->store);
	assert_int_equal(get(f, &arena, "tracker").waiting, 0);
	fg_arena_release(&arena);
}

FG_TEST_IN(claimed_call_is_nobody_elses_until_its_next_attempt, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_arena arena = {0};
	struct fg_webhook_call call = {0};

	set(f, "tracker");
	add(f, "tracker", sample_id(1));
	must(f, claim(f, &arena, 0, &call));
	assert_string_equal(call.run, sample_id(1));
	assert_int_equal(call.attempts, 1);
	must(f, claim(f, &arena, hour_ns, &call));
	assert_int_equal(call.attempts, 2);
	assert_int_equal(claim(f, &arena, hour_ns, &call), FG_ENOENT);
	must(f, fg_store_webhook_settle(f->store, &call, true, NULL, &f->err));
	assert_int_equal(get(f, &arena, "tracker").waiting, 0);
	fg_arena_release(&arena);
}

FG_TEST_IN(other_calls_of_the_project_wait_with_one_that_failed, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_arena arena = {0};
	struct fg_webhook_call call = {0};

	set(f, "tracker");
	set(f, "other");
	add(f, "tracker", sample_id(1));
	add(f, "tracker", sample_id(2));
	must(f, claim(f, &arena, hour_ns, &call));
	must(f, fg_store_webhook_settle(f->store, &call, false, "no answer", &f->err));
	assert_string_equal(get(f, &arena, "tracker").problem, "no answer");
	assert_int_equal(get(f, &arena, "tracker").waiting, 2);
	add(f, "other", sample_id(3));
	must(f, claim(f, &arena, hour_ns, &call));
	assert_string_equal(call.project, "other");
	assert_int_equal(claim(f, &arena, hour_ns, &call), FG_ENOENT);
	fg_arena_release(&arena);
}
