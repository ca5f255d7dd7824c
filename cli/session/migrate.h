/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmarks that a project has for another tool, as entries of a fastgate.yml: `init --from FILE`.
 *
 * Read are shell scripts that call hyperfine, perf stat, bencher, cargo, go test or pytest
 * (migrate_script.c, migrate_tools.c), workflows of GitHub whose steps do, or use
 * github-action-benchmark or CodSpeed's action (migrate_workflow.c), exported results of hyperfine,
 * and a Cargo.toml with benchmarks.  Nothing is run.
 */
#ifndef FG_CLI_SESSION_MIGRATE_H
#define FG_CLI_SESSION_MIGRATE_H

#include "base/arena.h"
#include "base/error.h"
#include "model/plan.h"

struct fg_migrated {
	const char *name; /* unique among them */
	const char *command;
	bool shell;
	enum fg_harness harness;
	const char *working_directory; /* NULL: the root */
	const char *stdin_path;
	const char *setup;
	const char *prepare;
	const char *cleanup;
	unsigned line; /* of the file; 0: it has no lines to speak of */
};

/* What could not be taken over. */
struct fg_migration_note {
	const char *text;
	unsigned line;
};

/* Everything lives in the arena. */
struct fg_migration {
	struct fg_arena *arena;
	const char *path;
	const char *kind; /* "a script", as people call it */
	struct fg_migrated *items;
	size_t count;
	size_t capacity;
	struct fg_migration_note *notes;
	size_t note_count;
	size_t note_capacity;
};

/*
 * FG_ENOENT, FG_EIO: the file.  FG_EPARSE: it is of a kind that is known, and broken.  FG_EINVAL:
 * there is nothing in it that could be taken over; the notes may say why.
 */
int fg_migration_read(const char *path, struct fg_arena *arena, struct fg_migration *migration,
		      struct fg_error *err) FG_NODISCARD;

#endif
