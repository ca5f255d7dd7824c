/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes runs whose correct outcome is known, to prove the gate on this project and this runner.
 * Each is a complete run of one benchmark: HEAD against a separate build of HEAD, which may be
 * relinked or have a planted slowdown (runner/build/plant.h), or HEAD against its own earlier runs.
 * gate/prove.h makes the card from these runs.
 *
 *	fg_prove_run() → fg_prove_write() or fg_prove_json() → fg_prove_release()
 */
#ifndef FG_CLI_PROVE_PROVE_H
#define FG_CLI_PROVE_PROVE_H

#include "base/json_write.h"
#include "cli/session/session.h"
#include "gate/prove.h"
#include "store/proofs.h"

enum {
	FG_PROVE_FUNCTIONS = 8,
};

struct fg_prove_request {
	const char *benchmark; /* NULL: all benchmarks */
	int64_t budget_ns;     /* a run starts only if it will probably end within this time */
	bool nightly;          /* add to the newest card of this runner */
};

/* A function that may be slowed down. */
struct fg_prove_function {
	const char *name;    /* as shown in reports */
	const char *symbol;  /* NULL: the sampler delays the whole program */
	const char *library; /* base name of the file that contains the function */
	double self_ns;
};

/* A benchmark, and the function that is slowed down. */
struct fg_prove_subject {
	const struct fg_benchmark *benchmark;
	struct fg_prove_function functions[FG_PROVE_FUNCTIONS]; /* of the first run, by time */
	size_t function_count;
	const struct fg_prove_function *chosen; /* NULL: no function */
	/* relative slowdown per loop iteration in each call, or per millionth of delay */
	double per_iteration;
	const char *not_relinked; /* reason why the build cannot be linked again, or NULL */
	const char *not_planted;  /* reason why no function is slowed down, or NULL */
};

struct fg_prove {
	struct fg_cli *cli;
	struct fg_plan *plan; /* the plan's arena holds all strings */
	struct fg_prove_request request;
	char *state_folder;
	struct fg_prove_subject *subjects;
	size_t subject_count;
	struct fg_proof *proofs;
	size_t proof_count;
	size_t proof_capacity;
	char fingerprint[17];   /* fingerprint of the runner */
	char card_id[37];       /* runs with this id make one card */
	struct fg_store *store; /* NULL: results are not stored */
	const char *ref;        /* git ref to prove with; NULL: HEAD */
	bool uses_stored;       /* fastgate.yml gates against stored runs */
	const char *commit;
	uint64_t seed;
	int64_t started_ns; /* monotonic clock */
	struct fg_proof_card card;
};

/*
 * FG_EINTERRUPTED: the card covers the runs so far. FG_EINVAL: the benchmark is unknown, or the
 * budget is too small for one run. Changes `plan`, whose baseline becomes HEAD.
 */
int fg_prove_run(struct fg_prove *prove, struct fg_cli *cli, struct fg_plan *plan,
		 const struct fg_prove_request *request, struct fg_error *err) FG_NODISCARD;
void fg_prove_release(struct fg_prove *prove);

/* ---- hidden.c ---- */

/*
 * For `gate.prove`: makes one more run of `ref`, chosen by `seed`, and adds it to the newest card
 * of this runner. Problems, and a broken gate, are only warnings.
 */
void fg_prove_hidden(struct fg_cli *cli, struct fg_plan *plan, const char *ref, uint64_t seed);

/* ---- store.c ---- */

/* Opens the plan's store; with `nightly` it loads the proofs of the newest card. */
int fg_prove_open(struct fg_prove *prove, struct fg_error *err) FG_NODISCARD;
/* Stores the newest proof. */
int fg_prove_keep(struct fg_prove *prove, struct fg_error *err) FG_NODISCARD;
/* Stores the card for the pages, and sends it to the plan's server. A failure is only a warning. */
void fg_prove_publish(const struct fg_prove *prove);
/* Loads the newest card of this runner; empty without a store. */
int fg_prove_load(const struct fg_plan *plan, struct fg_stored_proofs *list, struct fg_error *err)
	FG_NODISCARD;
/* Reads the proofs of a list; strings go to the arena. Returns their number. */
size_t fg_prove_read(const struct fg_stored_proofs *list, struct fg_arena *arena,
		     struct fg_proof **proofs);
/* Makes the card. The plan's budget and maximum number of pairs limit the remedies. */
void fg_prove_card(struct fg_plan *plan, const struct fg_proof *proofs, size_t count,
		   struct fg_proof_card *card);

/* ---- report.c ---- */

void fg_prove_write(const struct fg_prove *prove, struct fg_strbuf *text);
/* Adds "4000 pairs instead of 400 (measure.pairs.max, measure.budget): 2 % → 1.2 %". */
void fg_prove_add_remedy(const struct fg_proof_card_help *help, struct fg_strbuf *text);
/* Writes fastgate-prove/1, as a member or (`name` NULL) as the whole document. */
void fg_prove_json_into(const struct fg_prove *prove, const char *name, bool with_runs,
			struct fg_json_writer *w);
void fg_prove_json(const struct fg_prove *prove, struct fg_strbuf *text);

/* ---- arm.c: HEAD against HEAD, the candidate built apart ---- */

/* Makes one whole run and appends it to the proofs. FG_ECHILD: the benchmark cannot be measured. */
int fg_prove_arm(struct fg_prove *prove, struct fg_prove_subject *subject, enum fg_proof_arm kind,
		 double size, struct fg_error *err) FG_NODISCARD;

/* Measures pairs without a verdict. */
struct fg_prove_pairs {
	const struct fg_prove_function *function; /* function to slow down, or NULL */
	uint32_t iterations;
	unsigned count;
	double slower;  /* result: relative slowdown */
	double seconds; /* result: seconds per pair */
};

/* FG_EUNSUPPORTED, FG_ENOENT: the function cannot be slowed down. */
int fg_prove_measure(struct fg_prove *prove, const struct fg_prove_subject *subject,
		     struct fg_prove_pairs *pairs, struct fg_error *err) FG_NODISCARD;

#endif
