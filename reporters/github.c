// SPDX-License-Identifier: Apache-2.0
/*
 * GitHub workflow commands: an error on the line of the function that got slower.
 *
 * GitHub shows ten errors and ten warnings per step and silently drops further annotations. If
 * there are more than ten of a level, nine are written and the tenth gives the number of the
 * remaining annotations. Text is cleaned and then escaped, so that no name can start a command: '%'
 * and LF in messages, and in properties ':' and ',' as well.
 */
#include "base/fs.h"
#include "base/text.h"
#include "reporters/card.h"
#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_SHOWN = 9,
	MAX_NAME_COLUMNS = 120,
	MAX_MESSAGE_BYTES = 2000,
};

enum level {
	LEVEL_ERROR,
	LEVEL_WARNING,
	LEVEL_COUNT,
};

static const char *const level_names[LEVEL_COUNT] = {"error", "warning"};

struct annotations {
	const struct fg_report_options *options;
	const struct fg_profile_set *profile; /* profile of the current benchmark, or NULL */
	struct fg_strbuf *text;
	size_t count[LEVEL_COUNT];
	/* the tenth annotation, held back until no further annotation can follow */
	struct fg_strbuf tenth[LEVEL_COUNT];
};

static void add_escaped(struct fg_strbuf *text, const char *plain, const char *also)
{
	struct fg_strbuf clean = {0};

	fg_text_add_clean(&clean, plain, strlen(plain), MAX_MESSAGE_BYTES);
	for (const char *at = fg_strbuf_text(&clean); *at; at++) {
		if (*at == '%' || strchr(also, *at))
			fg_strbuf_printf(text, "%%%02X", (unsigned)*at);
		else
			fg_strbuf_add_char(text, *at);
	}
	fg_strbuf_release(&clean);
}

/* Adds lines written by fastgate that may quote untrusted text. */
static void add_message(struct fg_strbuf *text, const char *lines)
{
	for (const char *at = lines; *at;) {
		const size_t length = strcspn(at, "\n");
		char *line = fg_xstrndup(at, length);

		fg_strbuf_add_text(text, at == lines ? "" : "%0A");
		add_escaped(text, line, "");
		free(line);
		at += length + (at[length] == '\n');
	}
}

/* Returns the file's path relative to the checkout, as GitHub shows it; NULL if outside. */
static const char *path_in_checkout(const char *file, const char *root)
{
	if (!file || !*file)
		return NULL;
	if (file[0] != '/')
		return fg_text_starts_with(file, "../") ? NULL : file;
	return fg_fs_rest_below(root, file);
}

/* A line in the checkout. */
struct place {
	const char *file; /* may be NULL */
	unsigned line;
};

static struct place find_by_name(const struct annotations *a, const char *name)
{
	for (size_t f = 0; a->profile && f < a->profile->function_count; f++) {
		const struct fg_profile_function *function = &a->profile->functions[f];
		const char *file = path_in_checkout(function->file, a->options->source_root);

		if (file && strcmp(function->name, name) == 0)
			return (struct place){file, function->line};
	}
	return (struct place){0};
}

/*
 * Returns the function's line, or the line of its nearest caller in the checkout (for memcpy or a
 * library's function).
 */
static struct place find_place(const struct annotations *a, const struct fg_node_verdict *node)
{
	struct place place = {path_in_checkout(node->file, a->options->source_root), node->line};
	const struct fg_path_verdict *path = node->path_count > 0 ? &node->paths[0] : NULL;

	/* Point to the change rather than to the beginning of the function. */
	if (place.file && node->source && fg_source_listing_line(node->source) > 0)
		place.line = fg_source_listing_line(node->source);
	for (size_t i = path ? path->frame_count : 0; i > 0 && !place.file; i--)
		place = find_by_name(a, path->frames[i - 1]);
	return place;
}

static void add_annotation(struct annotations *a, enum level level, const struct place *place,
			   const char *title, const char *message)
{
	const char *file = place ? place->file : NULL;
	struct fg_strbuf *text = a->text;

	if (++a->count[level] > MAX_SHOWN)
		text = a->count[level] == MAX_SHOWN + 1 ? &a->tenth[level] : NULL;
	if (!text)
		return;
	fg_strbuf_printf(text, "::%s ", level_names[level]);
	if (file) {
		fg_strbuf_add_text(text, "file=");
		add_escaped(text, file, ":,");
		if (place->line > 0)
			fg_strbuf_printf(text, ",line=%u", place->line);
		fg_strbuf_add_char(text, ',');
	}
	fg_strbuf_add_text(text, "title=");
	add_escaped(text, title, ":,");
	fg_strbuf_add_text(text, "::");
	add_message(text, message);
	fg_strbuf_add_char(text, '\n');
}

/* Adds "93 %  fit(Track&)  +9.7 ms  main → loop → fit". */
static void add_part(struct fg_strbuf *text, const struct fg_blame *blame,
		     const struct fg_node_verdict *node)
{
	if (isfinite(node->share_of_change))
		fg_strbuf_printf(text, "%.0f %%  ", fmax(0.0, 100 * node->share_of_change));
	fg_report_add_function_name(text, blame, node, MAX_NAME_COLUMNS, false);
	fg_strbuf_add_text(text, "  ");
	if (!fg_report_is_time(blame->unit)) {
		fg_report_add_name(text, blame->label, MAX_NAME_COLUMNS);
		fg_strbuf_add_char(text, ' ');
	}
	fg_report_add_delta(text, node->unit, node->delta);
	if (node->path_count > 0) {
		fg_strbuf_add_text(text, "  ");
		fg_report_add_path(text, &node->paths[0], 0);
	}
}

