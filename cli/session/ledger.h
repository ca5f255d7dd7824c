/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a branch: every claim of every run against a commit, in .fastgate/ledger.
 *
 * One line of JSON per claim and run, appended under a lock and never changed; each line has the
 * digest of the line before it, so an edited ledger is noticed. A branch's ledger begins anew with
 * each merge base. gate/ledger.h has the rule.
 */
#ifndef FG_CLI_SESSION_LEDGER_H
#define FG_CLI_SESSION_LEDGER_H

#include "base/hash.h"
#include "cli/session/session.h"
#include "gate/ledger.h"

/* A claim about two builds, over all runs that measured them. */
struct fg_ledger_claim {
	const char *benchmark;
	const char *code[FG_ARM_COUNT]; /* digests of both builds */
	enum fg_claim claim;
	size_t number;   /* among the claims of the branch, from 1 */
	size_t attempt;  /* among the builds of this benchmark, from 1 */
	double evidence; /* logarithm of the e-value */
	const char *run; /* the newest one */
	double run_evidence;
	bool is_said; /* by the newest verdict */
	bool is_own;  /* of the run that is added */
};

struct fg_ledger {
	char *path;
	char *branch;
	char *base; /* commit */
	struct fg_ledger_claim *claims;
	size_t count;
	size_t capacity;
	size_t attempts;               /* the most of any benchmark */
	size_t lines;                  /* of the file */
	char head[FG_SHA256_HEX_SIZE]; /* digest of the file's last line; empty: none */
	struct fg_arena arena;
};

bool fg_ledger_is_proven(const struct fg_ledger_claim *claim);
/*
 * Reads the ledger of the branch that is checked out. FG_EPARSE: the file was changed. Release it
 * either way.
 */
int fg_ledger_load(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
	FG_NODISCARD;
/* Loads it anew and appends the claims of the session's run, whose verdict has been made. */
int fg_ledger_add(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
	FG_NODISCARD;
void fg_ledger_release(struct fg_ledger *ledger);

/* The digest of what a side of a benchmark executes: its build-ids, or else its commit. */
void fg_ledger_code(const struct fg_run *run, const struct fg_series *series, enum fg_arm arm,
		    char code[FG_SHA256_HEX_SIZE]);

#endif
