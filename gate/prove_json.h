/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that prove the gate, and their card, as JSON: docs/formats/prove.schema.json. */
#ifndef FG_GATE_PROVE_JSON_H
#define FG_GATE_PROVE_JSON_H

#include "base/json.h"
#include "base/json_write.h"
#include "gate/prove.h"

void fg_proof_write(struct fg_json_writer *w, const char *name, const struct fg_proof *proof);
/* Strings are copied into the arena. FG_EPARSE: the JSON does not describe a run. */
int fg_proof_read(const char *text, size_t size, struct fg_arena *arena, struct fg_proof *proof,
		  struct fg_error *err) FG_NODISCARD;
/* Writes the card's members into an open object. */
void fg_proof_card_write(struct fg_json_writer *w, const struct fg_proof_card *card);

#endif
