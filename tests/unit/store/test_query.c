// SPDX-License-Identifier: Apache-2.0
#include "store/access.h"
#include "store/query.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/store/samples.h"

#include <math.h>

static const struct fg_sample_shape tiny = {
	.functions = 6, .paths = 12, .pairs = 2, .samples = 400};

static const char *id_of(uint64_t seed)
{
	static char ring[4][37];
	static unsigned next;
	char *text = ring[next++ % 4];

	(void)snprintf(text, sizeof(ring[0]), "0198f000-0000-7000-8000-%012llx",
		       (unsigned long long)seed);
	return text;
}

static void fill(struct fixture *f, uint64_t first, uint64_t last,
		 const struct fg_sample_shape *shape)
{
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t seed = first; seed <= last; seed++) {
		struct fg_stored_run s = {0};

		fg_sample_run(&s, seed, shape);
		must(f, fg_store_save(f->store, &s.run, s.profiles, NULL, &f->err));
		fg_stored_run_release(&s);
	}
	must(f, fg_store_batch_end(f->store, &f->err));
}

/* The same sums, the slow way. */
static double self_of(struct fixture *f, const char *run, const char *name, uint8_t arm)
{
	struct fg_stored_run s = {0};
	double sum = 0;
	unsigned rows = 0;

	must(f, fg_store_load(f->store, run, &s, &f->err));
	for (size_t r = 0; r < s.profiles[0]->row_count; r++) {
		const struct fg_profile_row *row = &s.profiles[0]->rows[r];

		rows += row->arm == arm;
		for (uint32_t i = 0; i < row->count && row->arm == arm; i++) {
			const struct fg_profile_node *node = &s.profiles[0]->nodes[row->nodes[i]];

			if (strcmp(s.profiles[0]->functions[node->function].name, name) == 0)
				sum += row->self_ns[i];
		}
	}
	fg_stored_run_release(&s);
	return sum / rows;
}

static void functions_of_two_runs_are_compared(void **state)
{
	struct fixture *f = *state;
	struct fg_run_side sides[2] = {
		{id_of(1), FG_ARM_CANDIDATE},
                {id_of(2), FG_ARM_CANDIDATE}
        };
	struct fg_function_deltas deltas = {0};

	fill(f, 1, 2, &fg_sample_small);
	must(f, fg_store_compare_functions(f->store, sides, "parse", 10, &deltas, &f->err));
	assert_int_equal(deltas.count, 10);
	assert_true(deltas.total > 20);
	assert_int_equal(deltas.repetitions[0], 6);
	for (size_t i = 0; i < deltas.count; i++) {
		const struct fg_function_delta *d = &deltas.items[i];

		assert_true(fabs(d->self_ns[0] - self_of(f, id_of(1), d->name, FG_ARM_CANDIDATE)) <
			    1e5);
		assert_true(fabs(d->self_ns[1] - self_of(f, id_of(2), d->name, FG_ARM_CANDIDATE)) <
			    1e5);
		assert_true(d->inclusive_ns[0] >= d->self_ns[0] - 1);
		assert_true(d->sampling_error_ns > 0);
		assert_int_equal(strlen(d->id), 32);
		if (i > 0)
			assert_true(fabs(d->self_ns[1] - d->self_ns[0]) <=
				    fabs(d[-1].self_ns[1] - d[-1].self_ns[0]) + 1);
	}
	fg_function_deltas_release(&deltas);
	sides[1].run = id_of(77);
	assert_int_equal(fg_store_compare_functions(f->store, sides, "parse", 10, &deltas, &f->err),
			 FG_ENOENT);
}

static void paths_of_two_arms_add_up(void **state)
{
	struct fixture *f = *state;
	const struct fg_run_side sides[2] = {
		{id_of(1), FG_ARM_BASELINE },
                {id_of(1), FG_ARM_CANDIDATE}
        };
	struct fg_path_tree tree = {0};

	fill(f, 1, 1, &fg_sample_small);
	must(f, fg_store_paths(f->store, sides, "parse", &tree, &f->err));
	assert_string_equal(tree.set.functions[0].name, "reco");
	for (int side = 0; side < 2; side++) {
		double sum = 0;

		for (size_t n = 0; n < tree.set.node_count; n++)
			sum += tree.self_ns[side][n];
		assert_true(fabs(sum - tree.inclusive_ns[side][0]) < 1);
		assert_true(fabs(sum - 166e6) < 1e6); /* 2000 samples, 6 pairs, 2 arms, 1 ms each */
	}
	fg_path_tree_release(&tree);
}

