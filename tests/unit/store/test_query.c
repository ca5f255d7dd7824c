// SPDX-License-Identifier: Apache-2.0
#include "store/db.h"
#include "store/serving/access.h"
#include "store/serving/history.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/store/samples.h"

static const struct fg_sample_shape tiny = {
	.functions = 6, .paths = 12, .pairs = 2, .samples = 400};

FG_TEST_IN(mistyped_benchmark_gets_the_nearest_name, setup, teardown)
{
	static const struct {
		const char *project;
		const char *typed;
		bool meant;
	} cases[] = {
		{"tracker", "prase", true},
		{NULL, "parsee", true},
		{"tracker", "render", false},
		{"other", "prase", false},
	};
	struct fixture *f = *state;

	save_samples(f, 1, 1, &fg_sample_small);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_history_query query = {.project = cases[i].project,
						       .benchmark = cases[i].typed,
						       .metric = "cpu_time"};
		struct fg_history history = {0};

		assert_int_equal(fg_store_history(f->store, &query, &history, &f->err), FG_ENOENT);
		if ((strstr(f->err.message, "; did you mean 'parse'?") != NULL) != cases[i].meant)
			fail_msg("%s", f->err.message);
	}
}

FG_TEST_IN(save_that_is_refused_spares_the_others_of_its_batch, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_run_list list = {0};
	struct fg_stored_run s = {0};

	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t seed = 1; seed <= 3; seed++) {
		fg_sample_run(&s, seed, &tiny);
		assert_int_equal(fg_store_save(f->store, &s.run, s.profiles, seed == 2 ? "{" : NULL,
					       &f->err),
				 seed == 2 ? FG_EPARSE : FG_OK);
		fg_stored_run_release(&s);
	}
	must(f, fg_store_batch_end(f->store, &f->err));
	must(f, fg_store_list(f->store, &(struct fg_run_filter){0}, &list, &f->err));
	assert_int_equal(list.count, 2);
	fg_run_list_release(&list);
}

static int save(struct fixture *f, uint64_t seed)
{
	struct fg_stored_run s = {0};
	int status = FG_OK;

	fg_sample_run(&s, seed, &tiny);
	status = fg_store_save(f->store, &s.run, s.profiles, NULL, &f->err);
	fg_stored_run_release(&s);
	return status;
}

static size_t run_count(struct fixture *f)
{
	struct fg_run_list list = {0};
	size_t count = 0;

	must(f, fg_store_list(f->store, &(struct fg_run_filter){0}, &list, &f->err));
	count = list.count;
	fg_run_list_release(&list);
	return count;
}

FG_TEST_IN(save_that_fails_half_way_spoils_its_batch, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run back = {0};
	struct fg_db *db = NULL;
	/* The second run fails at its values, after its name, its conditions and its functions. */
	char *trigger = fg_xasprintf(
		"CREATE TRIGGER refuse BEFORE INSERT ON chunk WHEN (SELECT r.uuid FROM series s "
		"JOIN run r ON r.id = s.run WHERE s.id = NEW.series) = '%s' "
		"BEGIN SELECT RAISE(ABORT, 'no'); END",
		sample_id(2));

	must(f, fg_db_open(fg_store_location(f->store), 0, &db, &f->err));
	must(f, fg_db_script(db, trigger, &f->err));
	fg_db_close(db);
	free(trigger);
	must(f, fg_store_batch_begin(f->store, &f->err));
	assert_int_equal(save(f, 1), FG_OK);
	assert_false(fg_store_batch_is_spoiled(f->store));
	assert_true(save(f, 2) < 0);
	assert_true(fg_store_batch_is_spoiled(f->store));
	assert_int_equal(save(f, 3), FG_EBUSY);
	fg_store_batch_undo(f->store);
	assert_int_equal(run_count(f), 0);
	/* Rows of runs that were rolled back do not count as stored. */
	must(f, fg_store_batch_begin(f->store, &f->err));
	assert_int_equal(save(f, 1), FG_OK);
	assert_int_equal(save(f, 3), FG_OK);
	must(f, fg_store_batch_end(f->store, &f->err));
	assert_int_equal(run_count(f), 2);
	must(f, fg_store_load(f->store, sample_id(3), &back, &f->err));
	assert_int_equal(back.profiles[0]->node_count, tiny.paths);
	fg_stored_run_release(&back);
}

