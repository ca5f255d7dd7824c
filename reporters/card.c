// SPDX-License-Identifier: Apache-2.0
#include "reporters/card.h"

#include "base/number.h"
#include "base/text.h"
#include "model/links.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

enum {
	NAME_COLUMNS = 80,
	ERROR_BYTES = 300,
	SHORT_COMMIT = 12,
	SHORT_RUN = 13, /* a prefix of the id: its timestamp in milliseconds */
	SUBJECT_BYTES = 100,
	AUTHOR_BYTES = 60,
	NAME_BYTES = 200,
};

/* ---- the sentence ---- */

static void add_plain(struct fg_strbuf *text, const char *plain)
{
	fg_report_add_clean(text, plain, ERROR_BYTES);
}

static void add_plain_name(struct fg_strbuf *text, const char *name)
{
	fg_report_add_name(text, name, NAME_COLUMNS);
}

static const struct fg_card_style plain_style = {
	.add_text = add_plain,
	.add_code = add_plain_name,
};

/* Returns the standing of functions that explain this outcome. */
static enum fg_standing culprit_of(enum fg_outcome outcome)
{
	return outcome == FG_OUTCOME_IMPROVEMENT ? FG_STANDING_FASTER
	       : outcome == FG_OUTCOME_PLACEMENT ? FG_STANDING_SAME_CODE
						 : FG_STANDING_GUILTY;
}

static void add_function(struct fg_strbuf *text, const struct fg_node_verdict *node,
			 const struct fg_card_style *style)
{
	struct fg_strbuf place = {0};

	style->add_code(text, node->name);
	fg_report_add_place(&place, node, false);
	if (place.length > 0) {
		fg_strbuf_add_char(text, ' ');
		style->add_text(text, fg_strbuf_text(&place));
	}
	fg_strbuf_add_text(text, " (");
	fg_report_add_delta(text, node->unit, node->delta);
	fg_strbuf_add_char(text, ')');
	fg_strbuf_release(&place);
}

/*
 * Returns the first function that explains the outcome, or NULL. *more: the number of other
 * functions that explain the outcome.
 */
static const struct fg_node_verdict *find_culprit(const struct fg_benchmark_verdict *benchmark,
						  size_t *more)
{
	const struct fg_blame *blame = fg_report_blame(benchmark, 0);
	const enum fg_standing wanted = culprit_of(benchmark->outcome);
	const struct fg_node_verdict *first = NULL;

	*more = 0;
	for (size_t i = 0; i < blame->function_count; i++) {
		if (blame->functions[i].standing != wanted)
			continue;
		*more += first != NULL;
		if (!first)
			first = &blame->functions[i];
	}
	return first;
}

/* Adds ": find table.c:16 (+5.0 ms) and 2 more functions". */
static void add_culprits(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			 const struct fg_card_style *style)
{
	const struct fg_blame *blame = fg_report_blame(benchmark, 0);
	size_t more = 0;
	const struct fg_node_verdict *first = find_culprit(benchmark, &more);

	if (first) {
		fg_strbuf_add_text(text, ": ");
		add_function(text, first, style);
		if (more > 0)
			fg_strbuf_printf(text, " and %zu more function%s", more,
					 more == 1 ? "" : "s");
	} else if (benchmark->outcome == FG_OUTCOME_REGRESSION && blame->function_count > 0) {
		fg_strbuf_add_text(text,
				   blame->functions[0].standing == FG_STANDING_SAME_CODE
					   ? "; the functions that took longer did not change"
					   : "; no single function can be blamed with certainty");
	}
	if (!first && benchmark->outcome == FG_OUTCOME_REGRESSION && benchmark->only_changed) {
		fg_strbuf_printf(text, "; the only hot %s that changed is ",
				 blame->function_count > 0 ? "one" : "function");
		style->add_code(text, benchmark->only_changed);
	}
}

/* Adds " is 11.6 % slower" for a time, ": max rss +12.0 %" for any other metric. */
static void add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric,
		       const struct fg_card_style *style)
{
	struct fg_strbuf change = {0};
	const bool is_time =
		strcmp(metric->name, "cpu_time") == 0 || strcmp(metric->name, "wall_time") == 0;

	fg_report_add_change(&change, metric);
	if (is_time) {
		fg_strbuf_printf(text, " is %s %s", fg_format_without_sign(fg_strbuf_text(&change)),
				 metric->ratio > 1 ? "slower" : "faster");
	} else {
		fg_strbuf_add_text(text, ": ");
		style->add_text(text, metric->label);
		fg_strbuf_printf(text, " %s", fg_strbuf_text(&change));
	}
	fg_strbuf_release(&change);
}

