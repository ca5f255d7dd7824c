// SPDX-License-Identifier: Apache-2.0
/* Every surface gives the same answer: the finding, its cause, its commit, and the next step. */
#include "base/json.h"
#include "base/text.h"
#include "reporters/card.h"
#include "reporters/figures.h"
#include "reporters/verdict_queries.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

#include <ctype.h>

FG_TEST(unchanged_code_is_not_counted_among_the_causes)
{
	static const struct {
		enum fg_standing second;
		const char *end;
	} rows[] = {{FG_STANDING_SAME_CODE, "fit.cpp:88 (+9.7 ms)"},
		    {FG_STANDING_GUILTY, "fit.cpp:88 (+9.7 ms) and 1 more function"}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_fixture fixture;
		struct fg_strbuf text = {0};
		struct fg_blame *blame = NULL;
		struct fg_node_verdict both[2];

		fg_fixture_init(&fixture, "regression");
		blame = &fixture.verdict.benchmarks[0].time;
		both[0] = both[1] = blame->functions[0];
		both[1].standing = rows[i].second;
		blame->functions = both;
		blame->function_count = 2;
		fg_card_add_run_sentence(&text, &fixture.verdict, NULL);
		assert_true(fg_text_ends_with(fg_strbuf_text(&text), rows[i].end));
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

FG_TEST(further_benchmarks_of_the_outcome_are_counted)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "regression");
	fg_fixture_repeat(&fixture, 3);
	fg_card_add_run_sentence(&text, &fixture.verdict, NULL);
	assert_non_null(strstr(fg_strbuf_text(&text), "(+9.7 ms); 2 more benchmarks regressed"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

FG_TEST(a_sure_improvement_leads_before_benchmarks_that_are_open)
{
	struct fg_metric_verdict metrics[] = {
		{.name = "cpu_time",
		 .label = "cpu time",
		 .unit = "ns",
		 .gated = true,
		 .decided = true,
		 .outcome = FG_OUTCOME_INCONCLUSIVE,
		 .ratio = 1.4,
		 .low = 0.1,
		 .high = 432.39},
		{.name = "cpu_time",
		 .label = "cpu time",
		 .unit = "ns",
		 .gated = true,
		 .decided = true,
		 .outcome = FG_OUTCOME_IMPROVEMENT,
		 .ratio = 0.43,
		 .low = 0.41,
		 .high = 0.45},
	};
	struct fg_benchmark_verdict benchmarks[] = {
		{.name = "noisy",
		 .outcome = FG_OUTCOME_INCONCLUSIVE,
		 .metrics = &metrics[0],
		 .metric_count = 1},
		{.name = "parse",
		 .outcome = FG_OUTCOME_IMPROVEMENT,
		 .metrics = &metrics[1],
		 .metric_count = 1},
	};
	struct fg_verdict verdict = {
		.outcome = FG_OUTCOME_INCONCLUSIVE, .benchmarks = benchmarks, .benchmark_count = 2};
	struct fg_strbuf text = {0};

	fg_card_add_run_sentence(&text, &verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text), "parse is 57.0 % faster; 1 inconclusive");
	fg_strbuf_clear(&text);
	verdict.exit_code = FG_EXIT_INCONCLUSIVE;
	fg_card_add_run_sentence(&text, &verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text),
			    "noisy is inconclusive: cpu time +40.0 % [−90.0, ×432]");
	fg_strbuf_release(&text);
}

FG_TEST(a_change_that_could_have_been_seen_has_no_exponent)
{
	static const struct {
		double change;
		const char *text;
	} cases[] = {{.change = 0.023, .text = "2.3 %"},
		     {.change = 1.1, .text = "110.0 %"},
		     {.change = 430, .text = "×431"}};
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_metric_verdict metric = {.smallest_detectable = cases[i].change};

		fg_strbuf_clear(&text);
		assert_true(fg_report_add_detectable(&text, &metric));
		assert_non_null(strstr(fg_strbuf_text(&text), cases[i].text));
	}
	fg_strbuf_release(&text);
}

