// SPDX-License-Identifier: Apache-2.0
/* A project at a glance: open changes with their owners, and the state of each benchmark. */
#include "gate/chain.h"
#include "perfdb/server/api/card.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/api/links.h"
#include "perfdb/server/watcher.h"
#include "store/serving/overview.h"
#include "store/store.h"

#include <math.h>

enum {
	RUNS_DEFAULT = 30,
	RUNS_MAX = 300,
	MIN_CHAINED = 3,     /* minimum length of a chain, in commits, as on the trend page */
	INTERVAL_ERRORS = 7, /* approximate width of an interval, in standard errors */
};

/* One request: the data loaded for the project, and the JSON written so far. */
struct dashboard {
	struct fg_request *rq;
	const char *project;
	struct fg_annotation_list annotations; /* newest first */
	struct fg_cards cards;
	const char *links[FG_WEB_LINK_COUNT];
	struct fg_json_writer w;
	bool is_pending;
};

static bool is_text(const char *text, const char *expected)
{
	return text && strcmp(text, expected) == 0;
}

static const struct fg_annotation *decision_on(const struct dashboard *d,
					       const struct fg_overview_row *row, const char *run)
{
	for (size_t i = 0; i < d->annotations.count; i++) {
		const struct fg_annotation *a = &d->annotations.items[i];

		if (!is_text(a->kind, "note") && is_text(a->run, run) &&
		    is_text(a->benchmark, row->name) && is_text(a->metric, row->metric))
			return a;
	}
	return NULL;
}

/* Writes the run at which a change begins, with commit, author and function. */
static void write_origin(struct dashboard *d, const struct fg_overview_row *row,
			 const struct fg_watched_change *change)
{
	struct fg_run_list found = {0};
	const char *by = NULL;

	fg_json_time(&d->w, "started_at", change->started_ns);
	if (fg_store_run_summary(d->rq->store, change->run, &found, NULL) == FG_OK && found.count) {
		fg_json_text(&d->w, "commit", found.items[0].commit);
		fg_json_bool(&d->w, "dirty", found.items[0].dirty);
		fg_json_text(&d->w, "subject", found.items[0].subject);
	}
	fg_run_list_release(&found);
	if (fg_store_candidate_fact(d->rq->store, change->run, "git.author", &d->rq->arena, &by,
				    NULL) == FG_OK)
		fg_json_text(&d->w, "commit_author", by);
	if (change->from_gate)
		fg_cards_write(&d->cards, change->run, row->name, &d->w);
}

static void write_change(struct dashboard *d, const struct fg_overview_row *row,
			 const struct fg_watched_change *change)
{
	const struct fg_annotation *decision = decision_on(d, row, change->run);
	struct fg_json_writer *w = &d->w;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "run", change->run);
	fg_json_text(w, "last_run_before", change->last[0] ? change->last : NULL);
	fg_json_double(w, "before", change->before);
	fg_json_double(w, "after", change->after);
	fg_json_double(w, "ratio",
		       fabs(change->before) > 0 ? change->after / change->before : (double)NAN);
	fg_json_text(w, "found_by", change->from_gate ? "gate" : "history");
	if (change->from_gate) {
		fg_json_bool(w, "confirmed", change->is_confirmed);
		fg_json_pair(w, "interval", change->low, change->high);
		fg_json_text(w, "reverted_by", change->reverted_by[0] ? change->reverted_by : NULL);
	}
	fg_json_text(w, "state", decision ? decision->kind : "new");
	fg_json_text(w, "note", decision ? decision->text : NULL);
	fg_json_text(w, "author", decision ? decision->author : NULL);
	write_origin(d, row, change);
	fg_json_end(w);
}

static void write_changes(struct dashboard *d, const struct fg_overview_row *row)
{
	const struct fg_watch_place place = {.project = d->project,
					     .benchmark = row->name,
					     .metric = row->metric,
					     .series = row->series};
	struct fg_watched watched = {0};

	if (!fg_watcher_look(d->rq->server->watcher, &place, &watched))
		d->is_pending = true;
	fg_json_begin_array(&d->w, "changes");
	for (size_t i = 0; i < watched.count; i++)
		write_change(d, row, &watched.changes[i]);
	fg_json_end(&d->w);
}

/* Collects the steps between commits that the newest runs measured; returns their number. */
static size_t take_steps(const struct fg_history *history, struct fg_chain_edge *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct fg_history_point *point = &history->points[i];
		const double width = log(point->high / point->low);

		if (!point->commit || !point->base_commit || point->dirty || !(point->ratio > 0) ||
		    !isfinite(point->ratio))
			continue;
		steps[count++] = (struct fg_chain_edge){
			.run = point->run,
			.from = point->base_commit,
			.to = point->commit,
			.change = log(point->ratio),
			.error = isfinite(width) ? fabs(width) / INTERVAL_ERRORS : 1,
		};
	}
	return count;
}