/* Adds "11.6 % slower, accepted up to +15 %: larger cache". */
static void add_accepted(struct fg_strbuf *text, const struct fg_metric_verdict *metric,
			 const struct fg_card_style *style)
{
	struct fg_strbuf words = {0};

	add_change(text, metric, style);
	fg_strbuf_add_text(text, ", ");
	fg_report_add_accept(&words, metric->accepted);
	style->add_text(text, fg_strbuf_text(&words));
	fg_strbuf_release(&words);
}

static void add_undecided(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_metric_verdict *metric, const struct fg_card_style *style)
{
	const char *probably = fg_report_probably(benchmark);

	if (probably) {
		fg_strbuf_add_text(text, " is ");
		style->add_text(text, probably);
		return;
	}
	fg_strbuf_add_text(text, benchmark->outcome == FG_OUTCOME_PASS ? " is not slower"
								       : " is inconclusive");
	if (!metric)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, metric->label);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_change(text, metric);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_interval(text, metric);
}

static void add_creep(struct fg_strbuf *text, const struct fg_creep_verdict *creep,
		      const struct fg_card_style *style)
{
	char change[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(text, " crept up");
	if (!creep)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, creep->label);
	fg_strbuf_printf(text, " %s in %u commits since ", fg_format_change(creep->change, change),
			 creep->commits);
	style->add_text(text, creep->since);
}

static void add_error(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		      const struct fg_card_style *style)
{
	fg_strbuf_add_text(text, " could not be measured");
	if (!benchmark->error)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, benchmark->error);
}

void fg_card_add_sentence(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_card_style *style)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	if (!style)
		style = &plain_style;
	if (metric && !fg_report_has_change(metric))
		metric = NULL;
	style->add_code(text, benchmark->name);
	switch (benchmark->outcome) {
	case FG_OUTCOME_ERROR:
		add_error(text, benchmark, style);
		return;
	case FG_OUTCOME_NEW:
		fg_strbuf_add_text(text, " is new: nothing to compare with yet");
		return;
	case FG_OUTCOME_MISSING:
		fg_strbuf_add_text(text, " is missing: in the baseline only");
		return;
	case FG_OUTCOME_CREEP:
		add_creep(text, benchmark->creep, style);
		return;
	case FG_OUTCOME_PASS:
	case FG_OUTCOME_INCONCLUSIVE:
		if (benchmark->unaffected)
			fg_strbuf_printf(text, ": %s", fg_report_unaffected);
		else if (benchmark->identical)
			fg_strbuf_add_text(text, ": same binaries on both sides");
		else if (metric && metric->accepted)
			add_accepted(text, metric, style);
		else
			add_undecided(text, benchmark, metric, style);
		return;
	case FG_OUTCOME_PLACEMENT:
	case FG_OUTCOME_IMPROVEMENT:
	case FG_OUTCOME_REGRESSION:
		break;
	}
	/* If only a function is gated and failed, no metric got worse. */
	if (metric && metric->outcome == benchmark->outcome)
		add_change(text, metric, style);
	else
		fg_strbuf_printf(text, " %s",
				 benchmark->outcome == FG_OUTCOME_REGRESSION ? "regressed"
									     : "improved");
	if (benchmark->outcome == FG_OUTCOME_PLACEMENT)
		fg_strbuf_add_text(text, ", the same code at other addresses");
	add_culprits(text, benchmark, style);
}

/*
 * Returns the benchmark that leads the report: the most urgent benchmark. An improvement outranks
 * placement and undecided benchmarks that are not probably slower, unless an undecided benchmark
 * fails the run. NULL if no benchmark ran.
 */
static const struct fg_benchmark_verdict *leading(const struct fg_verdict *verdict)
{
	size_t *order = fg_report_worst_first(verdict);
	const struct fg_benchmark_verdict *lead = NULL;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[order[i]];

		if (!lead)
			lead = benchmark;
		if (verdict->exit_code != FG_EXIT_INCONCLUSIVE &&
		    benchmark->outcome == FG_OUTCOME_IMPROVEMENT &&
		    (lead->outcome == FG_OUTCOME_PLACEMENT ||
		     (lead->outcome == FG_OUTCOME_INCONCLUSIVE && !fg_report_probably(lead))))
			lead = benchmark;
	}
	free(order);
	return lead;
}

static size_t count_like(const struct fg_verdict *verdict, const char *state)
{
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		count += strcmp(fg_report_state(&verdict->benchmarks[i]), state) == 0;
	return count;
}

