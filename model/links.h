/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses made of a project's templates, for commits, files and lines on the server that has its
 * source: "https://host/{project}/blob/{commit}/{file}#L{line}".  A template travels with the run,
 * among the facts of the candidate, so that every page that shows the run can link.  Runs come from
 * strangers: what is no plain http or https address makes no link.
 */
#ifndef FG_MODEL_LINKS_H
#define FG_MODEL_LINKS_H

#include "base/strbuf.h"
#include "model/run.h"

/* The template's name in fastgate.yml and in the facts of the candidate, "link.commit". */
const char *fg_web_link_name(enum fg_web_link link);
const char *fg_web_link_fact(enum fg_web_link link);

/* Stands for the placeholders; NULL and 0: not known. */
struct fg_web_link_values {
	const char *project;
	const char *commit;
	const char *file; /* within the tree */
	unsigned line;
};

/*
 * An address of ASCII signs without blanks, quotes and angle brackets.  False, and an empty `url`:
 * no template, not http, or a placeholder whose value is not known.
 */
bool fg_web_link_expand(const char *pattern, const struct fg_web_link_values *values,
			struct fg_strbuf *url);
/* With the templates of this run, for one of its two sides; `file` may be NULL. */
bool fg_web_link_commit(const struct fg_run *run, enum fg_arm arm, struct fg_strbuf *url);
/* The candidate's line, or its file where no line or no template for lines is known. */
bool fg_web_link_place(const struct fg_run *run, const char *file, unsigned line,
		       struct fg_strbuf *url);

#endif
