// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/cause.h"

#include "reporters/reporter.h"
#include "store/store.h"

/* NULL: the run has no report that can be read, or enough were read. */
static const struct fg_verdict *verdict_of(struct fg_causes *causes, const char *run)
{
	struct fg_stored_run stored = {0};
	struct fg_verdict *verdict = NULL;

	for (size_t i = 0; i < causes->count; i++) {
		if (strcmp(causes->items[i].run, run) == 0)
			return &causes->items[i].verdict;
	}
	if (causes->count == FG_CAUSE_RUNS)
		return NULL;
	(void)snprintf(causes->items[causes->count].run, sizeof(causes->items[0].run), "%s", run);
	verdict = &causes->items[causes->count++].verdict;
	if (fg_store_load_run(causes->store, run, &stored, NULL) != FG_OK)
		return verdict;
	if (stored.report &&
	    fg_report_read(stored.report, strlen(stored.report), verdict, NULL) != FG_OK)
		*verdict = (struct fg_verdict){0};
	fg_stored_run_release(&stored);
	return verdict;
}

static const struct fg_node_verdict *guilty_in(const struct fg_verdict *verdict,
					       const char *benchmark)
{
	for (size_t i = 0; verdict && i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *b = &verdict->benchmarks[i];

		if (strcmp(b->name, benchmark) != 0)
			continue;
		for (size_t f = 0; f < b->time.function_count; f++) {
			if (b->time.functions[f].standing == FG_STANDING_GUILTY)
				return &b->time.functions[f];
		}
	}
	return NULL;
}

void fg_cause_write(struct fg_causes *causes, const char *run, const char *benchmark,
		    struct fg_json_writer *w)
{
	const struct fg_node_verdict *guilty = guilty_in(verdict_of(causes, run), benchmark);

	if (!guilty)
		return;
	fg_json_begin_object(w, "cause");
	fg_json_text(w, "function", guilty->name);
	fg_json_text(w, "library", guilty->library);
	fg_json_text(w, "file", guilty->source ? guilty->source->file : guilty->file);
	fg_json_int(w, "line", guilty->line);
	fg_json_double(w, "delta", guilty->delta);
	fg_json_text(w, "unit", guilty->unit);
	fg_json_end(w);
}

void fg_causes_release(struct fg_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		fg_verdict_release(&causes->items[i].verdict);
}
