/* SPDX-License-Identifier: Apache-2.0 */
/* The answer cards of stored runs, made from their reports. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_API_CARD_H
#define FG_PERFDB_SERVER_API_CARD_H

#include "base/json_write.h"
#include "model/verdict.h"
#include "store/store.h"

enum {
	FG_CARD_RUNS = 8 /* maximum number of reports read for one request */
};

/* Runs read so far; starts zeroed. */
struct fg_cards {
	struct fg_store *store;
	struct {
		struct fg_stored_run stored;
		struct fg_verdict verdict;
		bool is_known;
		char run[37];
	} items[FG_CARD_RUNS];
	size_t count;
};

/* Writes the member "answer" for this benchmark of the run, unless nothing is known. */
void fg_cards_write(struct fg_cards *cards, const char *run, const char *benchmark,
		    struct fg_json_writer *w);
void fg_cards_release(struct fg_cards *cards);

/* Appends the sentence about a whole run; false if the run has no readable report. */
bool fg_cards_add_sentence(struct fg_store *store, const char *run, struct fg_strbuf *text);

#endif
