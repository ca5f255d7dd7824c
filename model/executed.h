/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions one execution of a benchmark runs through, file by file: the program, its
 * libraries, its children; and which other files it reads.  What is not in here cannot have made
 * it slower by being changed.
 */
#ifndef FG_MODEL_EXECUTED_H
#define FG_MODEL_EXECUTED_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"

struct fg_executed_file {
	const char *path;     /* relative to the side's root where it lies inside, else absolute */
	const char *identity; /* inside: digest of its code; outside: build-id */
	bool is_inside;
	bool is_whole;           /* some of what it executes has no name */
	struct fg_map functions; /* linkage names up to the first dot */
};

/* A file that it reads, or a folder that it lists. */
struct fg_executed_input {
	const char *path;     /* as above */
	const char *identity; /* digest of the content; "absent" */
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
	bool knows_inputs;   /* else it may have read any file of the project: */
	const char *tracked; /* digest of them all; NULL: not known */
	const char *doubt;   /* why it may be incomplete, in a line; NULL: it is relied on */
};

struct fg_executed_file *fg_executed_find(const struct fg_executed *executed, const char *path);
struct fg_executed_file *fg_executed_add_file(struct fg_executed *executed, const char *path,
					      bool is_inside, const char *identity);
void fg_executed_add_input(struct fg_executed *executed, const char *path, bool is_inside,
			   const char *identity);
/* "parse.part.0" and "parse.cold" are parts of "parse", and clones of it as well. */
void fg_executed_add_function(struct fg_executed_file *file, const char *name);
bool fg_executed_has_function(const struct fg_executed_file *file, const char *name);
/* Seen by the sampler in a file of this base name; false: known, or no file of the project. */
bool fg_executed_add_sampled(struct fg_executed *executed, const char *library, const char *name);
/* The first reason stays. */
void fg_executed_doubt(struct fg_executed *executed, const char *format, ...) FG_PRINTF(2, 3);

struct fg_strbuf;
/* As text, a line a file or function. */
void fg_executed_write(const struct fg_executed *executed, struct fg_strbuf *text);
/* FG_EPARSE: it is not what fg_executed_write() made; `executed` is empty then. */
int fg_executed_read(const char *text, size_t size, struct fg_executed *executed,
		     struct fg_error *err) FG_NODISCARD;
void fg_executed_release(struct fg_executed *executed);

#endif
