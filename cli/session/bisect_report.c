// SPDX-License-Identifier: Apache-2.0
/* The result of a search, for people and programs. Names come from commits: all are escaped. */
#include "base/clock.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/bisect.h"
#include "reporters/web/assets.h"

#include <math.h>

enum {
	SHOWN_COMMITS = 20,
	SHORT_HASH = 12,
	SUBJECT_MAX = 70,
};

/* Commits less likely than this are not listed. */
static const double least_shown = 0.005;

static const char *const states[] = {
	[FG_SEARCH_NOTHING] = "nothing",
	[FG_SEARCH_FOUND] = "found",
	[FG_SEARCH_OPEN] = "open",
	[FG_SEARCH_STOPPED] = "stopped",
};

double fg_search_seconds(const struct fg_bisect_search *search)
{
	return search->seconds_before +
	       (double)(fg_clock_monotonic_ns() - search->started_ns) / FG_NS_PER_S;
}

const char *fg_search_subject(const struct fg_bisect_search *search)
{
	return search->asked.measure ? search->asked.measure : search->asked.metric;
}

static double probability_of(const struct fg_bisect_search *search, size_t commit)
{
	return search->look.probability ? search->look.probability[commit] : (double)NAN;
}

/* ---- JSON ---- */

static void write_verdict(struct fg_json_writer *w, const char *name,
			  const struct fg_search_verdict *verdict)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "run", verdict->run);
	fg_json_text(w, "verdict", fg_outcome_name(verdict->outcome));
	fg_json_double(w, "ratio", verdict->ratio);
	fg_json_double(w, "interval_low", verdict->low);
	fg_json_double(w, "interval_high", verdict->high);
	fg_json_double(w, "smallest_detectable", verdict->smallest);
	fg_json_int(w, "pairs", verdict->pairs);
	fg_json_text(w, "function", verdict->function);
	fg_json_text(w, "file", verdict->file);
	fg_json_int(w, "line", verdict->line);
	fg_json_end(w);
}

static void write_commit(const struct fg_bisect_search *search, size_t index,
			 struct fg_json_writer *w)
{
	const struct fg_range_commit *commit = &search->range.commits[index];
	const struct fg_bisect_commit *model = &search->model.commits[index];

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "commit", commit->hash);
	fg_json_text(w, "author", commit->author);
	fg_json_text(w, "subject", commit->subject);
	fg_json_double(w, "probability", probability_of(search, index));
	fg_json_double(w, "weight", model->weight);
	fg_json_text(w, "error", search->commits[index].error);
	fg_json_text(w, "code", search->commits[index].code);
	fg_json_bool(w, "same_code", model->is_same);
	fg_json_bool(w, "built", model->is_built);
	fg_json_begin_array(w, "differences");
	for (size_t i = 0; i < model->pair_count; i++)
		fg_json_double(w, NULL, model->differences[i]);
	fg_json_end(w);
	fg_json_end(w);
}

static void write_step(const struct fg_bisect_search *search, size_t index,
		       struct fg_json_writer *w)
{
	const struct fg_bisect_step *step = &search->look.steps[index];
	const struct fg_range_commit *commit = &search->range.commits[step->last];

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "commit", commit->hash);
	fg_json_text(w, "author", commit->author);
	fg_json_text(w, "subject", commit->subject);
	fg_json_double(w, "probability", step->probability);
	fg_json_double(w, "size", exp(step->size));
	fg_json_begin_array(w, "or");
	for (size_t i = step->first; i < step->last; i++)
		fg_json_text(w, NULL, search->range.commits[i].hash);
	fg_json_end(w);
	if (index < search->confirmed)
		write_verdict(w, "against_parent", &search->steps[index]);
	fg_json_end(w);
}

/* The step that explains most; SIZE_MAX: none. */
static size_t largest_step(const struct fg_bisect_search *search)
{
	size_t largest = SIZE_MAX;

	for (size_t i = 0; i < search->look.step_count; i++) {
		if (largest == SIZE_MAX ||
		    search->look.steps[i].size > search->look.steps[largest].size)
			largest = i;
	}
	return largest;
}