static void trend_is_the_same_before_and_after_sealing(void **state)
{
	struct fixture *f = *state;
	const struct fg_run_side sides[2] = {
		{id_of(1), FG_ARM_BASELINE },
                {id_of(1), FG_ARM_CANDIDATE}
        };
	struct fg_function_deltas deltas = {0};
	struct fg_function_trend before = {0};
	struct fg_function_trend after = {0};
	size_t sealed = 0;

	fill(f, 1, 300, &tiny);
	must(f, fg_store_compare_functions(f->store, sides, "parse", 1, &deltas, &f->err));
	must(f, fg_store_function_trend(f->store, "tracker", "parse", NULL, deltas.items[0].id,
					&before, &f->err));
	assert_int_equal(before.count, 300);
	assert_int_equal(before.from_tiles, 0);
	must(f, fg_store_seal(f->store, &sealed, &f->err));
	assert_true(sealed > 0);
	must(f, fg_store_delete(f->store, id_of(17), &f->err));
	must(f, fg_store_function_trend(f->store, "tracker", "parse", NULL, deltas.items[0].id,
					&after, &f->err));
	assert_int_equal(after.from_tiles, 256);
	assert_int_equal(after.count, 299);
	for (size_t i = 0; i < after.count; i++) {
		const struct fg_trend_point *x = &before.points[i < 16 ? i : i + 1];

		assert_string_equal(x->run, after.points[i].run);
		assert_true(fabs(x->self_ns - after.points[i].self_ns) <= 100);
		assert_true(fabs(x->inclusive_ns - after.points[i].inclusive_ns) <= 100);
	}
	must(f, fg_store_seal(f->store, &sealed, &f->err));
	assert_int_equal(sealed, 0);
	fg_function_trend_release(&before);
	fg_function_trend_release(&after);
	fg_function_deltas_release(&deltas);
	assert_int_equal(
		fg_store_function_trend(f->store, "tracker", "parse", NULL, "zz", &after, &f->err),
		FG_EINVAL);
	assert_int_equal(fg_store_function_trend(f->store, "tracker", "parse", NULL,
						 "00000000000000000000000000000000", &after,
						 &f->err),
			 FG_ENOENT);
}

/* A server keeps the totals of functions, other stores compute them: the answers are the same. */
static void kept_totals_and_computed_ones_are_the_same(void **state)
{
	struct fixture *f = *state;
	const struct fg_run_side sides[2] = {
		{id_of(1), FG_ARM_BASELINE },
                {id_of(2), FG_ARM_CANDIDATE}
        };
	struct fg_function_deltas computed = {0};
	struct fg_function_deltas kept = {0};
	struct fg_function_trend trends[2] = {{0}};

	fill(f, 1, 3, &fg_sample_small);
	must(f, fg_store_compare_functions(f->store, sides, "parse", 100, &computed, &f->err));
	must(f, fg_store_function_trend(f->store, "tracker", "parse", NULL, computed.items[0].id,
					&trends[0], &f->err));
	fg_store_close(f->store);
	f->store = NULL;
	must(f, fg_store_open(fg_scratch_path(&f->scratch, "server.db"), FG_STORE_DURABLE,
			      &f->store, &f->err));
	fill(f, 1, 3, &fg_sample_small);
	must(f, fg_store_compare_functions(f->store, sides, "parse", 100, &kept, &f->err));
	must(f, fg_store_function_trend(f->store, "tracker", "parse", NULL, computed.items[0].id,
					&trends[1], &f->err));
	assert_int_equal(computed.count, kept.count);
	assert_true(kept.count > 10);
	for (size_t i = 0; i < kept.count; i++) {
		assert_string_equal(computed.items[i].id, kept.items[i].id);
		assert_true(fabs(computed.items[i].inclusive_ns[1] -
				 kept.items[i].inclusive_ns[1]) < 1);
		assert_true(fabs(computed.items[i].self_ns[0] - kept.items[i].self_ns[0]) < 1);
		assert_true(fabs(computed.items[i].sampling_error_ns -
				 kept.items[i].sampling_error_ns) < 1);
	}
	assert_int_equal(trends[0].count, 3);
	assert_int_equal(trends[1].count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(trends[0].points[i].inclusive_ns -
				 trends[1].points[i].inclusive_ns) < 1);
	fg_function_trend_release(&trends[0]);
	fg_function_trend_release(&trends[1]);
	fg_function_deltas_release(&computed);
	fg_function_deltas_release(&kept);
}

