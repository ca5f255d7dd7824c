/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receipt: a verdict with all that it rests on, as JSON that shows any change to it
 * (docs/formats/receipt.schema.json).
 *
 * The canonical form has its members sorted by name, no blanks, and the shortest numbers that read
 * back the same; `digest` is the SHA-256 of the canonical form without itself.
 */
#ifndef FG_CLI_SESSION_RECEIPT_H
#define FG_CLI_SESSION_RECEIPT_H

#include "base/json.h"
#include "cli/session/ledger.h"

/* Writes the receipt of a run whose claims are in the ledger. */
int fg_receipt_write(const struct fg_session *session, const struct fg_ledger *ledger,
		     const char *path, struct fg_error *err) FG_NODISCARD;
/* Prints the run's claims, and how many are proven on the branch, one line each. */
void fg_receipt_tell(const struct fg_session *session, const struct fg_ledger *ledger);
/* FG_EPARSE: not a receipt, or it was changed. Free it with cJSON_Delete(). */
int fg_receipt_read(const char *path, cJSON **receipt, struct fg_error *err) FG_NODISCARD;

#endif
