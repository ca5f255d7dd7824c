/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the programs of a build were linked, noted while it is built, so that they can be linked
 * again.
 *
 * gcc and clang look for the linker in COMPILER_PATH first.  A script there notes the command,
 * keeps the objects that the compiler is about to remove, and runs the linker.  So it does not
 * matter whether make, autotools, CMake or Meson calls the compiler, and none of them sees it.
 */
#ifndef FG_RUNNER_LINK_RECORD_H
#define FG_RUNNER_LINK_RECORD_H

#include "base/base.h"
#include "base/error.h"

/*
 * Puts the script into FOLDER/linker; notes go to FOLDER/links.  `variable` (to be freed) gets
 * "COMPILER_PATH=..." for the build's environment.
 */
int fg_link_record_begin(const char *folder, char **variable, struct fg_error *err) FG_NODISCARD;

/* One command that made a program or a library. */
struct fg_link {
	char *text;   /* of the note, which the other members point into */
	char *folder; /* where it ran */
	char *linker;
	char *compiler; /* what it told the linker's plugin, for code that is made while linking: */
	char *compiler_options; /* $COLLECT_GCC and $COLLECT_GCC_OPTIONS; "" */
	char **words;           /* its arguments; NULL at the end */
	size_t word_count;
	const char *output; /* as in the arguments */
	const char *soname; /* NULL: it has none */
};

struct fg_links {
	struct fg_link *items; /* newest first */
	size_t count;
};

/* FG_ENOENT: no command was noted. */
int fg_links_read(const char *folder, struct fg_links *links, struct fg_error *err) FG_NODISCARD;
void fg_links_release(struct fg_links *links);
/* Where the command put its output; to be freed. */
char *fg_link_output_path(const struct fg_link *link);

#endif
