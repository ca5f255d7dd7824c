// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/server/api/card.h"
#include "perfdb/server/watcher.h"
#include "perfdb/server/webhook.h"
#include "store/store.h"

#include <math.h>

enum {
	NAME_MAX_BYTES = 200,
	SUMMARY_MAX_BYTES = 2000,
};

/* Appends text as JSON, but without the quotes around it and without control characters. */
static void add_value(struct fg_strbuf *body, const char *value, size_t limit)
{
	struct fg_strbuf clean = {0};
	struct fg_strbuf quoted = {0};
	struct fg_json_writer w;

	fg_text_add_clean(&clean, value ? value : "", value ? strlen(value) : 0, limit);
	fg_json_writer_init(&w, &quoted, 0);
	fg_json_begin_array(&w, NULL);
	fg_json_text(&w, NULL, fg_strbuf_text(&clean));
	fg_json_end(&w);
	fg_strbuf_add(body, quoted.data + 2, quoted.length - 4);
	fg_strbuf_release(&quoted);
	fg_strbuf_release(&clean);
}

void fg_webhook_fill(const char *template, const struct fg_webhook_values *values,
		     struct fg_strbuf *body)
{
	const struct {
		const char *name;
		const char *value;
		size_t limit;
	} places[] = {
		{"{branch}", values->branch, NAME_MAX_BYTES},
		{"{commit}", values->commit, NAME_MAX_BYTES},
		{"{project}", values->project, NAME_MAX_BYTES},
		{"{run}", values->run, NAME_MAX_BYTES},
		{"{summary}", values->summary, SUMMARY_MAX_BYTES},
		{"{url}", values->url, SUMMARY_MAX_BYTES},
		{"{verdict}", values->verdict, NAME_MAX_BYTES},
	};

	while (*template) {
		size_t i = 0;

		while (i < FG_ARRAY_SIZE(places) && !fg_text_starts_with(template, places[i].name))
			i++;
		if (i == FG_ARRAY_SIZE(places)) {
			fg_strbuf_add_char(body, *template ++);
			continue;
		}
		add_value(body, places[i].value, places[i].limit);
		template += strlen(places[i].name);
	}
}

static int add_change(struct fg_store *store, const struct fg_run *run,
		      const struct fg_series *series, const struct fg_metric *metric,
		      struct fg_strbuf *summary, struct fg_error *err)
{
	const struct fg_watch_place place = {
		.project = run->project, .benchmark = series->name, .metric = metric->name};
	struct fg_watched_change c;
	char change[FG_NUMBER_TEXT_SIZE];

	FG_TRY(fg_watcher_confirmed(store, &place, run->id, &c, err));
	if (*c.run && fabs(c.after - c.before) >= metric->min_effect * fabs(c.before))
		fg_strbuf_printf(summary, "%schange point: %s %s %s", summary->length ? "; " : "",
				 series->name, metric->label,
				 fg_format_change(c.after / c.before - 1, change));
	return FG_OK;
}

static int add_changes(struct fg_store *store, const struct fg_run *run,
		       const struct fg_series *series, struct fg_strbuf *summary,
		       struct fg_error *err)
{
	int status = FG_OK;

	for (size_t m = 0; m < series->metric_count && status == FG_OK; m++) {
		if (series->metrics[m].gated)
			status = add_change(store, run, series, &series->metrics[m], summary, err);
	}
	return status;
}

int fg_webhook_message(struct fg_store *store, const struct fg_webhook_call *call,
		       const char *public_url, struct fg_strbuf *body, struct fg_error *err)
{
	size_t length = public_url ? strlen(public_url) : 0;
	struct fg_stored_run stored = {0};
	struct fg_strbuf summary = {0};
	const char *verdict = NULL;
	int status = fg_store_load_run(store, call->run, &stored, err);

	if (status != FG_OK)
		return status == FG_ENOENT ? FG_OK
					   : status; /* the run was removed in the meantime */
	if (stored.outcome &&
	    (strcmp(stored.outcome, "regression") == 0 || strcmp(stored.outcome, "creep") == 0 ||
	     strcmp(stored.outcome, "error") == 0))
		verdict = stored.outcome;
	if (verdict)
		(void)fg_cards_add_sentence(store, call->run, &summary);
	for (size_t i = 0; i < stored.run.series_count && status == FG_OK; i++)
		status = add_changes(store, &stored.run, &stored.run.series[i], &summary, err);
	if (status == FG_OK && (verdict || summary.length)) {
		const struct fg_side *side = &stored.run.sides[FG_ARM_CANDIDATE];
		char *url = NULL;

		length -= length && public_url[length - 1] == '/';
		url = fg_xasprintf("%.*s/?view=run&run=%s", (int)length,
				   public_url ? public_url : "", call->run);
		fg_webhook_fill(call->hook.template,
				&(struct fg_webhook_values){
					.branch = side->branch,
					.commit = side->commit,
					.project = call->project,
					.run = call->run,
					.summary = fg_strbuf_text(&summary),
					.url = url,
					.verdict = verdict ? verdict : "change",
				},
				body);
		free(url);
	}
	fg_strbuf_release(&summary);
	fg_stored_run_release(&stored);
	return status;
}
