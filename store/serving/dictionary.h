/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dictionary as a server uses it: unpacked, checked and resolved to database rows once, then used
 * for every run that refers to it.
 *
 *	fg_dictionary_open() → fg_dictionary_look_up() → fg_store_dictionary_intern() where something was missing →
 *	fg_dictionary_finish()
 *
 * From then on it is immutable, and any number of threads may read it.
 *
 * When a program's code changes, its dictionary stays nearly the same.  So a new one may be opened
 * with a finished one as its `base`: parts that are equal byte by byte need no lookup.  Any base is
 * correct; one with little in common saves little.
 */
#ifndef FG_STORE_SERVING_DICTIONARY_H
#define FG_STORE_SERVING_DICTIONARY_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/profile_set.h"
#include "store/bundle.h"
#include "store/bytes.h"

struct fg_ids;
struct fg_store;

struct fg_dictionary_root;

struct fg_dictionary {
	char hash[FG_SHA256_HEX_SIZE];
	struct fg_bytes content;       /* unpacked; until fg_dictionary_forget_texts() */
	struct fg_profile_node *nodes; /* [0] is the unnamed root of all benchmarks */
	size_t node_count;
	size_t function_count;
	uint32_t *roots; /* per node: the root of the benchmark above it */
	bool *recursive; /* per node: its function stands above it already */
	/* where the function's texts begin in `content`; last: where they end */
	uint32_t *function_at;
	uint64_t *function_keys;                /* hashes of name and library */
	struct fg_dictionary_root *named_roots; /* of the benchmarks, ascending */
	size_t named_root_count;
	size_t named_root_capacity;
	int64_t *function_ids; /* the store's; 0: not known yet */
	uint64_t *node_ids;
	uint32_t *functions_in_order; /* by the store's ids */
	uint32_t *nodes_in_order;
	size_t missing; /* functions and nodes without an id */
	size_t memory_bytes;
	/* Until it is finished. */
	const struct fg_dictionary *base;
	/* one more than the place of the same function in `base`; 0: none */
	uint32_t *same_functions;
	uint32_t *same_nodes; /* the same path in `base`; 0: none */
};

/*
 * FG_EPARSE: damaged, or not the one of that hash; FG_ELIMIT.  `base` may be NULL; it has its
 * texts, and lives until the dictionary is finished or freed.
 */
int fg_dictionary_open(const struct fg_bytes *packed, const struct fg_bundle_limits *limits,
		       const char *hash, const struct fg_dictionary *base,
		       struct fg_dictionary **dictionary, struct fg_error *err) FG_NODISCARD;
/* Every id is known: make the dictionary ready for use. */
void fg_dictionary_finish(struct fg_dictionary *dictionary);
/* It will never be a base: free what takes most of its memory. */
void fg_dictionary_forget_texts(struct fg_dictionary *dictionary);
void fg_dictionary_free(struct fg_dictionary *dictionary); /* NULL is fine */
/* Fill in what the process knows already; false when something is missing. */
bool fg_dictionary_look_up(struct fg_dictionary *dictionary, struct fg_ids *ids);
/* The name of a benchmark's program, by the root of its paths. */
const char *fg_dictionary_root_name(const struct fg_dictionary *dictionary, uint32_t root);
/*
 * Find or add what is missing.  Only after the transaction is committed may the dictionary be used.
 */
int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *dictionary,
			       struct fg_error *err) FG_NODISCARD;

#endif