FG_TEST_IN(tokens_work_until_they_expire_or_are_revoked, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_token made = {.project = (char[]){"tracker"},
				.scope = FG_SCOPE_UPLOAD,
				.expires_ns = 1000,
				.note = (char[]){"ci"}};
	struct fg_token token = {0};
	struct fg_token_list list = {0};
	char text[FG_TOKEN_TEXT_SIZE];
	size_t count = 0;
	char *file = NULL;
	size_t size = 0;

	must(f, fg_store_token_create(f->store, &made, text, &f->err));
	assert_int_equal(made.id, 1);
	assert_int_equal(strlen(text), FG_TOKEN_TEXT_SIZE - 1);
	must(f, fg_store_token_check(f->store, text, 999, &token, &f->err));
	assert_string_equal(token.project, "tracker");
	assert_int_equal(token.scope, FG_SCOPE_UPLOAD);
	assert_int_equal(fg_store_token_check(f->store, text, 1000, &token, &f->err), FG_ENOENT);
	assert_non_null(strstr(f->err.message, "expired"));
	text[10] = text[10] == 'a' ? 'b' : 'a';
	assert_int_equal(fg_store_token_check(f->store, text, 999, &token, &f->err), FG_ENOENT);
	assert_non_null(strstr(f->err.message, "unknown"));
	assert_int_equal(fg_store_token_check(f->store, "' OR 1=1 --", 999, &token, &f->err),
			 FG_ENOENT);
	text[10] = text[10] == 'a' ? 'b' : 'a';
	fg_token_release(&token);
	must(f, fg_store_token_list(f->store, &list, &f->err));
	assert_int_equal(list.count, 1);
	must(f, fg_store_token_revoke(f->store, list.items[0].id, &f->err));
	must(f, fg_store_token_count(f->store, &count, &f->err));
	assert_int_equal(count, 1); /* revoked, not deleted: the key stays protected */
	fg_token_list_release(&list);
	assert_int_equal(fg_store_token_revoke(f->store, 55, &f->err), FG_ENOENT);
	/* The secret itself is not in the file. */
	fg_store_close(f->store);
	f->store = NULL;
	file = fg_scratch_read(&f->scratch, "deep/er/store.db", &size);
	assert_null(memmem(file, size, text + 4, 20));
	free(file);
}

FG_TEST_IN(notes_and_decisions_are_kept, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_annotation note = {.benchmark = (char[]){"parse"},
				     .kind = (char[]){"note"},
				     .text = (char[]){"<script>alert(1)</script>"}};
	struct fg_annotation decision = {.benchmark = (char[]){"parse"},
					 .metric = (char[]){"cpu_time"},
					 .run = (char[]){"0198f000-0000-7000-8000-000000000001"},
					 .kind = (char[]){"accepted"},
					 .text = (char[]){""}};
	struct fg_annotation_list notes = {0};

	save_samples(f, 1, 1, &tiny);
	must(f, fg_store_annotate(f->store, "tracker", &note, &f->err));
	assert_int_equal(fg_store_annotate(f->store, "nobody", &note, &f->err), FG_ENOENT);
	must(f, fg_store_annotations(f->store, "tracker", "parse", NULL, &notes, &f->err));
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.items[0].text, note.text);
	fg_annotation_list_release(&notes);
	must(f, fg_store_annotation_delete(f->store, "tracker", note.id, &f->err));
	assert_int_equal(fg_store_annotation_delete(f->store, "tracker", note.id, &f->err),
			 FG_ENOENT);
	must(f, fg_store_annotate(f->store, "tracker", &decision, &f->err));
	decision.kind = (char[]){"fixed"};
	must(f, fg_store_annotate(f->store, "tracker", &decision, &f->err));
	must(f, fg_store_annotations(f->store, "tracker", "parse", decision.run, &notes, &f->err));
	assert_int_equal(notes.count, 2);
	assert_string_equal(notes.items[0].kind, "fixed");
	fg_annotation_list_release(&notes);
	decision.kind = (char[]){"whatever"};
	assert_int_equal(fg_store_annotate(f->store, "tracker", &decision, &f->err), FG_EINVAL);
	note.text = (char[]){""};
	assert_int_equal(fg_store_annotate(f->store, "tracker", &note, &f->err), FG_EINVAL);
}
