/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the commit that made a benchmark slower. git lists the range, each measurement is
 * a session, and gate/bisect.h decides. Each measurement is saved in .fastgate/bisect.json, so an
 * interruption (FG_EINTERRUPTED) loses nothing.
 */
#ifndef FG_CLI_BISECT_SEARCH_H
#define FG_CLI_BISECT_SEARCH_H

#include "cli/session/session.h"
#include "gate/bisect.h"
#include "runner/build/range.h"

struct fg_search_request {
	const char *good;
	const char *bad;
	const char *benchmark; /* NULL: the benchmark with the worst verdict at the ends */
	const char *metric;    /* NULL: the gated metric that got worse */
	const char *function;  /* search by a function's cost, with callees; or NULL */
	const char *measure; /* search by this exact measure instead of a metric or time; or NULL */
	int64_t budget_ns;   /* 0: no limit */
	bool resume;         /* use the ends and choices of the interrupted search */
};

/* Facts about a commit of the range, besides its entry in `model`. */
struct fg_search_commit {
	const char *code;  /* digest of the commit's program and inputs; NULL: unknown */
	const char *error; /* reason why the commit cannot be measured, or NULL */
	unsigned attempts;
};

/* The outcome of a full gate. */
struct fg_search_verdict {
	const char *run; /* id of the run */
	enum fg_outcome outcome;
	double ratio; /* NaN if unknown, like `low`, `high` and `smallest` */
	double low;
	double high;
	double smallest; /* smallest ratio - 1 that could have been seen */
	double pairs;
	const char *function; /* the function to blame; NULL: not certain */
	const char *card;     /* the run's report as text; NULL: unknown */
};

enum fg_search_state {
	FG_SEARCH_NOTHING, /* the bad end is not worse */
	FG_SEARCH_FOUND,
	FG_SEARCH_OPEN, /* no commit can be blamed with certainty */
	FG_SEARCH_STOPPED,
};

struct fg_bisect_search {
	struct fg_cli *cli;
	struct fg_plan *plan;             /* the plan's arena holds all strings */
	struct fg_search_request request; /* the options, with defaults filled in */
	char *state_folder;
	struct fg_commit_range range;
	struct fg_bisect model;
	struct fg_search_commit *commits;
	struct fg_bisect_look look; /* the latest estimate */
	const char *good_code;
	enum fg_schedule schedule; /* schedule of the ends' comparison, used for all comparisons */
	double layouts;
	struct fg_search_verdict ends;
	struct fg_search_verdict steps[FG_BISECT_STEPS_MAX];
	size_t confirmed;
	enum fg_search_state state;
	double builds;
	double pairs;
	double seconds_before; /* time spent by the interrupted search that is resumed */
	int64_t started_ns;    /* monotonic clock */
};

/*
 * Gates the ends, searches the range and then the side branches of merges, and gates each commit
 * found against its parent. Changes `plan`: its baseline becomes the latest comparison's baseline.
 */
int fg_search(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
	      const struct fg_search_request *request, struct fg_error *err) FG_NODISCARD;
void fg_search_release(struct fg_bisect_search *search);

/* ---- report.c ---- */

enum fg_search_format {
	FG_SEARCH_TEXT,
	FG_SEARCH_MARKDOWN,
	FG_SEARCH_HTML,
};

double fg_search_seconds(const struct fg_bisect_search *search);
/* Returns "cpu_time", or the measure that is searched for. */
const char *fg_search_subject(const struct fg_bisect_search *search);
void fg_search_write(const struct fg_bisect_search *search, enum fg_search_format format,
		     struct fg_strbuf *text);

/* ---- state.c ---- */

/* Writes the JSON fastgate-bisect/1, which is also the saved state of an unfinished search. */
void fg_search_json(struct fg_bisect_search *search, struct fg_strbuf *text);
int fg_search_save(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Reads ends and choices of the interrupted search. */
int fg_search_load_request(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;
/* Reads the measurements of the interrupted search. FG_EINVAL: the range has other commits. */
int fg_search_load(struct fg_bisect_search *search, struct fg_error *err) FG_NODISCARD;

#endif