FG_TEST(names_of_strangers_stay_in_one_clean_line)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "hostile");
	for (size_t i = 0; i < fixture.verdict.benchmark_count; i++) {
		fg_strbuf_clear(&text);
		fg_card_add_sentence(&text, &fixture.verdict.benchmarks[i], NULL);
		assert_true(text.length < 1000);
		for (const char *at = fg_strbuf_text(&text); *at; at++)
			assert_false((unsigned char)*at < ' ');
	}
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

/* ---- the card and its surfaces ---- */

static struct fg_arena arena;

static const char *step(const struct fg_card *card, const char *what)
{
	for (size_t i = 0; i < card->next_count; i++) {
		if (strcmp(card->next[i].what, what) == 0)
			return card->next[i].text;
	}
	return NULL;
}

/* A regression of a clean commit whose author, subject and pull request are known. */
static void init_known(struct fg_fixture *fixture)
{
	struct fg_environment *build = &fixture->run.sides[FG_ARM_CANDIDATE].build;

	fg_fixture_init(fixture, "regression");
	fixture->run.sides[FG_ARM_CANDIDATE].dirty = false;
	fg_environment_set(build, "git.subject", "reject \033[31mbad strings", false);
	fg_environment_set(build, "git.author", "A. Author", false);
	fg_environment_set(build, "git.pull_request", "#41", false);
	fg_environment_set(build, "git.commits", "12", false);
	fg_environment_set(build, "link.run", "https://perf.example/?view=run&run={run}", false);
	fg_environment_set(build, "link.commit", "https://git.example/commit/{commit}", false);
}