void fg_card_add_run_sentence(struct fg_strbuf *text, const struct fg_verdict *verdict,
			      const struct fg_card_style *style)
{
	const struct fg_benchmark_verdict *lead = leading(verdict);
	const size_t count = lead ? count_like(verdict, fg_report_state(lead)) : 0;
	const size_t open = count_like(verdict, fg_outcome_name(FG_OUTCOME_INCONCLUSIVE));

	if (!lead) {
		fg_strbuf_add_text(text, "no benchmark ran");
		return;
	}
	if (lead->outcome == FG_OUTCOME_PASS && count > 1) {
		fg_report_add_summary(text, verdict);
		return;
	}
	fg_card_add_sentence(text, lead, style);
	if (count > 1)
		fg_strbuf_printf(text, "; %zu more benchmark%s %s", count - 1,
				 count == 2 ? "" : "s", fg_report_state_words(lead));
	if (lead->outcome == FG_OUTCOME_IMPROVEMENT && open > 0)
		fg_strbuf_printf(text, "; %zu inconclusive", open);
}

/* ---- the change and the next steps ---- */

/* Adds a name as one word of a command or a trailer. */
static void add_word(struct fg_strbuf *text, const char *name, bool for_shell)
{
	struct fg_strbuf clean = {0};
	char *words[] = {NULL, NULL};

	fg_report_add_clean(&clean, name, NAME_BYTES);
	words[0] = fg_xstrdup(fg_strbuf_text(&clean));
	if (for_shell)
		fg_text_quote_words(text, words);
	else
		fg_strbuf_printf(text, strpbrk(words[0], " \t") ? "\"%s\"" : "%s", words[0]);
	free(words[0]);
	fg_strbuf_release(&clean);
}

/* Cuts the text, which may contain a long name of a function. */
static const char *why_of(const struct fg_mechanism *mechanism, struct fg_arena *arena)
{
	struct fg_strbuf text = {0};

	fg_report_add_clean(&text, mechanism->words, ERROR_BYTES);
	return fg_strbuf_keep(&text, arena);
}

/* Returns 1eca4e8a0c11 "reject bad strings" (#41) by A. Author; NULL if the commit is unknown. */
static const char *change_of(const struct fg_side *candidate, struct fg_arena *arena)
{
	const char *subject = fg_environment_get(&candidate->build, "git.subject");
	const char *author = fg_environment_get(&candidate->build, "git.author");
	const char *request = fg_environment_get(&candidate->build, "git.pull_request");
	struct fg_strbuf text = {0};

	if (!candidate->commit)
		return NULL;
	if (candidate->dirty)
		fg_strbuf_add_text(&text, "uncommitted changes on ");
	fg_report_add_clean(&text, candidate->commit, SHORT_COMMIT);
	if (subject) {
		fg_strbuf_add_text(&text, " \"");
		fg_report_add_clean(&text, subject, SUBJECT_BYTES);
		fg_strbuf_add_char(&text, '"');
	}
	if (request && (!subject || !strstr(subject, request))) {
		fg_strbuf_add_text(&text, " (");
		fg_report_add_clean(&text, request, SHORT_COMMIT);
		fg_strbuf_add_char(&text, ')');
	}
	if (author && !candidate->dirty) {
		fg_strbuf_add_text(&text, " by ");
		fg_report_add_clean(&text, author, AUTHOR_BYTES);
	}
	return fg_strbuf_keep(&text, arena);
}

/* Returns the address of the run's page on a server, or NULL. */
static const char *see(const struct fg_run *run, const struct fg_card *card, struct fg_arena *arena)
{
	struct fg_strbuf url = {0};

	(void)card;
	return fg_web_link_run(run, &url) ? fg_strbuf_keep(&url, arena) : NULL;
}

/* Was the run measured against a commit? Returns false for a duel and for a stored baseline. */
static bool can_run_again(const struct fg_run *run, const struct fg_benchmark_verdict *benchmark)
{
	return run->sides[FG_ARM_BASELINE].commit && benchmark->schedule != FG_SCHEDULE_STORED;
}

static const char *explain(const struct fg_run *run, const struct fg_card *card,
			   struct fg_arena *arena)
{
	struct fg_strbuf text = {0};

	if (!can_run_again(run, card->benchmark))
		return NULL;
	fg_strbuf_printf(&text, "fastgate explain %.*s", SHORT_RUN, run->id);
	if (!card->is_leading) {
		fg_strbuf_add_text(&text, " --bench ");
		add_word(&text, card->benchmark->name, true);
	}
	return fg_strbuf_keep(&text, arena);
}

static const char *again(const struct fg_run *run, const struct fg_card *card,
			 struct fg_arena *arena)
{
	struct fg_strbuf text = {0};

	if (!can_run_again(run, card->benchmark))
		return NULL;
	fg_strbuf_add_text(&text, "fastgate run ");
	add_word(&text, card->benchmark->name, true);
	fg_strbuf_add_text(&text, " --against ");
	fg_report_add_clean(&text, run->sides[FG_ARM_BASELINE].commit, SHORT_COMMIT);
	return fg_strbuf_keep(&text, arena);
}

