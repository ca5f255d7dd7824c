// SPDX-License-Identifier: Apache-2.0
/*
 * GitHub workflow commands: an error on the line of the function that got slower.
 *
 * GitHub shows ten errors and ten warnings per step and silently drops the rest.  If there are more
 * than ten, nine are written and the tenth gives the number of the others.  In a message '%', CR
 * and LF are escaped, in a property ':' and ',' too; everything else is cleaned first, so that no
 * name can start a command.
 */
#include "base/text.h"
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
	const struct fg_profile_set *profile; /* of the current benchmark, or NULL */
	struct fg_strbuf *text;
	size_t count[LEVEL_COUNT];
	struct fg_strbuf tenth[LEVEL_COUNT]; /* written if it is the last */
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

/* The file's path in the repository, as GitHub shows it. NULL: not in the checkout. */
static const char *path_in_checkout(const char *file, const char *root)
{
	size_t length = 0;

	if (!file || !*file)
		return NULL;
	if (file[0] != '/')
		return fg_text_starts_with(file, "../") ? NULL : file;
	if (!root)
		return NULL;
	length = strlen(root);
	while (length > 1 && root[length - 1] == '/')
		length--;
	if (strncmp(file, root, length) != 0 || file[length] != '/')
		return NULL;
	return file + length + 1;
}

/* A line in the checkout. */
struct place {
	const char *file; /* NULL: none */
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
 * The function's line, or that of its nearest caller in the checkout (for memcpy or a library's
 * function).
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
	add_escaped(text, message, "");
	fg_strbuf_add_char(text, '\n');
}

static void describe(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		     const struct fg_metric_verdict *metric)
{
	fg_report_add_name(text, benchmark->name, MAX_NAME_COLUMNS);
	fg_strbuf_add_text(text, ": ");
	if (!metric || !fg_report_has_change(metric)) {
		fg_strbuf_add_text(text, fg_outcome_name(benchmark->outcome));
		return;
	}
	fg_report_add_name(text, metric->label, MAX_NAME_COLUMNS);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_change(text, metric);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_interval(text, metric);
}

static void add_function(struct annotations *a, enum level level, const struct fg_blame *blame,
			 const struct fg_node_verdict *node, const char *title)
{
	const struct place place = find_place(a, node);
	struct fg_strbuf message = {0};

	fg_report_add_function_name(&message, blame, node, MAX_NAME_COLUMNS, false);
	if (fg_report_is_time(blame->unit)) {
		fg_strbuf_add_text(&message, " takes ");
		fg_report_add_delta(&message, node->unit, node->delta);
		fg_strbuf_add_text(&message, " more per run, itself and the unchanged libraries "
					     "that it calls");
	} else {
		fg_strbuf_add_text(&message, ": ");
		fg_report_add_name(&message, blame->label, MAX_NAME_COLUMNS);
		fg_strbuf_add_char(&message, ' ');
		fg_report_add_delta(&message, node->unit, node->delta);
		fg_strbuf_add_text(&message, " per run");
	}
	if (isfinite(node->share_of_change)) {
		fg_strbuf_add_text(&message, ", ");
		fg_report_add_share(&message, node->share_of_change);
		fg_strbuf_add_text(&message, " of the change");
	}
	if (node->path_count > 0) {
		fg_strbuf_add_text(&message, ", on ");
		fg_report_add_path(&message, &node->paths[0], 0);
	}
	add_annotation(a, level, &place, title, fg_strbuf_text(&message));
	fg_strbuf_release(&message);
}

/* Returns false if no function surely got worse. */
static bool add_functions(struct annotations *a, const struct fg_benchmark_verdict *benchmark,
			  const char *title)
{
	const enum level level =
		benchmark->outcome == FG_OUTCOME_REGRESSION ? LEVEL_ERROR : LEVEL_WARNING;
	const struct fg_blame *blame = NULL;
	bool any = false;

	for (size_t b = 0; (blame = fg_report_blame(benchmark, b)); b++) {
		for (size_t i = 0; i < blame->function_count; i++) {
			if (blame->functions[i].standing != FG_STANDING_GUILTY)
				continue;
			add_function(a, level, blame, &blame->functions[i], title);
			any = true;
		}
	}
	return any;
}