static void failed_save_in_a_batch_spares_the_others(void **state)
{
	struct fixture *f = *state;
	struct fg_run_list list = {0};
	struct fg_stored_run s = {0};

	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t seed = 1; seed <= 3; seed++) {
		fg_sample_run(&s, seed, &tiny);
		/* Broken only when half of it is written. */
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

static void tokens_work_until_they_expire_or_are_revoked(void **state)
{
	struct fixture *f = *state;
	struct fg_token token = {0};
	struct fg_token_list list = {0};
	char text[FG_TOKEN_TEXT_SIZE];
	size_t count = 0;
	char *file = NULL;
	size_t size = 0;

	must(f, fg_store_token_create(f->store, "tracker", FG_SCOPE_UPLOAD, 1000, "ci", text,
				      &f->err));
	assert_int_equal(strlen(text), FG_TOKEN_TEXT_SIZE - 1);
	must(f, fg_store_token_check(f->store, text, 999, &token, &f->err));
	assert_string_equal(token.project, "tracker");
	assert_int_equal(token.scope, FG_SCOPE_UPLOAD);
	assert_int_equal(fg_store_token_check(f->store, text, 1000, &token, &f->err), FG_ENOENT);
	assert_non_null(strstr(f->err.message, "expired"));
	text[10] = text[10] == 'a' ? 'b' : 'a';
	assert_int_equal(fg_store_token_check(f->store, text, 999, &token, &f->err), FG_ENOENT);
	assert_non_null(strstr(f->err.message, "not known"));
	assert_int_equal(fg_store_token_check(f->store, "' OR 1=1 --", 999, &token, &f->err),
			 FG_ENOENT);
	text[10] = text[10] == 'a' ? 'b' : 'a';
	fg_token_release(&token);
	must(f, fg_store_token_list(f->store, &list, &f->err));
	assert_int_equal(list.count, 1);
	must(f, fg_store_token_revoke(f->store, list.items[0].id, &f->err));
	must(f, fg_store_token_count(f->store, &count, &f->err));
	assert_int_equal(count, 1); /* taken back, not unmade: what it guarded stays guarded */
	fg_token_list_release(&list);
	assert_int_equal(fg_store_token_revoke(f->store, 55, &f->err), FG_ENOENT);
	/* The secret itself is nowhere in the file. */
	fg_store_close(f->store);
	f->store = NULL;
	file = fg_scratch_read(&f->scratch, "deep/er/store.db", &size);
	assert_null(memmem(file, size, text + 4, 20));
	free(file);
}

static void notes_and_decisions_are_kept(void **state)
{
	struct fixture *f = *state;
	struct fg_annotation note = {.benchmark = (char[]){"parse"},
				     .kind = (char[]){"known-noise"},
				     .text = (char[]){"<script>alert(1)</script>"}};
	struct fg_triage triage = {.benchmark = (char[]){"parse"},
				   .metric = (char[]){"cpu_time"},
				   .run = (char[]){"0198f000-0000-7000-8000-000000000001"},
				   .state = (char[]){"accepted"}};
	struct fg_annotation_list notes = {0};
	struct fg_triage_list decisions = {0};

	fill(f, 1, 1, &tiny);
	must(f, fg_store_annotate(f->store, "tracker", &note, &f->err));
	assert_int_equal(fg_store_annotate(f->store, "nobody", &note, &f->err), FG_ENOENT);
	must(f, fg_store_annotations(f->store, "tracker", "parse", NULL, &notes, &f->err));
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.items[0].text, note.text);
	fg_annotation_list_release(&notes);
	must(f, fg_store_annotation_delete(f->store, "tracker", note.id, &f->err));
	assert_int_equal(fg_store_annotation_delete(f->store, "tracker", note.id, &f->err),
			 FG_ENOENT);
	must(f, fg_store_triage_set(f->store, "tracker", &triage, &f->err));
	triage.state = (char[]){"fixed"};
	must(f, fg_store_triage_set(f->store, "tracker", &triage, &f->err));
	must(f, fg_store_triage_list(f->store, "tracker", NULL, &decisions, &f->err));
	assert_int_equal(decisions.count, 1);
	assert_string_equal(decisions.items[0].state, "fixed");
	fg_triage_list_release(&decisions);
	triage.state = (char[]){"whatever"};
	assert_int_equal(fg_store_triage_set(f->store, "tracker", &triage, &f->err), FG_EINVAL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(functions_of_two_runs_are_compared),
		CASE(paths_of_two_arms_add_up),
		CASE(trend_is_the_same_before_and_after_sealing),
		CASE(failed_save_in_a_batch_spares_the_others),
		CASE(tokens_work_until_they_expire_or_are_revoked),
		CASE(notes_and_decisions_are_kept),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
