/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a folder for its first fastgate.yml: how it is built, and which programs in it could
 * be benchmarks.
 *
 * fg_project_look() → fg_project_build() → fg_project_find_programs() → fg_project_try() →
 * fg_project_write_file()
 */
#ifndef FG_CLI_INIT_PROJECT_H
#define FG_CLI_INIT_PROJECT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "cli/framework/command.h"
#include "model/plan.h"
#include "runner/build/worktree.h"

enum fg_project_kind {
	FG_PROJECT_UNKNOWN,
	FG_PROJECT_CMAKE,
	FG_PROJECT_MESON,
	FG_PROJECT_BAZEL,
	FG_PROJECT_MAKE,
	FG_PROJECT_CONFIGURE,
	FG_PROJECT_AUTORECONF, /* configure is generated first */
	FG_PROJECT_AUTOGEN,    /* by the project's own script */
	FG_PROJECT_BOOTSTRAP,
	FG_PROJECT_NINJA,
	FG_PROJECT_KIND_COUNT,
};

/* What trying a program once or a few times showed. */
enum fg_project_trial {
	FG_PROJECT_UNTRIED,
	FG_PROJECT_GOOD,
	FG_PROJECT_SHORT,  /* it works, and ends too soon to be timed well */
	FG_PROJECT_FAILED, /* `why` says how */
};

struct fg_project_program {
	const char *path; /* relative to the root, "build/bench/parse" */
	const char *name; /* unique among them */
	enum fg_harness harness;
	bool is_built;
	bool is_named; /* the build system calls it a benchmark: its arguments are known */
	int rank;      /* higher: more likely a benchmark */
	/* how it is called; NULL: without arguments, in the root */
	const char *arguments;
	const char *working_directory;
	bool is_wrapped;          /* in .libs/, behind a script of libtool's */
	const char *library_path; /* where shared libraries of this project are that it needs */
	const char *input;        /* a file of the project, read from standard input, */
	bool input_is_argument;   /* or by its name */
	unsigned input_copies;    /* the file that many times in a row; 0 or 1: the file itself */
	/* what was seen */
	enum fg_project_trial trial;
	const char *why;
	double seconds;  /* of an execution */
	double busy;     /* share of them on a CPU */
	double spread;   /* standard deviation of the log ratio of two executions */
	double smallest; /* slowdown that 30 s of pairs show */
};

struct fg_project {
	enum fg_project_kind kind;
	const char *name;          /* what people call it: the folder, without a version */
	const char *build_folder;  /* "build"; NULL: none is used */
	const char *build_command; /* NULL: not known */
	bool build_needs_shell;
	const char *debug_folder; /* a build without optimisation that was passed over, or NULL */
	const char *line_hint;    /* how the build keeps line numbers, as a comment; or NULL */
	char *tree;               /* where it was built to look, to be freed; NULL: it was not */
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
	FG_PROJECT_MAX_BENCHMARKS = 6,
	FG_PROJECT_MAX_CANDIDATES = 6,
	FG_PROJECT_LIKELY_RANK = 100,
	FG_PROJECT_TEST_RANK = -100,
};

const char *fg_project_kind_name(enum fg_project_kind kind); /* "CMake" */
/* Reads only: what the files say. */
void fg_project_look(const char *root, struct fg_arena *arena, struct fg_project *project);
/* From a folder of the tree back to its root: "../" for each step; NULL is the root. */
const char *fg_project_way_up(const char *folder, struct fg_arena *arena);
/*
 * The words of a command line with the program that `path` names first; "./" is put before it where
 * a shell needs it.
 */
const char *fg_project_command(const struct fg_project_program *program, struct fg_arena *arena);
/* How many programs the file measures; the rest become comments. */
size_t fg_project_chosen(const struct fg_project *project);

/* The text of fastgate.yml.  (first_config.c) */
void fg_project_write_file(const struct fg_project *project, struct fg_arena *arena,
			   struct fg_strbuf *text);

/* ---- programs.c, build_lists.c ---- */

/*
 * Built programs, or before the first build those that CMakeLists.txt and meson.build declare; the
 * likeliest benchmark first.  Needs the project's build folder.
 */
void fg_project_find_programs(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * The program at this path, which the build system calls a benchmark: the entry that is there
 * already, if it has no arguments of its own yet, or a new one.  NULL: it is no program.
 */
struct fg_project_program *fg_project_add(const char *root, struct fg_arena *arena,
					  struct fg_project *project, const char *path);
/* The best first. */
void fg_project_sort(struct fg_project *project);

/*
 * Benchmarks that the build system knows by name and with their arguments: CTest's tests whose name
 * or label says so, Meson's benchmarks, what `make bench` would run.  The tree must be built.
 * (build_lists.c)
 */
void fg_project_read_lists(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * The target of a makefile that makes benchmark programs, or the programs that it would run, to be
 * built as well; NULL: there is none.
 */
const char *fg_project_make_target(const char *root, struct fg_arena *arena,
				   struct fg_project *project);

/* ---- build_switches.c ---- */

enum fg_project_wanted {
	FG_PROJECT_WANT_BENCHMARKS,
	FG_PROJECT_WANT_PROGRAMS, /* tools, examples, tests: of a library that builds none */
};

/*
 * What CMakeLists.txt or meson_options.txt in the root declares as off, and builds these when it is
 * on.  Each with a blank before it; NULL: there are none.
 */
const char *fg_project_option_flags(const char *root, const struct fg_project *project,
				    enum fg_project_wanted wanted, struct fg_arena *arena);
/* The project's build command with these flags. */
const char *fg_project_command_with(const struct fg_project *project, const char *flags,
				    struct fg_arena *arena);

/* ---- build.c, trial.c ---- */

/*
 * Builds a snapshot of the work tree where `fastgate run --against` builds it, so that nothing in
 * the work tree changes, and sets project->tree and the programs in it. Switches that build its
 * benchmarks are turned on where it builds with them. The worktree is to be closed when `tree` is
 * set.  FG_ECHILD: it does not build.
 */
int fg_project_build(struct fg_cli *cli, struct fg_project *project, struct fg_worktree *worktree,
		     struct fg_error *err) FG_NODISCARD;

/*
 * Runs the likeliest programs in project->tree until a few are found that can be measured, gives a
 * program of the project's own an input from the project's files where it needs one, and notes
 * length, busy share and spread.  Sorts them by that.  (trial.c)
 */
void fg_project_try(struct fg_cli *cli, struct fg_project *project);

/* ---- ci_job.c ---- */

struct fg_project_ci {
	const char *name; /* "github"; NULL ends the table */
	const char *path; /* of the file that is written */
	const char *text;
	const char *next; /* what is left to do by hand */
};

/* NULL: there is none of this name. */
const struct fg_project_ci *fg_project_ci_find(const char *name);

#endif