static void write_culprit(const struct fg_bisect_search *search, struct fg_json_writer *w)
{
	const size_t largest = largest_step(search);
	const struct fg_range_commit *commit = NULL;

	if (largest == SIZE_MAX) {
		fg_json_null(w, "culprit");
		return;
	}
	commit = &search->range.commits[search->look.steps[largest].last];
	fg_json_begin_object(w, "culprit");
	fg_json_text(w, "commit", commit->hash);
	fg_json_text(w, "author", commit->author);
	fg_json_text(w, "subject", commit->subject);
	fg_json_text(w, "function", search->steps[largest].function);
	fg_json_end(w);
}

static void write_costs(const struct fg_bisect_search *search, struct fg_json_writer *w)
{
	fg_json_double(w, "seconds", fg_search_seconds(search));
	fg_json_int(w, "builds", search->builds);
	fg_json_int(w, "pairs", search->pairs);
	fg_json_text(w, "schedule", fg_schedule_name(search->schedule));
	fg_json_int(w, "layouts", search->layouts);
	fg_json_begin_object(w, "costs");
	fg_json_double(w, "build_seconds", search->model.build_seconds);
	fg_json_double(w, "visit_seconds", search->model.visit_seconds);
	fg_json_double(w, "pair_seconds", search->model.pair_seconds);
	fg_json_end(w);
}

