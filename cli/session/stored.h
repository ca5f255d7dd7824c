/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored runs: which store, which run, and runs as files.  The store keeps sums: time by function
 * and call path, for each repetition.
 */
#ifndef FG_CLI_SESSION_STORED_H
#define FG_CLI_SESSION_STORED_H

#include "cli/framework/command.h"
#include "store/store.h"

/* Rows for option tables: --store FILE and --project NAME. */
#define FG_CLI_STORE_OPTION(type, member) \
 FG_ROW_FILE(type, member, "store", 0,    \
	     "the store to use instead of .fastgate/store.db of this project")
#define FG_CLI_PROJECT_OPTION(type, member) \
 FG_ROW_TEXT(type, member, "project", 0, "NAME", "only runs of this project")
/* Both rows. */
#define FG_CLI_STORED_OPTIONS(type) \
 FG_CLI_STORE_OPTION(type, store), FG_CLI_PROJECT_OPTION(type, project)
/* Forms of a RUN argument, for help and errors. */
#define FG_CLI_STORED_RUN_WORDS                                            \
 "an id or its beginning, latest, latest~2, a tag, branch, commit, or an " \
 "exported file"

/*
 * The store's path: `given`, or else .fastgate/store.db in this folder or the nearest parent that
 * has it; in this folder if none has. To be freed.
 */
char *fg_cli_store_path(const char *given);
int fg_cli_open_store(const char *given, unsigned flags, struct fg_store **store,
		      struct fg_error *err) FG_NODISCARD;
/*
 * A run by any of its names (see fg_store_find), or the path of an exported one. `words` may be
 * NULL.
 */
int fg_cli_load_run(const char *store_path, const char *project, const char *words,
		    struct fg_stored_run *stored, struct fg_error *err) FG_NODISCARD;

/*
 * A run as one file, as `fastgate runs export` writes it and `import` and a perfdb server read it.
 */
int fg_cli_run_to_text(const struct fg_stored_run *stored, struct fg_strbuf *text,
		       struct fg_error *err) FG_NODISCARD;
int fg_cli_run_from_file(const char *path, struct fg_stored_run *stored, struct fg_error *err)
	FG_NODISCARD;
/* Writes the run's file to `path` ("-": stdout) and prints where. */
int fg_cli_export_run(const struct fg_cli *cli, const struct fg_stored_run *stored,
		      const char *path, struct fg_error *err) FG_NODISCARD;
/* Puts the run into the spool next to the store, to be pushed. */
int fg_cli_spool_run(const char *spool, const struct fg_stored_run *stored, struct fg_error *err)
	FG_NODISCARD;
/* The folder "spool" next to the store (to be freed). */
char *fg_cli_spool_path(const char *store);

/*
 * "comparing 1a2b3c4d5e6f (main) with 6f5e4d3c2b1a (uncommitted changes)": this side of one run
 * with the candidate of the same or another run.
 */
void fg_cli_say_sides(const struct fg_cli *cli, const struct fg_run *baseline, enum fg_arm arm,
		      const struct fg_run *candidate);

#endif
