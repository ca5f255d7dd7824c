/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records how the programs of a build are linked, so that they can be linked again.
 *
 * gcc and clang look for the linker in COMPILER_PATH first. A script there records the command,
 * keeps the objects that the compiler is about to remove, and runs the linker. This works with
 * make, autotools, CMake and Meson, without any change to the project.
 */
#ifndef FG_RUNNER_LINK_RECORD_H
#define FG_RUNNER_LINK_RECORD_H

#include "base/base.h"
#include "base/error.h"
#include "runner/build/planted.h"

/*
 * Puts the script into FOLDER/linker; records go to FOLDER/links. `variable` gets
 * "COMPILER_PATH=..." for the build's environment; the caller frees it.
 */
int fg_link_record_begin(const char *folder, char **variable, struct fg_error *err) FG_NODISCARD;

/* One command that made a program or a library. */
struct fg_link {
	char *text;   /* the record, which contains all other strings except `plant_text` */
	char *folder; /* working directory of the command */
	char *linker;
	/* $COLLECT_GCC, which the linker's plugin needs for link-time code generation; or "" */
	char *compiler;
	char *compiler_options; /* $COLLECT_GCC_OPTIONS, for the plugin; or "" */
	char **words;           /* the linker's arguments; NULL at the end */
	size_t word_count;
	const char *output; /* as given in the arguments */
	const char *soname; /* or NULL */
	char *plant_text;   /* NULL: nothing is planted */
	struct fg_planted planted;
};

struct fg_links {
	struct fg_link *items; /* newest first */
	size_t count;
};

/* FG_ENOENT: no command was recorded. */
int fg_links_read(const char *folder, struct fg_links *links, struct fg_error *err) FG_NODISCARD;
void fg_links_release(struct fg_links *links);
/* Returns the path of the command's output. The caller frees the path. */
char *fg_link_output_path(const struct fg_link *link);
/* Does the command make this program or library, by file name or soname? */
bool fg_link_makes(const struct fg_link *link, const char *name);

#endif