void fg_search_json(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-bisect/1");
	fg_json_text(&w, "state", states[search->state]);
	fg_json_text(&w, "good", search->range.good);
	fg_json_text(&w, "bad", search->range.bad);
	fg_json_text(&w, "benchmark", search->asked.benchmark);
	fg_json_text(&w, "metric", search->asked.metric);
	fg_json_text(&w, "measure", search->asked.measure);
	fg_json_text(&w, "function", search->asked.function);
	fg_json_double(&w, "change", exp(search->look.whole));
	fg_json_double(&w, "explained", search->look.explained);
	fg_json_int(&w, "left", (int64_t)search->look.left);
	write_culprit(search, &w);
	write_verdict(&w, "ends", &search->ends);
	fg_json_begin_array(&w, "steps");
	for (size_t i = 0; i < search->look.step_count; i++)
		write_step(search, i, &w);
	fg_json_end(&w);
	write_costs(search, &w);
	fg_json_text(&w, "good_code", search->good_code);
	fg_json_begin_array(&w, "commits");
	for (size_t i = 0; i < search->range.count; i++)
		write_commit(search, i, &w);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

/* ---- sentences ---- */

static void add_name(struct fg_strbuf *text, const char *name)
{
	fg_text_add_clean(text, name, strlen(name), SUBJECT_MAX);
}

static void add_subject(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	add_name(text, search->asked.benchmark ? search->asked.benchmark : "");
	fg_strbuf_add_text(text, ", ");
	if (search->asked.function) {
		add_name(text, search->asked.function);
		fg_strbuf_add_text(text, "()");
	} else {
		const struct fg_metric *metric = fg_metric_find_builtin(fg_search_subject(search));

		add_name(text, metric ? metric->label : fg_search_subject(search));
	}
}

static void add_nothing(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(text, "nothing to find: ");
	add_subject(search, text);
	fg_strbuf_printf(text, " is not slower at %.12s than at %.12s", search->range.bad,
			 search->range.good);
	if (isfinite(search->ends.smallest))
		fg_strbuf_printf(text, "; %s would have been seen",
				 fg_format_change(search->ends.smallest, words));
	fg_strbuf_add_char(text, '\n');
}

/* "the table is twice as large, by Ann Example: +30.1 % [+29.8, +30.4] against its parent". */
static void add_step(const struct fg_bisect_search *search, size_t index, struct fg_strbuf *text)
{
	const struct fg_bisect_step *step = &search->look.steps[index];
	const struct fg_range_commit *commit = &search->range.commits[step->last];
	const struct fg_search_verdict *verdict = &search->steps[index];
	char words[FG_NUMBER_TEXT_SIZE];

	add_name(text, commit->subject);
	fg_strbuf_add_text(text, ", by ");
	add_name(text, commit->author);
	if (step->first < step->last)
		fg_strbuf_printf(text, ", or one of the %zu before it that cannot be measured",
				 step->last - step->first);
	if (index >= search->confirmed || !isfinite(verdict->ratio)) {
		fg_strbuf_printf(text, ": %s", fg_format_change(exp(step->size) - 1, words));
		return;
	}
	fg_strbuf_printf(text, ": %s against its parent, %s",
			 fg_format_change(verdict->ratio - 1, words),
			 fg_outcome_name(verdict->outcome));
	if (verdict->function) {
		fg_strbuf_add_text(text, ", in ");
		add_name(text, verdict->function);
	}
	if (verdict->outcome == FG_OUTCOME_PLACEMENT)
		fg_strbuf_add_text(text, ": only its place in memory changed");
}

static void add_head(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	add_subject(search, text);
	fg_strbuf_printf(text, ": %s from %.12s to %.12s, %zu commits",
			 fg_format_change(exp(search->look.whole) - 1, words), search->range.good,
			 search->range.bad, search->range.count);
}

static void add_end(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	if (search->state != FG_SEARCH_FOUND)
		fg_strbuf_printf(text, "%s: %zu commits hold 95 %%; ",
				 search->state == FG_SEARCH_STOPPED
					 ? "the budget ended (--resume goes on)"
					 : "no commit is sure",
				 search->look.left);
	fg_strbuf_printf(text, "%.0f %% explained; %u builds, %u pairs, %s",
			 100 * search->look.explained, search->builds, search->pairs,
			 fg_format_duration(fg_search_seconds(search) * FG_NS_PER_S, words));
}

void fg_search_text(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	size_t shown = 0;

	if (search->state == FG_SEARCH_NOTHING) {
		add_nothing(search, text);
		return;
	}
	add_head(search, text);
	fg_strbuf_add_char(text, '\n');
	for (size_t i = 0; i < search->look.step_count; i++) {
		const struct fg_bisect_step *step = &search->look.steps[i];

		fg_strbuf_printf(text, "%3.0f %%  %.12s  ", 100 * step->probability,
				 search->range.commits[step->last].hash);
		add_step(search, i, text);
		fg_strbuf_add_char(text, '\n');
	}
	for (size_t i = 0;
	     i < search->range.count && shown < SHOWN_COMMITS && search->state != FG_SEARCH_FOUND;
	     i++) {
		if (!(probability_of(search, i) > least_shown))
			continue;
		fg_strbuf_printf(text, "%5.1f %%  %.12s  ", 100 * probability_of(search, i),
				 search->range.commits[i].hash);
		add_name(text, search->range.commits[i].subject);
		fg_strbuf_add_char(text, '\n');
		shown++;
	}
	add_end(search, text);
	fg_strbuf_add_char(text, '\n');
}

/* ---- Markdown and HTML ---- */

/* Every character that Markdown or HTML would act on becomes a reference. */
static void add_escaped(struct fg_strbuf *text, const char *plain)
{
	for (; *plain; plain++) {
		if (strchr("<>&\"'`*_[]()#@|\\~!:/", *plain))
			fg_strbuf_printf(text, "&#%d;", *plain);
		else
			fg_strbuf_add_char(text, *plain);
	}
}

/* Escapes what one of the functions above writes. */
static void add_sentence(const struct fg_bisect_search *search,
			 void (*add)(const struct fg_bisect_search *search, struct fg_strbuf *text),
			 struct fg_strbuf *text)
{
	struct fg_strbuf plain = {0};

	add(search, &plain);
	add_escaped(text, fg_strbuf_text(&plain));
	fg_strbuf_release(&plain);
}

static void add_escaped_step(const struct fg_bisect_search *search, size_t index,
			     struct fg_strbuf *text)
{
	struct fg_strbuf plain = {0};

	add_step(search, index, &plain);
	add_escaped(text, fg_strbuf_text(&plain));
	fg_strbuf_release(&plain);
}

void fg_search_markdown(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	if (search->state == FG_SEARCH_NOTHING) {
		add_sentence(search, add_nothing, text);
		return;
	}
	fg_strbuf_add_text(text, "### ");
	add_sentence(search, add_head, text);
	fg_strbuf_add_text(text, "\n\n| probability | commit | |\n|---|---|---|\n");
	for (size_t i = 0; i < search->look.step_count; i++) {
		const struct fg_bisect_step *step = &search->look.steps[i];

		fg_strbuf_printf(text, "| **%.0f %%** | %.12s | ", 100 * step->probability,
				 search->range.commits[step->last].hash);
		add_escaped_step(search, i, text);
		fg_strbuf_add_text(text, " |\n");
	}
	for (size_t i = 0; i < search->range.count && search->state != FG_SEARCH_FOUND; i++) {
		if (!(probability_of(search, i) > least_shown))
			continue;
		fg_strbuf_printf(text, "| %.1f %% | %.12s | ", 100 * probability_of(search, i),
				 search->range.commits[i].hash);
		add_escaped(text, search->range.commits[i].subject);
		fg_strbuf_add_text(text, " |\n");
	}
	fg_strbuf_add_char(text, '\n');
	add_sentence(search, add_end, text);
	fg_strbuf_add_char(text, '\n');
}

static void add_row(const struct fg_bisect_search *search, size_t index, struct fg_strbuf *text)
{
	const struct fg_range_commit *commit = &search->range.commits[index];
	const double probability = probability_of(search, index);
	const double shown = isfinite(probability) ? probability : 0;

	fg_strbuf_printf(text,
			 "<tr><td>%.12s</td><td><meter value=\"%.4f\"></meter> %.1f %%</td>"
			 "<td>%zu</td><td>",
			 commit->hash, shown, 100 * shown, search->model.commits[index].pair_count);
	add_escaped(text, commit->subject);
	fg_strbuf_add_text(text, "</td><td>");
	add_escaped(text, commit->author);
	fg_strbuf_add_text(text, "</td><td>");
	add_escaped(text, search->commits[index].error ? search->commits[index].error : "");
	fg_strbuf_add_text(text, "</td></tr>\n");
}

/* A page without scripts: nothing in it is executed. */
void fg_search_html(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	const struct fg_web_asset *style = fg_web_asset_find("style.css");

	fg_strbuf_add_text(text,
			   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			   "'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action "
			   "'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
			   "initial-scale=1\">\n<title>fastgate bisect</title>\n<style>");
	FG_ASSERT(style);
	fg_strbuf_add(text, style->data, style->size);
	fg_strbuf_add_text(text, "</style>\n</head>\n<body>\n<main>\n<h1>");
	add_sentence(search, search->state == FG_SEARCH_NOTHING ? add_nothing : add_head, text);
	fg_strbuf_add_text(text, "</h1>\n");
	for (size_t i = 0; i < search->look.step_count; i++) {
		fg_strbuf_printf(text, "<p><b>%.12s</b> ",
				 search->range.commits[search->look.steps[i].last].hash);
		add_escaped_step(search, i, text);
		fg_strbuf_add_text(text, "</p>\n");
	}
	if (search->state != FG_SEARCH_NOTHING) {
		fg_strbuf_add_text(text, "<p>");
		add_sentence(search, add_end, text);
		fg_strbuf_add_text(text, "</p>\n");
	}
	fg_strbuf_add_text(text, "<table>\n<tr><th>commit</th><th>probability</th><th>pairs</th>"
				 "<th>subject</th><th>author</th><th></th></tr>\n");
	for (size_t i = 0; i < search->range.count; i++)
		add_row(search, i, text);
	fg_strbuf_add_text(text, "</table>\n</main>\n</body>\n</html>\n");
}
