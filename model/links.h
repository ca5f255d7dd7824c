/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links to commits, files and lines on the server that hosts the source, built from a project's
 * templates: "https://host/{project}/blob/{commit}/{file}#L{line}". A template travels with the
 * run, among the facts of the candidate, so that every page that shows the run can link. Runs are
 * untrusted: only plain http and https addresses become links.
 */
#ifndef FG_MODEL_LINKS_H
#define FG_MODEL_LINKS_H

#include "base/strbuf.h"
#include "model/run.h"

/*
 * Returns the template's key in fastgate.yml, or its name among the candidate's facts:
 * "link.commit".
 */
const char *fg_web_link_name(enum fg_web_link link);
const char *fg_web_link_fact(enum fg_web_link link);

/* The values of the placeholders; NULL or 0: unknown. */
struct fg_web_link_values {
	const char *project;
	const char *commit;
	const char *run;
	const char *file; /* relative to the tree */
	unsigned line;
};

/*
 * Builds an ASCII address without blanks, quotes and angle brackets. Returns false, with an empty
 * `url`, if there is no template, it is not http(s), or a placeholder's value is unknown.
 */
bool fg_web_link_expand(const char *pattern, const struct fg_web_link_values *values,
			struct fg_strbuf *url);
/* Links the commit of one side of this run. */
bool fg_web_link_commit(const struct fg_run *run, enum fg_arm arm, struct fg_strbuf *url);
/* Links the candidate's line, or its file if the line or the template for lines is unknown. */
bool fg_web_link_place(const struct fg_run *run, const char *file, unsigned line,
		       struct fg_strbuf *url);

/* The candidate's fact with the template of a run's page: ".../?view=run&run={run}". */
#define FG_WEB_LINK_RUN "link.run"
/* Links the page of this run on the server that keeps it. */
bool fg_web_link_run(const struct fg_run *run, struct fg_strbuf *url);

/*
 * Makes templates for a repository on GitHub or GitLab from the address of its remote
 * ("git@github.com:acme/tracker.git"). Returns false, with empty strings, for any other host.
 */
bool fg_web_link_guess(const char *remote, struct fg_strbuf patterns[FG_WEB_LINK_COUNT]);

#endif
