// SPDX-License-Identifier: Apache-2.0
#include "reporters/reporter.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/scratch.h"

static const struct fg_report_options plain;

struct kept {
	struct fg_stored_run stored;
	struct fg_verdict verdict;
	struct fg_report report;
};

/* Saves run, profiles and verdict (as report.json) in the store, and loads them again. */
static void keep(const struct fg_fixture *fixture, const char *path, struct kept *kept)
{
	struct fg_profile_set *profiles[FG_FIXTURE_MAX_BENCHMARKS] = {0};
	struct fg_store *store = NULL;
	struct fg_strbuf json = {0};
	struct fg_error err = {0};

	/* The store only reads the profiles. */
	memcpy((void *)profiles, (const void *)fixture->profiles, sizeof(profiles));
	fg_reporter_find("json", NULL)->write(&fixture->report, &plain, &json);
	if (fg_store_open(path, 0, &store, &err) != FG_OK ||
	    fg_store_save(store, &fixture->run, profiles, fg_strbuf_text(&json), &err) != FG_OK ||
	    fg_store_load(store, fixture->run.id, &kept->stored, &err) != FG_OK ||
	    fg_report_read(kept->stored.report, strlen(kept->stored.report), &kept->verdict,
			   &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_store_close(store);
	fg_strbuf_release(&json);
	kept->report = (struct fg_report){
		.run = &kept->stored.run,
		.verdict = &kept->verdict,
		.profiles = (const struct fg_profile_set *const *)kept->stored.profiles,
	};
}

static void let_go(struct kept *kept)
{
	fg_verdict_release(&kept->verdict);
	fg_stored_run_release(&kept->stored);
	*kept = (struct kept){0};
}

static void check_format(const struct fg_reporter *reporter, const struct fg_report *fresh,
			 const struct fg_report *stored, const char *fixture)
{
	struct fg_strbuf before = {0};
	struct fg_strbuf after = {0};
	size_t at = 0;

	reporter->write(fresh, &plain, &before);
	reporter->write(stored, &plain, &after);
	while (at < before.length && at < after.length && before.data[at] == after.data[at])
		at++;
	if (at < before.length || at < after.length)
		fail_msg("%s as %s differs at byte %zu: '%.80s' became '%.80s'", fixture,
			 reporter->name, at, fg_strbuf_text(&before) + (at > 20 ? at - 20 : 0),
			 fg_strbuf_text(&after) + (at > 20 ? at - 20 : 0));
	fg_strbuf_release(&before);
	fg_strbuf_release(&after);
}

/*
 * The store rounds the weights of a profile, to within 1/64 of a sample's mean weight, so the page
 * of a run that was never stored may differ in the last digit. Everything written from the store is
 * the same.
 */
static bool draws_profiles(const struct fg_reporter *reporter)
{
	return strcmp(reporter->name, "html") == 0;
}

FG_TEST(every_format_is_the_same_from_the_store)
{
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	for (size_t f = 0; fg_fixture_names[f]; f++) {
		struct fg_scratch scratch;
		struct fg_fixture fixture;
		struct kept first = {0};
		struct kept second = {0};

		if (strcmp(fg_fixture_names[f], "hostile") == 0)
			/* the store cleans invalid UTF-8; the next test checks that */
			continue;
		fg_scratch_init(&scratch);
		fg_fixture_init(&fixture, fg_fixture_names[f]);
		keep(&fixture, fg_scratch_path(&scratch, "store.db"), &first);
		keep(&fixture, fg_scratch_path(&scratch, "other.db"), &second);
		for (size_t i = 0; i < count; i++) {
			check_format(&table[i], &first.report, &second.report, fg_fixture_names[f]);
			if (!draws_profiles(&table[i]))
				check_format(&table[i], &fixture.report, &first.report,
					     fg_fixture_names[f]);
		}
		let_go(&first);
		let_go(&second);
		fg_fixture_release(&fixture);
		fg_scratch_release(&scratch);
	}
}

/* Once cleaned, hostile names survive another round unchanged. */
FG_TEST(hostile_names_are_stable_from_the_store_on)
{
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);
	struct fg_scratch scratch;
	struct fg_fixture fixture;
	struct kept first = {0};
	struct kept second = {0};

	fg_scratch_init(&scratch);
	fg_fixture_init(&fixture, "hostile");
	keep(&fixture, fg_scratch_path(&scratch, "store.db"), &first);
	keep(&fixture, fg_scratch_path(&scratch, "other.db"), &second);
	for (size_t i = 0; i < count; i++)
		check_format(&table[i], &first.report, &second.report, "hostile");
	let_go(&first);
	let_go(&second);
	fg_fixture_release(&fixture);
	fg_scratch_release(&scratch);
}
