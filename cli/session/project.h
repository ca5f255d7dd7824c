/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a folder for its first fastgate.yml: how it is built, and which programs in it could
 * be benchmarks. Read-only; nothing is run or changed.
 */
#ifndef FG_CLI_SESSION_PROJECT_H
#define FG_CLI_SESSION_PROJECT_H

#include "base/arena.h"
#include "base/error.h"
#include "model/plan.h"

enum fg_project_kind {
	FG_PROJECT_UNKNOWN,
	FG_PROJECT_CMAKE,
	FG_PROJECT_MESON,
	FG_PROJECT_MAKE,
	FG_PROJECT_CONFIGURE,
	FG_PROJECT_KIND_COUNT,
};

struct fg_project_program {
	const char *path; /* relative to the root, "build/bench/parse" */
	const char *name; /* unique among them */
	enum fg_harness harness;
	bool is_built;
	int rank; /* higher: more likely a benchmark */
};

struct fg_project {
	enum fg_project_kind kind;
	const char *build_folder;  /* "build"; NULL: none is used */
	const char *build_command; /* NULL: not known */
	bool build_needs_shell;
	const char *debug_folder; /* a build without optimisation that was passed over, or NULL */
	struct fg_project_program *programs; /* the likeliest first */
	size_t program_count;
	bool has_commit;  /* a git repository with at least one commit */
	bool has_history; /* and with an earlier one to compare with */
	bool was_cut;     /* there were more files than the limit */
};

enum {
	FG_PROJECT_MAX_FILES = 20000,
	FG_PROJECT_MAX_DEPTH = 6,
	FG_PROJECT_MAX_PROGRAMS = 200,
};

const char *fg_project_kind_name(enum fg_project_kind kind); /* "CMake" */
void fg_project_look(const char *root, struct fg_arena *arena, struct fg_project *project);

#endif
