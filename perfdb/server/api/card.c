// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/card.h"

#include "reporters/card.h"

/*
 * Reads the run and its report's verdict. Returns false, with nothing to release, if either cannot
 * be read.
 */
static bool read_report(struct fg_store *store, const char *run, struct fg_stored_run *stored,
			struct fg_verdict *verdict)
{
	if (fg_store_load_run(store, run, stored, NULL) != FG_OK)
		return false;
	if (stored->report &&
	    fg_report_read(stored->report, strlen(stored->report), verdict, NULL) == FG_OK)
		return true;
	fg_stored_run_release(stored);
	return false;
}

/*
 * Returns the run's index and reads its report if needed; FG_CARD_RUNS if the report cannot be read
 * or the limit is reached.
 */
static size_t find(struct fg_cards *cards, const char *run)
{
	size_t i = 0;

	while (i < cards->count && strcmp(cards->items[i].run, run) != 0)
		i++;
	if (i == FG_CARD_RUNS)
		return i;
	if (i == cards->count) {
		(void)snprintf(cards->items[i].run, sizeof(cards->items[i].run), "%s", run);
		cards->items[i].is_known = read_report(cards->store, run, &cards->items[i].stored,
						       &cards->items[i].verdict);
		cards->count++;
	}
	return cards->items[i].is_known ? i : FG_CARD_RUNS;
}

void fg_cards_write(struct fg_cards *cards, const char *run, const char *benchmark,
		    struct fg_json_writer *w)
{
	const size_t found = find(cards, run);

	if (found == FG_CARD_RUNS)
		return;
	const struct fg_verdict *verdict = &cards->items[found].verdict;
	const struct fg_report report = {.run = &cards->items[found].stored.run,
					 .verdict = verdict};

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		if (strcmp(verdict->benchmarks[i].name, benchmark) == 0) {
			fg_card_write_json(&report, &verdict->benchmarks[i], w);
			return;
		}
	}
}

void fg_cards_release(struct fg_cards *cards)
{
	for (size_t i = 0; i < cards->count; i++) {
		if (!cards->items[i].is_known)
			continue;
		fg_verdict_release(&cards->items[i].verdict);
		fg_stored_run_release(&cards->items[i].stored);
	}
}

bool fg_cards_add_sentence(struct fg_store *store, const char *run, struct fg_strbuf *text)
{
	struct fg_stored_run stored = {0};
	struct fg_verdict verdict = {0};

	if (!read_report(store, run, &stored, &verdict))
		return false;
	fg_card_add_run_sentence(text, &verdict, NULL);
	fg_verdict_release(&verdict);
	fg_stored_run_release(&stored);
	return true;
}