/* Adds the card's lines, change and next steps below the function that the card names. */
static void add_card(struct fg_strbuf *text, const struct fg_card *card)
{
	for (size_t i = 0; i < card->hunk.count; i++) {
		fg_strbuf_add_char(text, '\n');
		fg_hunk_add_line(text, &card->hunk, i, 0);
	}
	if (text->length > 0 && (card->why || card->change || card->next_count > 0))
		fg_strbuf_add_char(text, '\n');
	fg_card_add_steps(card, text);
}

/* Annotates a benchmark that fails the run as an error, any other as a warning. */
static enum level level_of(const struct fg_benchmark_verdict *benchmark)
{
	return benchmark->exit_code == FG_EXIT_PASS ? LEVEL_WARNING : LEVEL_ERROR;
}

static void add_function(struct annotations *a, const struct fg_blame *blame,
			 const struct fg_node_verdict *node, const struct fg_card *card)
{
	const struct place place = find_place(a, node);
	struct fg_strbuf message = {0};

	add_part(&message, blame, node);
	if (node == card->culprit)
		add_card(&message, card);
	add_annotation(a, level_of(card->benchmark), &place, card->sentence,
		       fg_strbuf_text(&message));
	fg_strbuf_release(&message);
}

/* Returns false if no function got significantly worse. */
static bool add_functions(struct annotations *a, const struct fg_card *card)
{
	const struct fg_blame *blame = NULL;
	bool any = false;

	for (size_t b = 0; (blame = fg_report_blame(card->benchmark, b)); b++) {
		for (size_t i = 0; i < blame->function_count; i++) {
			if (blame->functions[i].standing != FG_STANDING_GUILTY)
				continue;
			add_function(a, blame, &blame->functions[i], card);
			any = true;
		}
	}
	return any;
}

static void add_regression(struct annotations *a, const struct fg_card *card)
{
	const struct fg_metric_verdict *metric = fg_report_headline(card->benchmark);
	struct fg_strbuf message = {0};
	struct fg_strbuf names = {0};

	if (add_functions(a, card))
		return;
	if (metric)
		fg_report_add_levels(&message, metric);
	fg_report_add_not_sure(&names, fg_report_blame(card->benchmark, 0), MAX_NAME_COLUMNS);
	if (names.length > 0)
		fg_strbuf_printf(&message, "; not sure: %s", fg_strbuf_text(&names));
	add_card(&message, card);
	add_annotation(a, LEVEL_ERROR, NULL, card->sentence, fg_strbuf_text(&message));
	fg_strbuf_release(&names);
	fg_strbuf_release(&message);
}

static void add_inconclusive(struct annotations *a, const struct fg_card *card)
{
	struct fg_strbuf message = {0};

	if (!fg_report_probably(card->benchmark))
		(void)fg_report_add_detectable(&message, fg_report_headline(card->benchmark));
	add_card(&message, card);
	add_annotation(a, level_of(card->benchmark), NULL, card->sentence,
		       message.length > 0 ? fg_strbuf_text(&message) : card->sentence);
	fg_strbuf_release(&message);
}

static void add_benchmark(struct annotations *a, const struct fg_report *report,
			  const struct fg_benchmark_verdict *benchmark)
{
	struct fg_arena arena = {0};
	struct fg_card card;

	fg_card_make(report, benchmark, &arena, &card);
	switch (benchmark->outcome) {
	case FG_OUTCOME_ERROR:
		add_annotation(a, LEVEL_ERROR, NULL, card.sentence,
			       benchmark->error ? benchmark->error : "could not be measured");
		break;
	case FG_OUTCOME_REGRESSION:
		add_regression(a, &card);
		break;
	case FG_OUTCOME_INCONCLUSIVE:
		add_inconclusive(a, &card);
		break;
	case FG_OUTCOME_CREEP:
		add_annotation(a, level_of(benchmark), NULL, card.sentence,
			       benchmark->creep ? benchmark->creep->sentence : "creep");
		break;
	case FG_OUTCOME_MISSING:
		add_annotation(a, LEVEL_WARNING, NULL, card.sentence,
			       "was the benchmark removed on purpose?");
		break;
	case FG_OUTCOME_PASS:
	case FG_OUTCOME_NEW:
	case FG_OUTCOME_PLACEMENT:
	case FG_OUTCOME_IMPROVEMENT:
		if (level_of(benchmark) == LEVEL_ERROR)
			add_annotation(a, LEVEL_ERROR, NULL, card.sentence, card.sentence);
		break;
	}
	fg_arena_release(&arena);
}

void fg_report_github(const struct fg_report *report, const struct fg_report_options *options,
		      struct fg_strbuf *text)
{
	struct annotations a = {.options = options, .text = text};
	size_t *order = fg_report_worst_first(report->verdict);

	for (size_t i = 0; i < report->verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark =
			&report->verdict->benchmarks[order[i]];

		a.profile = fg_report_profile(report, fg_run_find(report->run, benchmark->name));
		add_benchmark(&a, report, benchmark);
	}
	free(order);
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		if (a.count[level] == MAX_SHOWN + 1)
			fg_strbuf_add(text, fg_strbuf_text(&a.tenth[level]), a.tenth[level].length);
		else if (a.count[level] > MAX_SHOWN)
			fg_strbuf_printf(
				text, "::%s title=fastgate::%zu more; the report lists them all\n",
				level_names[level], a.count[level] - MAX_SHOWN);
		fg_strbuf_release(&a.tenth[level]);
	}
}
