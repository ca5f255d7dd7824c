/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds how a folder is built and which programs in it could be benchmarks, for its first
 * fastgate.yml.
 *
 * fg_project_look() → fg_project_build(), which finds the programs → fg_project_read_lists() →
 * fg_project_try() → fg_project_write_file()
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
	FG_PROJECT_AUTORECONF, /* generates configure first */
	FG_PROJECT_AUTOGEN,    /* runs a script of the project first */
	FG_PROJECT_BOOTSTRAP,
	FG_PROJECT_NINJA,
	FG_PROJECT_CARGO,
	FG_PROJECT_GO,
	FG_PROJECT_SETUP_PY,
	FG_PROJECT_PYPROJECT,
	FG_PROJECT_KIND_COUNT,
};

/* Result of trying a program once or a few times. */
enum fg_project_trial {
	FG_PROJECT_UNTRIED,
	FG_PROJECT_GOOD,
	FG_PROJECT_SHORT,  /* works, but ends too soon to be timed well */
	FG_PROJECT_FAILED, /* `why` has the reason */
};

struct fg_project_program {
	const char *path; /* relative to the root, "build/bench/parse" */
	const char *name; /* unique within the project */
	enum fg_harness harness;
	bool is_built;
	bool is_named;      /* the build system lists the program with arguments */
	int rank;           /* a higher rank is more likely a benchmark */
	const char *reason; /* reason for the rank */
	/* the whole command of a suite, which is not a single program; or NULL */
	const char *suite;
	/* NULL: run without arguments */
	const char *arguments;
	const char *tail; /* words after the input, or NULL */
	const char *working_directory;
	bool is_wrapped;          /* real program in .libs/, started by a libtool wrapper */
	const char *library_path; /* folders of the project's libraries to load, or NULL */
	const char *input;        /* a file given as input, or NULL */
	const char *input_made;   /* command that makes the input; NULL: a file of the project */
	bool input_is_argument;   /* the input is passed by name, not on standard input */
	unsigned input_copies;    /* number of concatenated copies; 0 or 1: the file itself */
	bool input_is_repeated;   /* the command names the file input_copies times; no copies */
	unsigned loops;           /* executions in a row by a shell; 0: once, without a shell */
	size_t calls;             /* number of lines with a call, in tests or documentation */
	bool is_idle;             /* no input that was tried kept the program busy */
	/* results of the trial */
	enum fg_project_trial trial;
	const char *why;
	/*
	 * CPU time of an execution, minus the CPU time of a process that only reads the input; 0 if
	 * reading costs at least half of the time
	 */
	double work_s;
	double seconds;  /* time per execution */
	double busy;     /* share of `seconds` that the program is on a CPU */
	double spread;   /* standard deviation of the log ratio of two executions */
	double smallest; /* smallest slowdown that 30 s of pairs can show */
};

struct fg_project {
	enum fg_project_kind kind;
	const char *name;     /* for display: the folder's name without a version */
	const char *manual;   /* files that look like pages of the manual, one per line, or NULL */
	const char *readme;   /* text of the project's README files, or NULL */
	const char *folder;   /* folder of the build files, below the root; NULL: the root */
	const char *makefile; /* makefile that make does not find by itself, or NULL */
	size_t way;           /* index of the chosen way: see fg_project_next_way() */
	const char *build_folder;  /* "build"; NULL: builds in the source tree */
	const char *build_command; /* NULL if unknown */
	bool build_needs_shell;
	bool is_given;            /* the user chose the command, so no other way is tried */
	bool has_failed;          /* the build failed */
	bool is_cut;              /* the time limit ended the build */
	const char *debug_folder; /* an existing unoptimised build that is not used, or NULL */
	/* comment on how to build with line numbers, or NULL */
	const char *line_hint;
	const char *test_command; /* builds the tests if build_command does not, or NULL */
	char *tree;               /* trial build's worktree, owned; NULL: not built */
	struct fg_project_program *programs; /* likeliest benchmark first */
	size_t program_count;
	bool has_commit;  /* a git repository with at least one commit */
	bool has_history; /* has an earlier commit to compare with */
	bool was_cut;     /* the search stopped at FG_PROJECT_MAX_FILES */
};

