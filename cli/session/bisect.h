/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the commit that made a benchmark slower: the range from git, every measurement a
 * session of its own, the decisions by gate/bisect.h.
 *
 * fg_search_open() → fg_search_compare_ends() → fg_search_run() → fg_search_confirm() →
 * fg_search_release()
 *
 * Each measurement is saved in .fastgate/bisect.json, so an interruption (FG_EINTERRUPTED) loses
 * nothing.
 */
#ifndef FG_CLI_SESSION_BISECT_H
#define FG_CLI_SESSION_BISECT_H

#include "cli/session/session.h"
#include "gate/bisect.h"
#include "runner/build/range.h"

struct fg_search_request {
	const char *good;
	const char *bad;
	const char *benchmark; /* NULL: the one that the ends' gate finds slower */
	const char *metric;    /* NULL: the gated metric that got worse */
	const char *function;  /* its cost, with what it calls; NULL: of the whole program */
	const char *measure;   /* an exact measure instead of a metric; or NULL */
	int64_t budget_ns;     /* 0: none */
	bool resume;
};

/* A commit besides its place in the model. */
struct fg_search_commit {
	char *code;  /* digest of its program and inputs; NULL: unknown */
	char *error; /* why it cannot be measured */
	unsigned attempts;
};

/* The outcome of a full gate. */
struct fg_search_verdict {
	char run[37]; /* id */
	enum fg_outcome outcome;
	double ratio;
	double low;
	double high;
	double smallest; /* ratio - 1 that would have been seen; NaN: unknown */
	unsigned pairs;
	char *function; /* to blame; NULL: none is sure */
	char *file;
	unsigned line;
};

enum fg_search_state {
	FG_SEARCH_NOTHING, /* the ends do not differ for the worse */
	FG_SEARCH_FOUND,
	FG_SEARCH_OPEN, /* no commit is sure */
	FG_SEARCH_STOPPED,
};

struct fg_bisect_search {
	struct fg_cli *cli;
	struct fg_plan *plan;
	struct fg_search_request asked; /* with all that was chosen */
	char *state_folder;
	struct fg_commit_range range;
	struct fg_bisect model;
	struct fg_search_commit *commits;
	struct fg_bisect_look look; /* the last one */
	char *good_code;
	enum fg_schedule schedule; /* of the ends, kept by all measurements */
	unsigned layouts;
	struct fg_search_verdict ends;
	struct fg_search_verdict steps[FG_BISECT_STEPS_MAX];
	size_t confirmed;
	enum fg_search_state state;
	unsigned builds;
	unsigned pairs;
	int64_t started_ns;    /* monotonic */
	double seconds_before; /* of an interrupted search that goes on */
	bool is_resumed;
};

/* By its name, or by that of a harness case, "gb/BM_sort"; NULL: not found. */
struct fg_benchmark *fg_search_benchmark(const struct fg_plan *plan, const char *name);
/* `plan` is changed: its baseline is each commit that is compared with. */
int fg_search_open(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
		   const struct fg_search_request *asked, struct fg_error *err) FG_NODISCARD;
int fg_search_compare_ends(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Measures commits until the steps are found, no measurement would help, or the budget ends. */
int fg_search_run(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Each step's commit against its parent, by the full rule. */
int fg_search_confirm(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/*
 * The range inside the merge that was found, as a request like this one, in the plan's arena;
 * false: the commit found is not a merge.
 */
bool fg_search_inside(const struct fg_bisect_search *search, struct fg_search_request *asked);
double fg_search_seconds(const struct fg_bisect_search *search);
/* "cpu_time", or the measure or function that is searched by. */
const char *fg_search_subject(const struct fg_bisect_search *search);
void fg_search_release(struct fg_bisect_search *search);

/* ---- bisect_report.c ---- */

void fg_search_json(const struct fg_bisect_search *search, struct fg_strbuf *text);
void fg_search_text(const struct fg_bisect_search *search, struct fg_strbuf *text);
void fg_search_markdown(const struct fg_bisect_search *search, struct fg_strbuf *text);
void fg_search_html(const struct fg_bisect_search *search, struct fg_strbuf *text);

/* ---- bisect_state.c ---- */

int fg_search_save(const struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/*
 * Before fg_search_open(): the ends and choices of the search that was interrupted, into the arena.
 */
int fg_search_load_request(const char *state_folder, struct fg_arena *arena,
			   struct fg_search_request *asked, struct fg_error *err) FG_NODISCARD;
/* After fg_search_open(): what it had learned. */
int fg_search_load(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;

#endif
