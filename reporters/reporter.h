/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that tells people and programs what was decided: one file per format, one row per
 * format in a table.
 *
 * A reporter reads a run, its verdict and the profiles under it, and appends text to a buffer.
 * The same input gives the same bytes: nothing is read from the clock, the locale or the
 * environment, so that a report can be written again from the store.  Everything shown may come
 * from a stranger's program (symbol names above all) and is escaped by the rules of the format.
 */
#ifndef FG_REPORTERS_REPORTER_H
#define FG_REPORTERS_REPORTER_H

#include "base/error.h"
#include "base/strbuf.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/time_order.h"
#include "model/verdict.h"

#define FG_REPORT_SCHEMA "fastgate-report/1"

/* All borrowed. */
struct fg_report {
	const struct fg_run *run;
	const struct fg_verdict *verdict;
	/* One per series of the run, in its order; NULL entries and NULL itself: no profile. */
	const struct fg_profile_set *const *profiles;
	/* Likewise, for a page: one execution a side in the order of time. */
	const struct fg_time_orders *in_time;
};

/* How, not what.  Zero is right for a file. */
struct fg_report_options {
	bool verbose;   /* terminal: everything, not only what needs attention */
	bool color;     /* terminal: ANSI colours; NO_COLOR is the caller's business */
	bool ascii;     /* terminal: the locale has no arrows */
	unsigned width; /* terminal: columns; 0: as wide as the text wants */
	/* github: files below it are named relative to it; NULL: as they are recorded */
	const char *source_root;
};

struct fg_reporter {
	const char *name;      /* "junit": what --format and fastgate.yml call it */
	const char *summary;   /* one line of help */
	const char *file_name; /* usual name of such a file; NULL: goes to a stream */
	int (*write)(const struct fg_report *report, const struct fg_report_options *options,
		     struct fg_strbuf *text, struct fg_error *err);
};

/* The table, in the order of the help text. */
const struct fg_reporter *fg_reporter_table(size_t *count);
/* By name; NULL and a message with the nearest name if there is none. */
const struct fg_reporter *fg_reporter_find(const char *name, struct fg_error *err);

/*
 * Write a report to `path`; "-" is stdout.  A file is replaced as a whole or stays as it was; a
 * device or a pipe is written to.  The message names the path.
 */
int fg_reporter_write_file(const struct fg_reporter *reporter, const struct fg_report *report,
			   const struct fg_report_options *options, const char *path,
			   struct fg_error *err) FG_NODISCARD;

/* Reads a report.json back into its verdict; to be released by the caller. */
int fg_report_read(const char *json, size_t size, struct fg_verdict *verdict, struct fg_error *err)
	FG_NODISCARD;

/*
 * Gives the profiles of a stored run what its report knows of arguments, so that the run can be
 * judged again, or compared with another one.  `json` may be NULL; a report that cannot be read
 * knows nothing.
 */
void fg_report_restore_arguments(const char *json, const struct fg_run *run,
				 struct fg_profile_set *const *profiles);

/*
 * The run that a report.json describes: its id, project, times and the commits of both sides;
 * build, host and series stay empty.  For a report that comes from elsewhere: an id or a commit of
 * the wrong form is refused.  Release it.
 */
int fg_report_read_run(const char *json, size_t size, struct fg_run *run, struct fg_error *err)
	FG_NODISCARD;

/*
 * What showComparison() of web/compare.js draws: report.json in one line, with the raw values and
 * the profile of each benchmark.  `inside_html`: may stand in a <script> element.
 */
void fg_report_page_json(const struct fg_report *report, bool inside_html, struct fg_strbuf *text);

/* Its `profile` and `marked` alone, as one object, for the rows of `set` that count. */
void fg_report_profile_json(const struct fg_profile_set *set, struct fg_strbuf *text);

/*
 * The sticky marker by which a pull-request comment of this project is found again (the first line
 * of the comment).
 */
void fg_report_comment_marker(const struct fg_run *run, struct fg_strbuf *text);
/*
 * What the same project's commit status and check run are called, run after run:
 * "fastgate/tracker".
 */
void fg_report_status_name(const struct fg_run *run, struct fg_strbuf *text);
/* "regression: wordcount 11.6 % slower: find table.c:16 (+5.0 ms); 1 more benchmark regressed" */
void fg_report_title(const struct fg_verdict *verdict, struct fg_strbuf *text);

#endif
