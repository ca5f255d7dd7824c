/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that one execution of a benchmark runs through, file by file (the program, its
 * libraries, its children), and the other files that it reads. Unless there is a `doubt`, a change
 * to anything else does not change what the benchmark executes.
 */
#ifndef FG_MODEL_EXECUTED_H
#define FG_MODEL_EXECUTED_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"

struct fg_executed_file {
	const char *path;     /* relative to the side's root if inside it, else absolute */
	const char *identity; /* inside: digest of its code; outside: build-id */
	bool is_inside;
	bool is_whole;           /* code without a symbol was also executed */
	struct fg_map functions; /* linkage names up to the first dot */
};

/* A file that the benchmark reads, or a folder that it lists. */
struct fg_executed_input {
	const char *path;     /* relative to the side's root if inside it; otherwise absolute */
	const char *identity; /* digest of the content, or "absent" */
	bool is_inside;
};

struct fg_executed {
	struct fg_arena arena;
	struct fg_executed_file *files;
	size_t file_count;
	size_t file_capacity;
	struct fg_executed_input *inputs;
	size_t input_count;
	size_t input_capacity;
	const char *doubt; /* why the record may be incomplete, one line; NULL: it is complete */
};

struct fg_executed_file *fg_executed_find(const struct fg_executed *executed, const char *path);
struct fg_executed_file *fg_executed_add_file(struct fg_executed *executed, const char *path,
					      bool is_inside, const char *identity);
void fg_executed_add_input(struct fg_executed *executed, const char *path, bool is_inside,
			   const char *identity);
/* Parts and clones such as "parse.part.0" and "parse.cold" count as "parse". */
void fg_executed_add_function(struct fg_executed_file *file, const char *name);
bool fg_executed_has_function(const struct fg_executed_file *file, const char *name);
/*
 * Adds a function that the sampler saw in a file of this base name. Returns false if it is known
 * already or the file is not the project's.
 */
bool fg_executed_add_sampled(struct fg_executed *executed, const char *library, const char *name);
/* Only the first reason is kept. */
void fg_executed_doubt(struct fg_executed *executed, const char *format, ...) FG_PRINTF(2, 3);

struct fg_strbuf;
/* Writes the record as text, one line per file or function. */
void fg_executed_write(const struct fg_executed *executed, struct fg_strbuf *text);
/* FG_EPARSE: not the output of fg_executed_write(); `executed` is then empty. */
int fg_executed_read(const char *text, size_t size, struct fg_executed *executed,
		     struct fg_error *err) FG_NODISCARD;
void fg_executed_release(struct fg_executed *executed);

#endif
