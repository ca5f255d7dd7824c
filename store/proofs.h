/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that prove the gate (gate/prove.h), by runner. Runs on the same card are counted together.
 */
#ifndef FG_STORE_PROOFS_H
#define FG_STORE_PROOFS_H

#include "base/arena.h"
#include "base/error.h"

struct fg_store;

struct fg_stored_proof {
	const char *card;        /* id of the card */
	const char *fingerprint; /* fingerprint of the runner */
	int64_t at_ns;           /* wall clock */
	const char *data;        /* JSON: gate/prove_json.h */
};

struct fg_stored_proofs {
	struct fg_stored_proof *items;
	size_t count;
	size_t capacity;
	struct fg_arena texts;
};

int fg_store_add_proof(struct fg_store *store, const char *project,
		       const struct fg_stored_proof *proof, struct fg_error *err) FG_NODISCARD;
/*
 * Lists the runs of the runner's newest card, oldest first; an empty list if the runner has no
 * card.
 */
int fg_store_proofs(struct fg_store *store, const char *project, const char *fingerprint,
		    struct fg_stored_proofs *list, struct fg_error *err) FG_NODISCARD;
/*
 * Stores a card on a server, which keeps the newest card of each runner: `data` is the card, `card`
 * is NULL. FG_ENOENT: no such project.
 */
int fg_store_put_card(struct fg_store *store, const char *project,
		      const struct fg_stored_proof *card, struct fg_error *err) FG_NODISCARD;
/* Lists the cards of a project, newest first. */
int fg_store_cards(struct fg_store *store, const char *project, struct fg_stored_proofs *list,
		   struct fg_error *err) FG_NODISCARD;
void fg_stored_proofs_release(struct fg_stored_proofs *list);

#endif
