/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the binaries of one side of a benchmark. An unavailable fact is NULL and equals no
 * other fact. Reports and databases keep each fact as text under a dotted key:
 * fg_build_facts_list() writes this form, fg_build_facts_set() reads it.
 */
#ifndef FG_MODEL_BUILD_FACTS_H
#define FG_MODEL_BUILD_FACTS_H

#include "model/environment.h"

struct fg_build_library {
	char *name;     /* as named by the program that loads it */
	char *identity; /* build-id, or the reason why the file lacks a build-id */
	bool is_own;    /* lies inside the side's own tree */
	/* libraries of the project only */
	char *code;
	char *layout;
	char *place; /* path within the checkout */
};

enum fg_compared {
	FG_COMPARED_UNKNOWN,
	FG_COMPARED_SAME,           /* same code, and everything that it references is the same */
	FG_COMPARED_REACHES_CHANGE, /* same code, but something that it references changed */
	FG_COMPARED_CHANGED,
};

/* Properties of a function's machine code; x86-64 only. */
struct fg_code_form {
	unsigned vectors;    /* arithmetic instructions on vectors */
	unsigned tail_calls; /* jumps that replace calls */
};

/* A hot function, compared with the baseline's. */
struct fg_build_function {
	char *name; /* linkage name */
	enum fg_compared state;
	unsigned offset[2]; /* address within a page: baseline, candidate */
	struct fg_code_form form[2];
};

struct fg_build_facts {
	char *program; /* file name */
	char *id;      /* build-id */
	char *size;    /* bytes */
	char *compiler;
	char *comment; /* the section .comment, which also names compilers */
	char *flags;
	char *optimisation;
	char *producers; /* number of different compilers or options, if above 1 */
	char *linking;   /* "dynamic" or "static" */
	char *debug_info;
	char *code;   /* digest of the machine code, independent of its address */
	char *layout; /* digest of everything that is loaded, with its addresses */
	char *inputs; /* digest of the files named on the command line, and of the project's data */
	/*
	 * Other files mapped during the run: plugins, child programs and their libraries. Only
	 * sampling finds them: a digest, and the names separated by blanks.
	 */
	char *mapped;
	char *modules;
	char *shared_libraries; /* paths in the user's work tree; the side was built elsewhere */
	/* candidate only */
	char *setup;   /* set-up command that left a process running, which outlives a pair */
	char *changed; /* linkage names of functions and objects; " ..." ends a cut list */
	struct fg_build_function *functions;
	size_t function_count, function_capacity;

	struct fg_build_library *libraries; /* sorted by name */
	size_t library_count, library_capacity;
	struct fg_environment other; /* keys that this version does not know */
};

void fg_build_facts_release(struct fg_build_facts *build);
void fg_build_facts_copy(struct fg_build_facts *to, const struct fg_build_facts *from);
/* Returns the number of known facts. */
size_t fg_build_facts_count(const struct fg_build_facts *build);
/* Replaces a field with a copy of `value`. */
void fg_build_facts_put(char **field, const char *value);
/* Copies the name. */
void fg_build_facts_add_function(struct fg_build_facts *build,
				 const struct fg_build_function *function);
void fg_build_facts_forget_functions(struct fg_build_facts *build);

void fg_build_facts_set(struct fg_build_facts *build, const char *key, const char *value);
/* Lists all facts under their keys. */
void fg_build_facts_list(const struct fg_build_facts *build, struct fg_environment *facts);

/* True if both facts are known and equal. */
bool fg_fact_is_equal(const char *a, const char *b);

/* Finds or adds a library. The pointer is valid until the next library is added. */
struct fg_build_library *fg_build_facts_add_library(struct fg_build_facts *build, const char *name);
/* Returns NULL if the library is not loaded. */
const struct fg_build_library *fg_build_facts_library(const struct fg_build_facts *build,
						      const char *name);
/* Does the library have a build-id? Without a build-id it cannot be identified reliably. */
bool fg_library_has_id(const struct fg_build_library *library);

/*
 * Walks the libraries of two builds by name:
 *	struct fg_library_pair pair = {.builds = {baseline, candidate}};
 *	while (fg_library_pair_next(&pair)) ...
 */
struct fg_library_pair {
	const struct fg_build_facts *builds[2];
	const struct fg_build_library *sides[2]; /* NULL: this build lacks the library */
	size_t next[2];
};

bool fg_library_pair_next(struct fg_library_pair *pair);
const char *fg_library_pair_name(const struct fg_library_pair *pair);
/* Do both sides load the same file? */
bool fg_library_pair_is_same(const struct fg_library_pair *pair);

#endif