static void add_regression(struct annotations *a, const struct fg_benchmark_verdict *benchmark,
			   const char *title)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);
	const struct fg_blame *blame = fg_report_blame(benchmark, 0);
	struct fg_strbuf message = {0};
	struct fg_strbuf names = {0};

	if (add_functions(a, benchmark, title))
		return;
	fg_strbuf_printf(&message, "%s, and no single function is sure",
			 fg_report_is_time(blame->unit) ? "slower" : "more");
	if (metric) {
		fg_strbuf_add_text(&message, ": ");
		fg_report_add_levels(&message, metric);
	}
	fg_report_add_not_sure(&names, blame, MAX_NAME_COLUMNS);
	if (names.length > 0)
		fg_strbuf_printf(&message, "; not sure: %s", fg_strbuf_text(&names));
	add_annotation(a, LEVEL_ERROR, NULL, title, fg_strbuf_text(&message));
	fg_strbuf_release(&names);
	fg_strbuf_release(&message);
}

static void add_inconclusive(struct annotations *a, const struct fg_metric_verdict *metric,
			     const char *title)
{
	struct fg_strbuf message = {0};
	struct fg_strbuf seen = {0};

	fg_strbuf_add_text(&message, "inconclusive");
	if (fg_report_add_detectable(&seen, metric))
		fg_strbuf_printf(&message, ": %s", fg_strbuf_text(&seen));
	fg_strbuf_release(&seen);
	add_annotation(a, LEVEL_WARNING, NULL, title, fg_strbuf_text(&message));
	fg_strbuf_release(&message);
}

static void add_benchmark(struct annotations *a, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);
	struct fg_strbuf title = {0};

	describe(&title, benchmark, metric);
	switch (benchmark->outcome) {
	case FG_OUTCOME_ERROR:
		add_annotation(a, LEVEL_ERROR, NULL, fg_strbuf_text(&title),
			       benchmark->error ? benchmark->error : "could not be measured");
		break;
	case FG_OUTCOME_REGRESSION:
		add_regression(a, benchmark, fg_strbuf_text(&title));
		break;
	case FG_OUTCOME_INCONCLUSIVE:
		add_inconclusive(a, metric, fg_strbuf_text(&title));
		break;
	case FG_OUTCOME_CREEP:
		add_annotation(a, LEVEL_WARNING, NULL, fg_strbuf_text(&title),
			       benchmark->creep ? benchmark->creep->sentence : "creep");
		break;
	case FG_OUTCOME_MISSING:
		add_annotation(a, LEVEL_WARNING, NULL, fg_strbuf_text(&title),
			       "in the baseline only: was it removed on purpose?");
		break;
	case FG_OUTCOME_PASS:
	case FG_OUTCOME_NEW:
	case FG_OUTCOME_PLACEMENT:
	case FG_OUTCOME_IMPROVEMENT:
		break;
	}
	fg_strbuf_release(&title);
}

int fg_report_github(const struct fg_report *report, const struct fg_report_options *options,
		     struct fg_strbuf *text, struct fg_error *err)
{
	struct annotations a = {.options = options, .text = text};
	size_t *order = fg_report_worst_first(report->verdict);

	(void)err;
	for (size_t i = 0; i < report->verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark =
			&report->verdict->benchmarks[order[i]];

		a.profile = fg_report_profile(report, fg_report_series(report, benchmark));
		add_benchmark(&a, benchmark);
	}
	free(order);
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		if (a.count[level] == MAX_SHOWN + 1)
			fg_strbuf_add(text, fg_strbuf_text(&a.tenth[level]), a.tenth[level].length);
		else if (a.count[level] > MAX_SHOWN)
			fg_strbuf_printf(text,
					 "::%s title=fastgate::%zu more; the report has them all\n",
					 level_names[level], a.count[level] - MAX_SHOWN);
		fg_strbuf_release(&a.tenth[level]);
	}
	return FG_OK;
}