/*
 * Writes the level of each commit, computed from pairs, as on the trend page. Writes raw values if
 * fewer than MIN_CHAINED commits are connected.
 */
static void write_levels(struct dashboard *d, const struct fg_history *history)
{
	struct fg_chain_edge *steps = fg_xcalloc(history->count + 1, sizeof(steps[0]));
	struct fg_chain chain = {0};
	struct fg_json_writer *w = &d->w;

	fg_chain_build(steps, take_steps(history, steps), NULL, &chain);
	fg_json_begin_array(w, "levels");
	for (size_t i = 0; chain.count >= MIN_CHAINED && i < chain.count; i++)
		fg_json_double(w, NULL, exp(fg_chain_sum(&chain, 0, i, FG_CHAIN_ALL).change));
	for (size_t i = 0; chain.count < MIN_CHAINED && i < history->count; i++)
		fg_json_double(w, NULL, history->points[i].candidate);
	fg_json_end(w);
	fg_chain_release(&chain);
	free(steps);
}

/* Writes the verdict of the newest run that has a value. */
static void write_newest(struct dashboard *d, const struct fg_overview_row *row)
{
	const struct fg_history_point *newest =
		row->history.count ? &row->history.points[row->history.count - 1] : NULL;
	struct fg_json_writer *w = &d->w;

	if (!newest)
		return;
	fg_json_bool(w, "measured", strcmp(newest->run, row->run) == 0);
	fg_json_text(w, "unit", row->history.unit);
	fg_json_text(w, "better", row->history.better == FG_BETTER_HIGHER ? "higher" : "lower");
	fg_json_text(w, "verdict", newest->outcome);
	/* The value follows the verdict's ratio: plain medians differ by chance. */
	fg_json_double(w, "value",
		       isfinite(newest->ratio) && isfinite(newest->baseline)
			       ? newest->baseline * newest->ratio
			       : newest->candidate);
	fg_json_double(w, "ratio", newest->ratio);
	fg_json_pair(w, "interval", newest->low, newest->high);
	if (newest->outcome && strcmp(newest->outcome, "pass") != 0)
		fg_cards_write(&d->cards, newest->run, row->name, w);
}

static void write_row(struct dashboard *d, const struct fg_overview_row *row)
{
	struct fg_json_writer *w = &d->w;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", row->name);
	fg_json_text(w, "metric", row->metric);
	fg_json_text(w, "label", row->label);
	fg_json_text(w, "run", row->run);
	fg_json_time(w, "started_at", row->started_ns);
	fg_json_text(w, "commit", row->commit);
	fg_json_bool(w, "dirty", row->dirty);
	fg_json_text(w, "branch", row->branch);
	fg_json_text(w, "subject", row->subject);
	write_newest(d, row);
	write_levels(d, &row->history);
	if (row->metric && row->history.count)
		write_changes(d, row);
	fg_json_end(w);
}

static void write_all(struct dashboard *d, const struct fg_overview *overview)
{
	struct fg_json_writer *w = &d->w;

	fg_request_json(d->rq, w);
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "project", d->project);
	if (overview->release_tag) {
		fg_json_begin_object(w, "release");
		fg_json_text(w, "tag", overview->release_tag);
		fg_json_text(w, "run", overview->release_run);
		fg_json_end(w);
	}
	fg_links_write(d->links, w);
	fg_json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < overview->count; i++)
		write_row(d, &overview->items[i]);
	fg_json_end(w);
	fg_json_bool(w, "pending", d->is_pending);
	fg_json_end(w);
}

int fg_handle_dashboard(struct fg_request *rq, struct fg_error *err)
{
	struct dashboard d = {.rq = rq, .cards = {.store = rq->store}};
	struct fg_overview overview = {0};
	size_t runs = RUNS_DEFAULT;
	int status = FG_OK;

	FG_TRY(fg_request_project(rq, &d.project, err));
	FG_TRY(fg_request_size(rq, "runs", RUNS_MAX, &runs, err));
	FG_TRY(fg_store_overview(rq->store, d.project, runs ? runs : 1, &overview, err));
	FG_TRY_OUT(fg_store_annotations(rq->store, d.project, NULL, NULL, &d.annotations, err));
	FG_TRY_OUT(fg_links_read(rq, fg_overview_newest(&overview), d.links, err));
	write_all(&d, &overview);
out:
	fg_cards_release(&d.cards);
	fg_annotation_list_release(&d.annotations);
	fg_overview_release(&overview);
	return status;
}