enum {
	FG_PROJECT_MAX_FILES = 20000,
	FG_PROJECT_MAX_WAYS = 4,
	FG_PROJECT_MAX_DEPTH = 6,
	FG_PROJECT_MAX_PROGRAMS = 200,
	FG_PROJECT_MAX_BENCHMARKS = 6,
	FG_PROJECT_MAX_CANDIDATES = 6,
	FG_PROJECT_LIKELY_RANK = 100,
	FG_PROJECT_SURE_RANK = 90, /* a program of a lower rank is a guess */
	FG_PROJECT_OWN_RANK = 60,
	FG_PROJECT_TOOL_RANK = -90,   /* the build itself ran the program */
	FG_PROJECT_TEST_RANK = -100,  /* tried if nothing else can be measured */
	FG_PROJECT_NEVER_RANK = -200, /* never run */
};

#define FG_PROJECT_IDLE                                                                    \
 "no input that was tried keeps the program busy; give it the arguments and the input of " \
 "a typical run"

/* CMake's build type for optimised code with debug information. */
#define FG_PROJECT_CMAKE_TYPE "RelWithDebInfo"

const char *fg_project_kind_name(enum fg_project_kind kind); /* "CMake" */
/* Reads files of the project, and lists and searches them with git; runs no build. */
void fg_project_look(const char *root, struct fg_arena *arena, struct fg_project *project);
/* Replaces the detected build command with the user's. */
void fg_project_give_command(struct fg_project *project, const char *command);
/*
 * After a failed build, chooses the next way: another build system of the project. False after the
 * last way.
 */