FG_TEST(a_regression_has_its_change_and_all_steps)
{
	struct fg_fixture fixture;
	struct fg_card card;

	init_known(&fixture);
	fg_card_make(&fixture.report, NULL, &arena, &card);
	assert_int_equal(card.next_count, FG_CARD_STEPS - 1);
	assert_non_null(strstr(card.change, "bad strings\" (#41) by A. Author"));
	assert_null(strchr(card.change, '\033'));
	assert_string_equal(
		step(&card, "see"),
		"https://perf.example/?view=run&run=01990e2b-7c40-7abc-8def-0123456789ab");
	assert_string_equal(step(&card, "explain"), "fastgate explain 01990e2b-7c40");
	assert_string_equal(step(&card, "again"),
			    "fastgate run reconstruct --against 1a2b3c4d5e6f");
	assert_string_equal(step(&card, "which"),
			    "fastgate bisect 1a2b3c4d5e6f 9f8e7d6c5b4a --bench reconstruct");
	assert_string_equal(step(&card, "accept"), "Fastgate-Accept: reconstruct cpu_time REASON");
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

FG_TEST(uncounted_regression_says_how_to_count)
{
	struct fg_fixture fixture;
	struct fg_card card;

	init_known(&fixture);
	fixture.verdict.benchmarks[0].time.functions[0].mechanism = NULL;
	fg_card_make(&fixture.report, NULL, &arena, &card);
	assert_null(card.why);
	assert_string_equal(step(&card, "count"),
			    "fastgate run reconstruct --against 1a2b3c4d5e6f --exact");
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

FG_TEST(facts_that_are_unknown_are_left_out)
{
	struct fg_fixture fixture;
	struct fg_card card;

	fg_fixture_init(&fixture, "regression");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(fixture.run.sides[arm].commit);
		fixture.run.sides[arm].commit = NULL;
	}
	fg_card_make(&fixture.report, NULL, &arena, &card);
	assert_null(card.change);
	assert_int_equal(card.next_count, 0);
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

FG_TEST(a_pass_needs_nothing)
{
	struct fg_fixture fixture;
	struct fg_card card;

	fg_fixture_init(&fixture, "pass");
	fg_card_make(&fixture.report, NULL, &arena, &card);
	assert_int_equal(card.next_count, 0);
	assert_null(card.culprit);
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

/* The text that a reader sees: without tags, references, escapes, colours or line breaks. */
static void make_plain(const char *from, struct fg_strbuf *plain)
{
	static const struct {
		const char *mark;
		const char *sign;
	} marks[] = {{"%25", "%"},   {"%0A", " "},  {"%3A", ":"},  {"%2C", ","},
		     {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}};

	while (*from) {
		char *end = NULL;
		size_t i = 0;

		while (i < FG_ARRAY_SIZE(marks) &&
		       strncmp(from, marks[i].mark, strlen(marks[i].mark)) != 0)
			i++;
		if (i < FG_ARRAY_SIZE(marks)) {
			fg_strbuf_add_text(plain, marks[i].sign);
			from += strlen(marks[i].mark);
		} else if (from[0] == '&' && from[1] == '#') {
			fg_strbuf_add_char(plain, (char)strtol(from + 2, &end, 10));
			from = end + 1;
		} else if (strncmp(from, "<a href", 7) == 0 || strncmp(from, "<code", 5) == 0 ||
			   strncmp(from, "</a", 3) == 0 || strncmp(from, "</code", 6) == 0) {
			from = strchr(from, '>') + 1;
		} else if (strncmp(from, "\xe2\x80\x8b", 3) == 0) {
			from += 3;
		} else if (isspace((unsigned char)*from)) {
			from += strspn(from, " \n");
			fg_strbuf_add_char(plain, ' ');
		} else {
			fg_strbuf_add_char(plain, *from++);
		}
	}
}

static void expect(const char *format, const char *plain, const char *words)
{
	struct fg_strbuf wanted = {0};

	make_plain(words, &wanted);
	if (!strstr(plain, fg_strbuf_text(&wanted)))
		fail_msg("%s has no '%s':\n%s", format, fg_strbuf_text(&wanted), plain);
	fg_strbuf_release(&wanted);
}

/* The text must contain the card's sentence, lines of source, change and steps. */
static void expect_card(const char *format, const char *plain, const struct fg_card *card)
{
	struct fg_strbuf line = {0};

	expect(format, plain, card->sentence);
	for (size_t i = 0; i < card->hunk.count; i++) {
		fg_strbuf_clear(&line);
		fg_hunk_add_line(&line, &card->hunk, i, 0);
		expect(format, plain, fg_strbuf_text(&line));
	}
	expect(format, plain, card->why);
	expect(format, plain, card->change);
	for (size_t i = 0; i < card->next_count; i++)
		expect(format, plain, card->next[i].text);
	fg_strbuf_release(&line);
}

FG_TEST(every_surface_has_the_card_word_for_word)
{
	static const char *const formats[] = {"terminal", "markdown", "comment", "junit", "github"};
	struct fg_fixture fixture;
	struct fg_card card;

	init_known(&fixture);
	fg_card_make(&fixture.report, NULL, &arena, &card);
	assert_int_equal(card.hunk.count, 2);
	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_strbuf text = {0};
		struct fg_strbuf plain = {0};

		fg_fixture_write_report(&fixture, formats[i], NULL, &text);
		make_plain(fg_strbuf_text(&text), &plain);
		expect_card(formats[i], fg_strbuf_text(&plain), &card);
		fg_strbuf_release(&text);
		fg_strbuf_release(&plain);
	}
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

static void expect_lines(const cJSON *because, const char *name, const char *text)
{
	const cJSON *line = cJSON_GetArrayItem(cJSON_GetObjectItem(because, name), 0);

	assert_string_equal(fg_json_text_or(line, "text", ""), text);
}

/* The HTML page, the server's pages and other programs read the card from the JSON. */
FG_TEST(the_answer_in_json_is_the_card)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	struct fg_card card;
	cJSON *document = NULL;
	const cJSON *answer = NULL;
	const cJSON *because = NULL;
	const cJSON *commit = NULL;

	init_known(&fixture);
	fg_card_make(&fixture.report, NULL, &arena, &card);
	fg_fixture_write_report(&fixture, "json", NULL, &text);
	document = cJSON_Parse(fg_strbuf_text(&text));
	answer = cJSON_GetObjectItem(document, "answer");
	assert_string_equal(fg_json_text_or(answer, "sentence", ""), card.sentence);
	assert_string_equal(fg_json_text_or(answer, "state", ""), "regression");
	assert_string_equal(fg_json_text_or(answer, "since", ""), card.change);
	because = cJSON_GetArrayItem(cJSON_GetObjectItem(answer, "because"), 0);
	assert_string_equal(fg_json_text_or(because, "function", ""), card.culprit->name);
	assert_string_equal(fg_json_text_or(because, "called_from", ""), "loop(Event const&)");
	assert_string_equal(fg_json_text_or(cJSON_GetObjectItem(because, "mechanism"), "words", ""),
			    card.why);
	expect_lines(because, "before", "        if (track.ok) refine(track);");
	expect_lines(because, "after", "        refine(track); </script>");
	for (size_t i = 0; i < card.hunk.count; i++) {
		struct fg_strbuf line = {0};

		fg_hunk_add_line(&line, &card.hunk, i, 0);
		assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(
					    cJSON_GetObjectItem(answer, "lines"), (int)i)),
				    fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
	commit = cJSON_GetObjectItem(answer, "commit");
	assert_string_equal(fg_json_text_or(commit, "pull_request", ""), "#41");
	assert_string_equal(fg_json_text_or(commit, "url", ""),
			    "https://git.example/commit/9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(answer, "next")), card.next_count);
	cJSON_Delete(document);
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

/* ---- probably slower ---- */

#define PROBABLY                                                                                 \
 "probably slower (+7.0 %): all of 21 pairs are slower; not failed because the interval begins " \
 "at +0.2 %; 25 pairs would decide if the next pairs are similar: `fastgate run --resume`"

static void init_probably(struct fg_fixture *fixture)
{
	fg_fixture_init(fixture, "inconclusive");
	fg_notes_add(&fixture->verdict.benchmarks[0].metrics[0].notes, &fixture->verdict.arena,
		     "%s", PROBABLY);
}

FG_TEST(every_surface_says_probably_slower_once)
{
	static const char *const formats[] = {"terminal", "junit", "github"};
	struct fg_fixture fixture;

	init_probably(&fixture);
	assert_string_equal(fg_report_state(&fixture.verdict.benchmarks[0]), "probably slower");
	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_strbuf text = {0};
		struct fg_strbuf plain = {0};

		fg_fixture_write_report(&fixture, formats[i], NULL, &text);
		make_plain(fg_strbuf_text(&text), &plain);
		expect(formats[i], fg_strbuf_text(&plain), "compress is " PROBABLY);
		assert_null(strstr(fg_strbuf_text(&plain), "could have detected"));
		fg_strbuf_release(&text);
		fg_strbuf_release(&plain);
	}
	fg_fixture_release(&fixture);
}

/* A benchmark that is probably slower comes after regressions and before undecided benchmarks. */
FG_TEST(probably_slower_comes_after_regressions)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	struct fg_benchmark_verdict *benchmarks = NULL;

	init_probably(&fixture);
	fg_fixture_repeat(&fixture, 2);
	benchmarks = fixture.verdict.benchmarks;
	benchmarks[0].metrics =
		fg_arena_memdup(&fixture.verdict.arena, benchmarks[0].metrics,
				benchmarks[0].metric_count * sizeof(benchmarks[0].metrics[0]));
	benchmarks[0].metrics[0].notes.count = 0;
	benchmarks[0].name = "open";
	fg_card_add_run_sentence(&text, &fixture.verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text), "compress is " PROBABLY);
	fg_strbuf_clear(&text);
	benchmarks[0].outcome = FG_OUTCOME_REGRESSION;
	fg_card_add_run_sentence(&text, &fixture.verdict, NULL);
	assert_non_null(strstr(fg_strbuf_text(&text), "open regressed"));
	fg_strbuf_clear(&text);
	fg_report_add_summary(&text, &fixture.verdict);
	assert_string_equal(fg_strbuf_text(&text), "2 benchmarks: 1 regressed, 1 probably slower");
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}