/* Returns the command that counts the work of a slower function, if nothing was counted. */
static const char *count(const struct fg_run *run, const struct fg_card *card,
			 struct fg_arena *arena)
{
	if (!card->culprit || !fg_report_is_time(card->culprit->unit) || card->why ||
	    card->benchmark->outcome != FG_OUTCOME_REGRESSION ||
	    !can_run_again(run, card->benchmark))
		return NULL;
	return fg_arena_printf(arena, "%s --exact", again(run, card, arena));
}

/* Returns the command that finds the commit at fault, if the candidate adds several commits. */
static const char *which(const struct fg_run *run, const struct fg_card *card,
			 struct fg_arena *arena)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	const char *commits = fg_environment_get(&candidate->build, "git.commits");
	struct fg_strbuf text = {0};

	if (!can_run_again(run, card->benchmark) || !candidate->commit || candidate->dirty ||
	    !commits || strcmp(commits, "1") == 0)
		return NULL;
	fg_strbuf_add_text(&text, "fastgate bisect ");
	fg_report_add_clean(&text, run->sides[FG_ARM_BASELINE].commit, SHORT_COMMIT);
	fg_strbuf_add_char(&text, ' ');
	fg_report_add_clean(&text, candidate->commit, SHORT_COMMIT);
	fg_strbuf_add_text(&text, " --bench ");
	add_word(&text, card->benchmark->name, true);
	return fg_strbuf_keep(&text, arena);
}

static const char *accept(const struct fg_run *run, const struct fg_card *card,
			  struct fg_arena *arena)
{
	const struct fg_metric_verdict *metric = fg_report_headline(card->benchmark);
	struct fg_strbuf text = {0};

	if (!metric || metric->outcome != FG_OUTCOME_REGRESSION ||
	    !run->sides[FG_ARM_CANDIDATE].commit)
		return NULL;
	fg_strbuf_add_text(&text, "Fastgate-Accept: ");
	add_word(&text, card->benchmark->name, false);
	fg_strbuf_add_char(&text, ' ');
	add_word(&text, metric->name, false);
	fg_strbuf_add_text(&text, " REASON");
	return fg_strbuf_keep(&text, arena);
}

static void add_next(const struct fg_report *report, struct fg_arena *arena, struct fg_card *card)
{
	static const struct {
		const char *what;
		const char *(*of)(const struct fg_run *run, const struct fg_card *card,
				  struct fg_arena *arena);
	} steps[FG_CARD_STEPS] = {
		{.what = "see", .of = see},     {.what = "explain", .of = explain},
		{.what = "again", .of = again}, {.what = "count", .of = count},
		{.what = "which", .of = which}, {.what = "accept", .of = accept},
	};

	for (size_t i = 0; i < FG_CARD_STEPS; i++) {
		const char *text = steps[i].of(report->run, card, arena);

		if (text)
			card->next[card->next_count++] =
				(struct fg_card_step){.what = steps[i].what, .text = text};
	}
}

void fg_card_make(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		  struct fg_arena *arena, struct fg_card *card)
{
	struct fg_strbuf sentence = {0};
	size_t more = 0;

	*card = (struct fg_card){
		.benchmark = benchmark ? benchmark : leading(report->verdict),
		.is_leading = !benchmark || report->verdict->benchmark_count == 1,
	};
	if (benchmark)
		fg_card_add_sentence(&sentence, benchmark, NULL);
	else
		fg_card_add_run_sentence(&sentence, report->verdict, NULL);
	card->sentence = fg_strbuf_keep(&sentence, arena);
	if (!card->benchmark)
		return;
	card->culprit = find_culprit(card->benchmark, &more);
	if (card->culprit && card->culprit->mechanism)
		card->why = why_of(card->culprit->mechanism, arena);
	if (card->culprit && card->culprit->source)
		fg_hunk_take(card->culprit->source, FG_CARD_LINES, &card->hunk);
	if (card->benchmark->outcome != FG_OUTCOME_REGRESSION &&
	    !fg_report_probably(card->benchmark))
		return;
	card->change = change_of(&report->run->sides[FG_ARM_CANDIDATE], arena);
	add_next(report, arena, card);
}

void fg_card_add_steps(const struct fg_card *card, struct fg_strbuf *text)
{
	if (card->why)
		fg_strbuf_printf(text, "why: %s\n", card->why);
	if (card->change)
		fg_strbuf_printf(text, "change: %s\n", card->change);
	for (size_t i = 0; i < card->next_count; i++)
		fg_strbuf_printf(text, "%s: %s\n", card->next[i].what, card->next[i].text);
}
