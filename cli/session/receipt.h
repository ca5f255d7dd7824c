/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receipt holds a run's verdict, builds, host, rules and claims, as JSON with a digest that no
 * longer matches after a change (docs/formats/receipt.schema.json). The canonical form has members
 * sorted by name, no blanks, and the shortest numbers that read back the same; `digest` is the
 * SHA-256 of the canonical form without `digest`.
 */
#ifndef FG_CLI_SESSION_RECEIPT_H
#define FG_CLI_SESSION_RECEIPT_H

#include "base/hash.h"
#include "base/json.h"
#include "cli/session/session.h"
#include "gate/ledger.h"

/* ---- the ledger ---- */

/* A claim about two builds, over all runs that measured them. */
struct fg_ledger_claim {
	const char *benchmark;
	const char *code[FG_ARM_COUNT]; /* digests of both builds */
	enum fg_claim claim;
	size_t number;   /* number among the branch's claims, from 1 */
	size_t attempt;  /* number among this benchmark's builds, from 1 */
	double evidence; /* logarithm of the e-value */
	const char *run; /* newest run */
	double run_evidence;
	bool is_confirmed; /* confirmed by the newest verdict */
	bool is_own;       /* belongs to the run being added */
};

struct fg_ledger {
	char *path;
	char *branch;
	char *base; /* commit of the merge base */
	struct fg_ledger_claim *claims;
	size_t count;
	size_t capacity;
	size_t attempts;               /* largest number of attempts of any benchmark */
	size_t lines;                  /* lines of the file */
	char head[FG_SHA256_HEX_SIZE]; /* digest of the file's last line; "" if empty */
	/* for fg_ledger_find(): the line to look for, its digest, and the result */
	size_t wanted_line;
	const char *wanted_head;
	bool is_found;
	struct fg_arena arena;
};

/*
 * Reads the claims that were made on the current branch or with its merge base. FG_EPARSE: the file
 * was changed. The caller releases the ledger in any case.
 */
int fg_ledger_load(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
	FG_NODISCARD;
/* Reloads the ledger and appends the claims of the session's run, which must have a verdict. */
int fg_ledger_add(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
	FG_NODISCARD;
/*
 * Reads the ledger at `path` for the branch of a receipt, and looks for the line after which the
 * receipt was written. Errors and release are as for fg_ledger_load().
 */
int fg_ledger_find(const char *path, const cJSON *receipt, struct fg_ledger *ledger,
		   struct fg_error *err) FG_NODISCARD;
void fg_ledger_release(struct fg_ledger *ledger);

/* ---- the receipt ---- */

/* Writes the receipt of a run whose claims are in the ledger. */
int fg_receipt_write(const struct fg_session *session, const struct fg_ledger *ledger,
		     const char *path, struct fg_error *err) FG_NODISCARD;
/* Prints one line per claim of the run, and how many claims are proven on the branch. */
void fg_receipt_print(const struct fg_session *session, const struct fg_ledger *ledger);
/* FG_EPARSE: not a receipt, or it was changed. Free the receipt with cJSON_Delete(). */
int fg_receipt_read(const char *path, cJSON **receipt, struct fg_error *err) FG_NODISCARD;

#endif
