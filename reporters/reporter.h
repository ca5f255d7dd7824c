/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports for people and programs. Each format has a row in a table.
 *
 * A reporter reads a run, its verdict and its profiles, and appends text to a buffer. Equal input
 * gives equal bytes: clock, locale and environment are not read, so that a report can be
 * regenerated from the store. Any text, above all a symbol name, may come from an untrusted program
 * and is escaped by the rules of the format.
 */
#ifndef FG_REPORTERS_REPORTER_H
#define FG_REPORTERS_REPORTER_H

#include "base/error.h"
#include "base/strbuf.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

#define FG_REPORT_SCHEMA "fastgate-report/1"

/* All members are borrowed. */
struct fg_report {
	const struct fg_run *run;
	const struct fg_verdict *verdict;
	/* one per series of the run, in its order; the array and its entries may be NULL */
	const struct fg_profile_set *const *profiles;
};

/* Options of the presentation. A file has no colours and unlimited width. */
struct fg_report_options {
	bool verbose;   /* terminal: everything, not only important results */
	bool color;     /* terminal: ANSI colours; the caller checks NO_COLOR */
	bool ascii;     /* terminal: the locale is not UTF-8 */
	unsigned width; /* terminal: columns; 0: unlimited */
	/* github: paths below this folder become relative; NULL: unchanged */
	const char *source_root;
};

struct fg_reporter {
	const char *name;       /* "junit": name for --format and fastgate.yml */
	const char *summary;    /* one line of help */
	const char *media_type; /* "application/json", for HTTP */
	const char *file_name;  /* usual file name; NULL: written to a stream */
	void (*write)(const struct fg_report *report, const struct fg_report_options *options,
		      struct fg_strbuf *text);
};

/* Returns the table of formats, in the order of the help text. */
const struct fg_reporter *fg_reporter_table(size_t *count);
/*
 * Finds a format by name. If the name is unknown, returns NULL and a message with the nearest name
 * or, if no name is near, with all names.
 */
const struct fg_reporter *fg_reporter_find(const char *name, struct fg_error *err);

/*
 * Writes a report to `path`; "-" is stdout. A file is replaced as a whole or stays unchanged; a
 * device or a pipe is written directly. The error message names the path.
 */
int fg_reporter_write_file(const struct fg_reporter *reporter, const struct fg_report *report,
			   const struct fg_report_options *options, const char *path,
			   struct fg_error *err) FG_NODISCARD;

/* Reads a report.json back into its verdict, which the caller releases. */
int fg_report_read(const char *json, size_t size, struct fg_verdict *verdict, struct fg_error *err)
	FG_NODISCARD;

/*
 * Copies the arguments in a run's report to its stored profiles, so that the run can be judged
 * again or compared with another run. `json` may be NULL; an unreadable report has no arguments.
 */
void fg_report_restore_arguments(const char *json, const struct fg_run *run,
				 struct fg_profile_set *const *profiles);

/*
 * Reads the run that a report.json describes: its id, project and times, and for both sides the
 * commit, the branch and the facts about the commit. Other facts and series stay empty. The report
 * may come from anywhere: an id or a commit of the wrong form is rejected. The caller releases the
 * run.
 */
int fg_report_read_run(const char *json, size_t size, struct fg_run *run, struct fg_error *err)
	FG_NODISCARD;

/*
 * Writes the data of showComparison() in web/compare.js: report.json on one line, with the raw
 * values and the profile of each benchmark. `inside_html` makes the text safe inside a <script>
 * element.
 */
void fg_report_page_json(const struct fg_report *report, bool inside_html, struct fg_strbuf *text);

/* Writes one object: `profile` and `marked`, for the rows of `set` that count, and `measures`. */
void fg_report_profile_json(const struct fg_profile_set *set, struct fg_strbuf *text);

/* Adds the first line of this project's pull-request comment, which identifies the comment. */
void fg_report_comment_marker(const struct fg_run *run, struct fg_strbuf *text);
/* Adds the constant name of a project's commit status and check run: "fastgate/tracker". */
void fg_report_status_name(const struct fg_run *run, struct fg_strbuf *text);

#endif
