// SPDX-License-Identifier: Apache-2.0
#include "store/serving/archives.h"
#include "store/serving/limits.h"
#include "tests/unit/store/fixture.h"

static const char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static bool put(struct fixture *f, const char *run, const char *object)
{
	char *texts[] = {fg_xstrdup(run), fg_xstrdup(digest), fg_xstrdup(object)};
	const struct fg_kept_archive archive = {.run = texts[0],
						.digest = texts[1],
						.object = texts[2],
						.bytes = 1000,
						.stored_ns = 5};
	bool is_put = false;

	must(f, fg_store_archive_put(f->store, &archive, &is_put, &f->err));
	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++)
		free(texts[i]);
	return is_put;
}

static void a_run_has_one_archive_which_counts(void **state)
{
	struct fixture *f = *state;
	struct fg_usage before = {0};
	struct fg_usage after = {0};
	struct fg_kept_archive there = {0};
	bool has = false;

	save_samples(f, 1, 2, &fg_sample_small);
	must(f, fg_store_usage(f->store, "tracker", &before, &f->err));
	assert_int_equal(fg_store_archive_of(f->store, sample_id(1), &there, &f->err), FG_ENOENT);
	assert_true(put(f, sample_id(1), "first"));
	assert_false(put(f, sample_id(1), "second"));
	assert_false(put(f, "0198f000-0000-7000-8000-00000000ffff", "third"));
	must(f, fg_store_archive_of(f->store, sample_id(1), &there, &f->err));
	assert_string_equal(there.object, "first");
	assert_string_equal(there.digest, digest);
	assert_int_equal(there.bytes, 1000);
	assert_null(there.author);
	fg_kept_archive_release(&there);
	must(f, fg_store_archive_has_object(f->store, "first", &has, &f->err));
	assert_true(has);
	must(f, fg_store_archive_has_object(f->store, "second", &has, &f->err));
	assert_false(has);
	must(f, fg_store_usage(f->store, "tracker", &after, &f->err));
	assert_int_equal(after.bytes, before.bytes + 1000);
	assert_int_equal(after.runs, before.runs);
	must(f, fg_store_archive_remove(f->store, sample_id(1), &f->err));
	assert_int_equal(fg_store_archive_remove(f->store, sample_id(1), &f->err), FG_ENOENT);
}

static void row_of_a_removed_run_stays_until_it_is_taken(void **state)
{
	struct fixture *f = *state;
	struct fg_kept_archive_list left = {0};
	bool taken = true;

	save_samples(f, 1, 2, &fg_sample_small);
	assert_true(put(f, sample_id(1), "first"));
	assert_true(put(f, sample_id(2), "second"));
	must(f, fg_store_archive_take_left(f->store, sample_id(2), &taken, &f->err));
	assert_false(taken); /* the run is there */
	must(f, fg_store_delete(f->store, sample_id(2), &f->err));
	must(f, fg_store_archives_left(f->store, &left, &f->err));
	assert_int_equal(left.count, 1);
	assert_string_equal(left.items[0].object, "second");
	fg_kept_archive_list_release(&left);
	must(f, fg_store_archive_take_left(f->store, sample_id(2), &taken, &f->err));
	assert_true(taken);
	must(f, fg_store_archives_left(f->store, &left, &f->err));
	assert_int_equal(left.count, 0);
	fg_kept_archive_list_release(&left);
}

static void owner_is_made_once(void **state)
{
	struct fixture *f = *state;
	char *owners[2] = {NULL, NULL};

	for (size_t i = 0; i < 2; i++)
		must(f, fg_store_archive_owner(f->store, &owners[i], &f->err));
	assert_int_equal(strlen(owners[0]), 16);
	assert_string_equal(owners[0], owners[1]);
	free(owners[0]);
	free(owners[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_has_one_archive_which_counts, setup,
						teardown),
		cmocka_unit_test_setup_teardown(row_of_a_removed_run_stays_until_it_is_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(owner_is_made_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