bool fg_project_next_way(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * Returns the path from a folder of the tree back to its root: "../" per level; a NULL folder is
 * the root.
 */
const char *fg_project_path_up(const char *folder, struct fg_arena *arena);
/* Returns the command line that runs the program, with "./" in front if a shell needs it. */
const char *fg_project_command(const struct fg_project_program *program, struct fg_arena *arena);
/* Returns the file that the command reads on standard input, or NULL. */
const char *fg_project_stdin(const struct fg_project_program *program, struct fg_arena *arena);
/* Returns the number of programs that fastgate.yml measures; other programs become comments. */
size_t fg_project_chosen(const struct fg_project *project);

/* Adds test_command to the build command if a test is measured. */
void fg_project_keep_tests(struct fg_project *project, struct fg_arena *arena);

/* Writes the text of fastgate.yml. (first_config.c) */
void fg_project_write_file(const struct fg_project *project, struct fg_arena *arena,
			   struct fg_strbuf *text);

/* ---- ways.c ---- */

void fg_project_find_commits(const char *root, struct fg_project *project);
/* Do builds of this kind run ./configure? */
bool fg_project_is_autotools(enum fg_project_kind kind);
/*
 * Is the file tracked, so that both sides have it? A file that an earlier build left here
 * (configure written by autoreconf, a Makefile written by configure) does not count.
 */
bool fg_project_is_kept(const char *root, const struct fg_project *project, const char *name);
/*
 * Sets kind, folder and makefile of the n-th way to build the project; false if there are fewer
 * ways. A build system whose files name a benchmark comes first.
 */
bool fg_project_choose_way(const char *root, struct fg_arena *arena, struct fg_project *project,
			   size_t n);

/* ---- ranking.c ---- */

/* Does the name of a program, target or label contain "bench" or a word like "perf"? */
bool fg_project_is_benchmark_name(const char *name);
/*
 * Does the manual have pages in section 8? If so, the programs need a device, a network or
 * privileges that init does not have, or change the system.
 */
bool fg_project_is_for_administrators(const struct fg_project *project);
/* Sets a program's rank, from its path and harness, and the reason. */
void fg_project_rank(const struct fg_project *project, struct fg_project_program *program);
/*
 * Call when all programs are known: ranks the only program that is not a test, example or tool as
 * the project's own, unless the project is a library or for administrators.
 */
void fg_project_prefer_only(struct fg_project *project);

/* ---- programs.c, build_lists.c ---- */

/*
 * Finds built programs in the project's build folder, or before the first build the programs that
 * CMakeLists.txt, meson.build or Makefile.am declare, likeliest benchmark first.
 */
void fg_project_find_programs(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * Returns the reason why the program must not be run: the project starts it as a service, installs
 * it into sbin, or documents it in section 8 of the manual. NULL: the program may be run.
 * (programs.c)
 */
const char *fg_project_service(const char *root, const struct fg_project *project,
			       const struct fg_project_program *program, struct fg_arena *arena);
/* Adds a suite that is run by a command and not tried. */
void fg_project_add_suite(struct fg_arena *arena, struct fg_project *project, const char *command,
			  enum fg_harness harness);
/*
 * Adds the program at this path, which the build system lists as a benchmark; reuses an entry that
 * has no arguments yet. NULL if it is not a program.
 */
struct fg_project_program *fg_project_add(const char *root, struct fg_arena *arena,
					  struct fg_project *project, const char *path);
/* Sorts the programs, likeliest benchmark first. */
void fg_project_sort(struct fg_project *project);

/*
 * Adds programs that the built tree lists with arguments: CTest's tests (a name or label may mark
 * one as a benchmark), Meson's tests and benchmarks, commands of `make bench`, and Catch2 programs
 * with cases tagged as benchmarks. (build_lists.c)
 */
void fg_project_read_lists(const char *root, struct fg_arena *arena, struct fg_project *project);
/* Finds benchmark suites of cargo, Go and pytest, from files of the project. */
void fg_project_find_suite(const char *root, struct fg_arena *arena, struct fg_project *project);
enum {
	FG_PROJECT_MAX_TARGETS = 4,
};

/*
 * Returns the programs among the prerequisites of make's default target, each after a blank, or
 * NULL.
 */
const char *fg_project_program_targets(const char *root, struct fg_arena *arena);
/*
 * Returns the arguments with which make builds the tests; NULL if unknown.
 */
const char *fg_project_test_target(const char *root, struct fg_arena *arena,
				   const struct fg_project *project);
/*
 * Finds targets of a makefile that build benchmark programs, or the programs that such a target
 * would run, likeliest first. Returns their number.
 */
size_t fg_project_make_targets(const char *root, struct fg_arena *arena, struct fg_project *project,
			       const char *targets[FG_PROJECT_MAX_TARGETS]);

/* ---- build_switches.c ---- */

enum fg_project_wanted {
	FG_PROJECT_WANT_BENCHMARKS,
	FG_PROJECT_WANT_PROGRAMS, /* tools, examples and tests of a library */
};

/*
 * Returns flags for the options that the build files in `root` declare as off and that build the
 * wanted programs, each with a blank in front; NULL without such options.
 */
const char *fg_project_option_flags(const char *root, const struct fg_project *project,
				    enum fg_project_wanted wanted, struct fg_arena *arena);
/* Is this position of a build file in a comment? */
bool fg_project_is_comment(const char *text, const char *at);
/* Returns the project's build command with these flags. */
const char *fg_project_command_with(const struct fg_project *project, const char *flags,
				    struct fg_arena *arena);

/* ---- compiled_flags.c ---- */

/*
 * Counts of command lines by option, or of programs by producer string if no file has command
 * lines.
 */
struct fg_project_flags {
	size_t optimised;
	size_t unoptimised; /* -O0, -Og or no level */
	size_t with_debug;  /* with debug information, optimised or not */
};

/* Reads how the code below this folder was compiled; all counts are 0 if unknown. */
void fg_project_read_flags(const char *folder, struct fg_project_flags *flags);
/* Is at least half of the code optimised? */
bool fg_project_is_optimised(const struct fg_project_flags *flags);

/* ---- build.c, trial.c ---- */

/*
 * Builds a snapshot of the work tree where `fastgate run --against` builds it, so that nothing in
 * the work tree changes, and sets project->tree and the programs in it. Turns on switches that
 * build benchmarks if the project builds with them. If project->tree is set, the caller closes the
 * worktree. FG_ECHILD: the build failed. FG_ETIMEOUT: the build did not end by `ends_ns`, on the
 * monotonic clock.
 */
int fg_project_build(struct fg_cli *cli, struct fg_project *project, int64_t ends_ns,
		     struct fg_worktree *worktree, struct fg_error *err) FG_NODISCARD;

/*
 * Runs the likeliest programs in project->tree until it finds a few that can be measured. A
 * program that needs an input gets one of the project's files. If no program works, tries the
 * tests. Records length, busy share and spread, and sorts the programs by these values. (trial.c)
 */
void fg_project_try(struct fg_cli *cli, struct fg_project *project, int64_t ends_ns);

/* ---- ci_job.c ---- */

struct fg_project_ci {
	const char *name; /* "github"; NULL ends the table */
	const char *path; /* path of the file to write */
	const char *text;
	const char *next; /* remaining manual steps */
};

/* Returns NULL if the name is unknown. */
const struct fg_project_ci *fg_project_ci_find(const char *name);

#endif
