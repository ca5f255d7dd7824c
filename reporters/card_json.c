// SPDX-License-Identifier: Apache-2.0
#include "base/json_exchange.h"
#include "model/links.h"
#include "reporters/card.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

enum {
	MAX_CAUSES = 3,
	NAME_COLUMNS = 200,
	MAX_PLACE_BYTES = 300,
};

static void add_url(struct fg_json_writer *w, struct fg_strbuf *url)
{
	if (url->length > 0)
		fg_json_text(w, "url", fg_strbuf_text(url));
	fg_strbuf_release(url);
}

/* Writes the lines that exist on one side, with their costs on this side. */
static void add_lines(struct fg_json_writer *w, const char *name, const struct fg_hunk *hunk,
		      size_t side)
{
	fg_json_begin_array(w, name);
	for (size_t i = 0; i < hunk->count; i++) {
		const struct fg_source_row *row = hunk->rows[i];

		if (row->line[side] == 0)
			continue;
		fg_json_begin_object(w, NULL);
		fg_json_int(w, "line", (int64_t)row->line[side]);
		fg_json_double(w, "cost_ms", row->cost[side]);
		fg_json_text(w, "text", row->text);
		fg_json_end(w);
	}
	fg_json_end(w);
}

void fg_card_write_mechanism(const struct fg_mechanism *mechanism, struct fg_json_writer *w)
{
	const struct fg_exchange with = {.w = w};

	(void)fg_exchange_object(&with, "mechanism", mechanism, sizeof(*mechanism),
				 fg_mechanism_exchange);
}

/* Cuts the name, which can be 60 KB long; the list of functions has the full name. */
static void add_name(struct fg_json_writer *w, const char *key, const char *name)
{
	struct fg_strbuf text = {0};

	fg_report_add_name(&text, name, NAME_COLUMNS);
	fg_json_text(w, key, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

static void add_place(struct fg_json_writer *w, const struct fg_report *report,
		      const struct fg_node_verdict *node)
{
	const char *file = node->source ? node->source->file : node->file;
	struct fg_strbuf url = {0};

	if (file)
		fg_json_text_sized(w, "file", file, strnlen(file, MAX_PLACE_BYTES));
	else
		fg_json_null(w, "file");
	if (node->line > 0)
		fg_json_int(w, "line", (int64_t)node->line);
	else
		fg_json_null(w, "line");
	if (file && strlen(file) < MAX_PLACE_BYTES)
		(void)fg_web_link_place(report->run, file, node->line, &url);
	add_url(w, &url);
}

static void add_cause(struct fg_json_writer *w, const struct fg_report *report,
		      const struct fg_node_verdict *node)
{
	const struct fg_path_verdict *path = node->path_count > 0 ? &node->paths[0] : NULL;
	struct fg_hunk hunk = {0};

	if (node->source)
		fg_hunk_take(node->source, FG_CARD_LINES, &hunk);
	fg_json_begin_object(w, NULL);
	add_name(w, "function", node->name);
	add_name(w, "library", node->library ? node->library : "");
	add_place(w, report, node);
	fg_json_double(w, "delta", node->delta);
	fg_json_text(w, "unit", node->unit);
	if (path && path->frame_count > 1)
		add_name(w, "called_from", path->frames[path->frame_count - 2]);
	fg_card_write_mechanism(node->mechanism, w);
	add_lines(w, "before", &hunk, 0);
	add_lines(w, "after", &hunk, 1);
	fg_json_end(w);
}

static void add_causes(struct fg_json_writer *w, const struct fg_report *report,
		       const struct fg_card *card)
{
	const struct fg_benchmark_verdict *benchmark = card->benchmark;
	const struct fg_blame *blame =
		benchmark && card->culprit ? fg_report_blame(benchmark, 0) : NULL;
	size_t count = 0;

	fg_json_begin_array(w, "because");
	for (size_t i = 0; blame && i < blame->function_count && count < MAX_CAUSES; i++) {
		if (blame->functions[i].standing != card->culprit->standing)
			continue;
		add_cause(w, report, &blame->functions[i]);
		count++;
	}
	fg_json_end(w);
}

static void add_fact(struct fg_json_writer *w, const char *name, const struct fg_side *side,
		     const char *key)
{
	const char *value = fg_environment_get(&side->build, key);

	if (value)
		fg_json_text_sized(w, name, value, strnlen(value, MAX_PLACE_BYTES));
	else
		fg_json_null(w, name);
}

static void add_commit(struct fg_json_writer *w, const struct fg_run *run)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	struct fg_strbuf url = {0};

	if (!candidate->commit)
		return;
	fg_json_begin_object(w, "commit");
	fg_json_text(w, "id", candidate->commit);
	fg_json_bool(w, "dirty", candidate->dirty);
	add_fact(w, "subject", candidate, "git.subject");
	add_fact(w, "author", candidate, "git.author");
	add_fact(w, "pull_request", candidate, "git.pull_request");
	(void)fg_web_link_commit(run, FG_ARM_CANDIDATE, &url);
	add_url(w, &url);
	fg_json_end(w);
}

static void add_figures(struct fg_json_writer *w, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	if (!metric || !fg_report_has_change(metric))
		return;
	fg_json_text(w, "metric", metric->name);
	fg_json_double(w, "change", metric->ratio - 1);
	fg_json_pair(w, "interval", metric->low - 1, metric->high - 1);
	fg_json_int(w, "pairs", (int64_t)benchmark->pairs);
	if (!metric->probability.is_known)
		return;
	fg_json_begin_object(w, "probability");
	fg_json_double(w, "slower", metric->probability.slower);
	fg_json_double(w, "beyond_min_effect", metric->probability.beyond);
	fg_json_end(w);
}

/* Writes the culprit's lines as text, as in other formats. */
static void add_hunk(struct fg_json_writer *w, const struct fg_card *card)
{
	fg_json_begin_array(w, "lines");
	for (size_t i = 0; i < card->hunk.count; i++) {
		struct fg_strbuf line = {0};

		fg_hunk_add_line(&line, &card->hunk, i, 0);
		fg_json_text(w, NULL, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
	fg_json_end(w);
}

static void add_next(struct fg_json_writer *w, const struct fg_card *card)
{
	if (card->change)
		fg_json_text(w, "since", card->change);
	if (card->next_count == 0)
		return;
	fg_json_begin_array(w, "next");
	for (size_t i = 0; i < card->next_count; i++) {
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "what", card->next[i].what);
		fg_json_text(w, strcmp(card->next[i].what, "see") == 0 ? "url" : "command",
			     card->next[i].text);
		fg_json_end(w);
	}
	fg_json_end(w);
}

void fg_card_write_json(const struct fg_report *report,
			const struct fg_benchmark_verdict *benchmark, struct fg_json_writer *w)
{
	struct fg_arena arena = {0};
	struct fg_card card;

	fg_card_make(report, benchmark, &arena, &card);
	fg_json_begin_object(w, "answer");
	fg_json_text(w, "sentence", card.sentence);
	if (card.benchmark) {
		if (!benchmark)
			add_name(w, "benchmark", card.benchmark->name);
		fg_json_text(w, "state", fg_report_state(card.benchmark));
		add_figures(w, card.benchmark);
	}
	add_causes(w, report, &card);
	add_hunk(w, &card);
	if (!benchmark)
		add_commit(w, report->run);
	add_next(w, &card);
	fg_json_end(w);
	fg_arena_release(&arena);
}
