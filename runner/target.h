/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of one arm of a benchmark, with paths resolved below the arm's root folder. It is
 * made once per arm and benchmark, and every repetition uses it.
 */
#ifndef FG_RUNNER_TARGET_H
#define FG_RUNNER_TARGET_H

#include "base/error.h"
#include "model/build_difference.h"
#include "model/run.h"

/* The program linked with its code at other addresses (layouts.h). */
struct fg_target_layout {
	char *program;
	char *library_folder; /* folder of the project's libraries, shifted as well; or NULL */
};

struct fg_target_layouts {
	struct fg_target_layout items[FG_LAYOUTS_MAX];
	unsigned count; /* 0: the program runs as it was linked */
};

/* Drops the layouts from index `count` on. */
void fg_target_layouts_cut(struct fg_target_layouts *layouts, unsigned count);

struct fg_target {
	enum fg_arm arm;
	const struct fg_benchmark *benchmark;
	const struct fg_command *command; /* NULL: this arm does not run */
	char *root;                       /* absolute */
	/* the checkout that contains the root; borrowed; NULL: the user's own folder */
	const char *checkout;
	char *working_directory; /* absolute */
	char *stdin_path;        /* absolute, or NULL */
	char *program;           /* the file that is executed; NULL: not found */
	bool is_shell;           /* `program` is a shell that starts the benchmark */
	/*
	 * something other than this file does the work: a shell, a script, a program outside the
	 * root
	 */
	bool is_wrapper;
	double binary_size; /* size of the program file; NaN: unknown or a shell */
	struct fg_target_layouts layouts;
	char **environment; /* includes the benchmark's variables; NULL at the end */
	size_t environment_count;
};

/* `root` NULL: the arm is absent. */
void fg_target_init(struct fg_target *target, enum fg_arm arm, const struct fg_benchmark *benchmark,
		    const char *root);
void fg_target_release(struct fg_target *target);
/*
 * Finds the program. Call it after set-up, which may build the program. If it is not found,
 * `program` stays NULL.
 */
void fg_target_resolve(struct fg_target *target);

/* Are the programs of all arms linked statically, so that they must be sampled from outside? */
bool fg_targets_are_outside(const struct fg_target targets[FG_ARM_COUNT]);

/* Is this file below the arm's root, after following links? */
bool fg_target_is_inside(const struct fg_target *target, const char *path);

/*
 * Would both arms execute the same program on the same input? Compares the command line, the
 * program's bytes, and the bytes of every file that the command line or stdin names. (build_info.h
 * compares shared libraries.) False for a shell, and for a wrapper in two trees: an interpreter's
 * bytes say nothing about the script.
 */
bool fg_target_same_files(const struct fg_target *a, const struct fg_target *b);

/*
 * Makes the target read the other's standard input if the two files are equal: reading a copy may
 * take a tenth more CPU time, depending on how the kernel caches it. Call after set-up. If a
 * `prepare` may write the files, nothing is done.
 */
void fg_target_share_stdin(struct fg_target *target, const struct fg_target *other);
/*
 * Reads files of this arm from the disk again: the program, and files below the root that the
 * command or stdin names. Then the kernel caches the files of both arms alike, whenever each was
 * written. Call after set-up.
 */
void fg_target_reread(const struct fg_target *target);
void fg_target_reread_layouts(const struct fg_target *target);

/* ---- comparability.c ---- */

/*
 * Returns the reason why two targets cannot be compared, or NULL if they can. The caller frees the
 * reason. Arms with different commands may be of any kind: the user asked for that difference.
 */
char *fg_comparability_of_targets(const struct fg_target *baseline,
				  const struct fg_target *candidate);

/*
 * Returns the reason why two builds that differ cannot be compared, or NULL if they can. The caller
 * frees the reason. Two trees that fastgate built were built with the same command, so a difference
 * is part of the change and is only reported. A work tree measured in place may hold leftovers of
 * an earlier build, whose effect on the times would be attributed to the change.
 */
char *fg_comparability_of_builds(const struct fg_target *baseline,
				 const struct fg_target *candidate,
				 const struct fg_build_difference *difference);

#endif
