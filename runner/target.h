/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one arm of a benchmark executes: the command with its paths resolved below the arm's root
 * folder.  Made once per arm and benchmark, used by every repetition.
 */
#ifndef FG_RUNNER_TARGET_H
#define FG_RUNNER_TARGET_H

#include "base/error.h"
#include "model/run.h"

/* The program with its code in another place (layouts.h). */
struct fg_target_layout {
	char *program;
	char *library_folder; /* with libraries of the project, shifted likewise; NULL: none */
};

struct fg_target_layouts {
	struct fg_target_layout items[FG_LAYOUTS_MAX];
	unsigned count; /* 0: it runs as it was linked */
};

/* From this one on they are forgotten. */
void fg_target_layouts_cut(struct fg_target_layouts *layouts, unsigned count);

struct fg_target {
	enum fg_arm arm;
	const struct fg_benchmark *benchmark;
	const struct fg_command *command; /* NULL: this arm does not run */
	char *root;                       /* absolute */
	const char *checkout; /* of ours, around the root; borrowed; NULL: the user's own folder */
	char *working_directory; /* absolute */
	char *stdin_path;        /* absolute, or NULL */
	char *program;           /* the file that is executed; NULL: not found */
	bool is_shell;           /* the program is a shell that starts the benchmark */
	/*
	 * what runs in the end is not this file: a shell, a script, a program from outside of the
	 * root
	 */
	bool is_wrapper;
	double binary_size; /* of the program, NaN: unknown or a shell */
	struct fg_target_layouts layouts;
	char **environment; /* ours and the benchmark's; NULL at the end */
	size_t environment_count;
};

/* root NULL: the arm is absent. */
void fg_target_init(struct fg_target *target, enum fg_arm arm, const struct fg_benchmark *benchmark,
		    const char *root);
void fg_target_release(struct fg_target *target);
/*
 * Find the program: after set-up, which may build it.  One that is not there is no error: `program`
 * stays NULL.
 */
void fg_target_resolve(struct fg_target *target);

/* Is the program of every arm that runs linked statically?  Nothing can be preloaded into it. */
bool fg_targets_are_static(const struct fg_target targets[FG_ARM_COUNT]);

/* Does this file lie below the arm's root, links followed? */
bool fg_target_is_inside(const struct fg_target *target, const char *path);

/*
 * Would both arms execute the same thing? The same command line, the same program bytes, and the
 * same bytes in every file that the command line or stdin names. (build_info.h compares shared
 * libraries.) Two trees behind a wrapper cannot be judged: an interpreter's bytes say nothing about
 * what it interprets.
 */
bool fg_target_same_files(const struct fg_target *a, const struct fg_target *b);

#endif
