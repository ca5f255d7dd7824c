// SPDX-License-Identifier: Apache-2.0
#include "reporters/next.h"

#include "base/text.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

enum {
	SHORT_COMMIT = 12,
	SUBJECT_BYTES = 100,
	AUTHOR_BYTES = 60,
	NAME_BYTES = 200,
};

/* In the arena; the buffer is released. */
static const char *keep(struct fg_strbuf *text, struct fg_arena *arena)
{
	const char *kept = fg_arena_strdup(arena, fg_strbuf_text(text));

	fg_strbuf_release(text);
	return kept;
}

/* A name as one word of a command or of a trailer. */
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

/* 1eca4e8a0c11 "reject bad strings" by A. Author; NULL: the commit is unknown. */
static const char *change_of(const struct fg_side *candidate, struct fg_arena *arena)
{
	const char *subject = fg_environment_get(&candidate->build, "git.subject");
	const char *author = fg_environment_get(&candidate->build, "git.author");
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
	if (author && !candidate->dirty) {
		fg_strbuf_add_text(&text, " by ");
		fg_report_add_clean(&text, author, AUTHOR_BYTES);
	}
	return keep(&text, arena);
}

/* NULL: two stored runs were compared, or the baseline is not a commit. */
static const char *again_of(const struct fg_run *run, const struct fg_benchmark_verdict *benchmark,
			    struct fg_arena *arena)
{
	const char *baseline = run->sides[FG_ARM_BASELINE].commit;
	struct fg_strbuf text = {0};

	if (!baseline || benchmark->schedule == FG_SCHEDULE_STORED)
		return NULL;
	fg_strbuf_add_text(&text, "fastgate run ");
	add_word(&text, benchmark->name, true);
	fg_strbuf_add_text(&text, " --against ");
	fg_report_add_clean(&text, baseline, SHORT_COMMIT);
	return keep(&text, arena);
}

static const char *accept_of(const struct fg_run *run, const struct fg_benchmark_verdict *benchmark,
			     struct fg_arena *arena)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);
	struct fg_strbuf text = {0};

	if (!metric || metric->outcome != FG_OUTCOME_REGRESSION ||
	    !run->sides[FG_ARM_CANDIDATE].commit)
		return NULL;
	fg_strbuf_add_text(&text, "Fastgate-Accept: ");
	add_word(&text, benchmark->name, false);
	fg_strbuf_add_char(&text, ' ');
	add_word(&text, metric->name, false);
	fg_strbuf_add_text(&text, " REASON");
	return keep(&text, arena);
}

size_t fg_report_advice(const struct fg_report *report, struct fg_arena *arena,
			struct fg_advice steps[FG_ADVICE_MAX])
{
	const struct fg_verdict *verdict = report->verdict;
	size_t *order = fg_report_worst_first(verdict);
	const struct fg_benchmark_verdict *worst = NULL;
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count && !worst; i++) {
		if (verdict->benchmarks[order[i]].outcome == FG_OUTCOME_REGRESSION)
			worst = &verdict->benchmarks[order[i]];
	}
	free(order);
	if (!worst)
		return 0;
	const struct fg_advice all[FG_ADVICE_MAX] = {
		{"change", change_of(&report->run->sides[FG_ARM_CANDIDATE], arena)},
		{"again", again_of(report->run, worst, arena)},
		{"accept", accept_of(report->run, worst, arena)},
	};

	for (size_t i = 0; i < FG_ADVICE_MAX; i++) {
		if (all[i].text)
			steps[count++] = all[i];
	}
	return count;
}
