/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dictionary as a server uses it: opened and checked once, its functions and call paths turned into rows of the
 * database once, then used for every run that refers to it.
 *
 *	fg_dictionary_open() → fg_dictionary_look_up() → fg_store_dictionary_intern() where something was missing →
 *	fg_dictionary_finish()
 *
 * From then on nothing changes in it, and any number of threads may read it.
 */
#ifndef FG_STORE_DICTIONARY_H
#define FG_STORE_DICTIONARY_H

#include "store/bundle.h"
#include "store/ids.h"

struct fg_dictionary {
	char hash[FG_SHA256_HEX_SIZE];
	struct fg_bytes content;       /* unpacked; given back once everything is known */
	struct fg_profile_node *nodes; /* [0] is the unnamed root of all benchmarks */
	size_t node_count;
	size_t function_count;
	uint32_t *roots;       /* per node: the root of the benchmark above it */
	bool *recursive;       /* per node: its function stands above it already */
	size_t *function_at;   /* where the function's texts begin in `content` */
	char **root_names;     /* per node: of a benchmark's root; else NULL */
	int64_t *function_ids; /* the store's; 0: not known yet */
	uint64_t *node_ids;
	uint32_t *functions_in_order; /* by the store's ids */
	uint32_t *nodes_in_order;
	size_t missing; /* functions and nodes that are not known yet */
	size_t memory_bytes;
};

/* FG_EPARSE: damaged, or not the one of that hash; FG_ELIMIT. */
int fg_dictionary_open(const struct fg_bytes *sealed, const struct fg_bundle_limits *limits,
		       const char *hash, struct fg_dictionary **dictionary, struct fg_error *err)
	FG_NODISCARD;
/* Everything is known: make it ready for use. */
void fg_dictionary_finish(struct fg_dictionary *dictionary);
void fg_dictionary_free(struct fg_dictionary *dictionary); /* NULL is fine */
/* Fill in what the process knows already; false when something is missing. */
bool fg_dictionary_look_up(struct fg_dictionary *dictionary, struct fg_ids *ids);
/* Find or add what is missing.  Only after the transaction is committed may the dictionary be used. */
int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *dictionary,
			       struct fg_error *err) FG_NODISCARD;

#endif
