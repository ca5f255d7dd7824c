/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the commit that made a benchmark slower: the range from git, every measurement a
 * session of its own, the decisions by gate/bisect.h.
 *
 * Each measurement is saved in .fastgate/bisect.json, so an interruption (FG_EINTERRUPTED) loses
 * nothing.
 */
#ifndef FG_CLI_BISECT_SEARCH_H
#define FG_CLI_BISECT_SEARCH_H

#include "cli/session/session.h"
#include "gate/bisect.h"
#include "runner/build/range.h"

struct fg_search_request {
	const char *good;
	const char *bad;
	const char *benchmark; /* NULL: the one that the ends' gate finds slower */
	const char *metric;    /* NULL: the gated metric that got worse */
	const char *function;  /* its cost, including its callees; NULL: the whole program */
	const char *measure;   /* an exact measure instead of a metric or time; or NULL */
	int64_t budget_ns;     /* 0: none */
	bool resume;           /* the ends and choices are those of the interrupted search */
};

/* A commit; its place in the model is separate. */
struct fg_search_commit {
	const char *code;  /* digest of its program and inputs; NULL: unknown */
	const char *error; /* why it cannot be measured */
	unsigned attempts;
};

/* The outcome of a full gate. */
struct fg_search_verdict {
	const char *run; /* id */
	enum fg_outcome outcome;
	double ratio; /* NaN: unknown; the same for the next ones */
	double low;
	double high;
	double smallest; /* smallest ratio - 1 that would have been seen */
	double pairs;
	const char *function; /* to blame; NULL: none is sure */
	const char *card;     /* report of the run, as text; NULL: unknown */
};

enum fg_search_state {
	FG_SEARCH_NOTHING, /* the ends do not differ for the worse */
	FG_SEARCH_FOUND,
	FG_SEARCH_OPEN, /* no commit is sure */
	FG_SEARCH_STOPPED,
};

struct fg_bisect_search {
	struct fg_cli *cli;
	struct fg_plan *plan;           /* its arena has all texts */
	struct fg_search_request asked; /* the options as chosen */
	char *state_folder;
	struct fg_commit_range range;
	struct fg_bisect model;
	struct fg_search_commit *commits;
	struct fg_bisect_look look; /* the last one */
	const char *good_code;
	enum fg_schedule schedule; /* of the ends, kept by all measurements */
	double layouts;
	struct fg_search_verdict ends;
	struct fg_search_verdict steps[FG_BISECT_STEPS_MAX];
	size_t confirmed;
	enum fg_search_state state;
	double builds;
	double pairs;
	double seconds_before; /* state of an interrupted search that is resumed */
	int64_t started_ns;    /* monotonic */
};

/*
 * Gates the ends, searches the range and then the side branches of merges, and gates each commit
 * found against its parent. `plan` is changed: its baseline is each commit of a comparison in turn.
 */
int fg_search(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
	      const struct fg_search_request *asked, struct fg_error *err) FG_NODISCARD;
void fg_search_release(struct fg_bisect_search *search);

/* ---- report.c ---- */

enum fg_search_format {
	FG_SEARCH_TEXT,
	FG_SEARCH_MARKDOWN,
	FG_SEARCH_HTML,
};

double fg_search_seconds(const struct fg_bisect_search *search);
/* "cpu_time", or the measure that is searched by. */
const char *fg_search_subject(const struct fg_bisect_search *search);
void fg_search_write(const struct fg_bisect_search *search, enum fg_search_format format,
		     struct fg_strbuf *text);

/* ---- state.c ---- */

/* fastgate-bisect/1 is also the state of a search that goes on. */
void fg_search_json(struct fg_bisect_search *search, struct fg_strbuf *text);
int fg_search_save(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Reads the ends and choices of the interrupted search. */
int fg_search_load_request(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Reads all its measurements into the commits of the same range. */
int fg_search_load(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;

#endif
