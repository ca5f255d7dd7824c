/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dictionary as a server uses it: unpacked, checked and resolved to database rows once, then used
 * for every run that refers to it.
 *
 *	fg_dictionary_open()
 *	fg_dictionary_look_up()
 *	fg_store_dictionary_intern(), if something was missing
 *	fg_dictionary_finish()
 *
 * After that it is immutable, and any number of threads may read it.
 *
 * When a program's code changes, its dictionary stays nearly the same.  So a new one may be opened
 * with another one as its `base`: parts that are equal byte by byte need no lookup.  Any base is
 * correct; one with little in common saves little.  The base need not be finished: builds that
 * arrive at once are opened beside each other, and each gets the base's ids when its turn comes to
 * be interned, if the base's came before.
 */
#ifndef FG_STORE_SERVING_DICTIONARY_H
#define FG_STORE_SERVING_DICTIONARY_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"
#include "model/profile_set.h"
#include "store/bundle.h"
#include "store/bytes.h"
#include "store/turn.h"

#include <stdatomic.h>

struct fg_ids;
struct fg_store;

struct fg_dictionary_root;

struct fg_dictionary {
	atomic_uint holders;
	char hash[FG_SHA256_HEX_SIZE];
	struct fg_profile_node *nodes; /* [0] is the unnamed root of all benchmarks */
	size_t node_count;
	size_t function_count;
	uint32_t *roots; /* per node: the root of the benchmark above it */
	bool *recursive; /* per node: its function already appears above it */
	size_t memory_bytes;
	/* The roots of the benchmarks, ascending. */
	struct {
		struct fg_dictionary_root *items;
		size_t count;
		size_t capacity;
	} named_roots;
	/* The unpacked bytes, until fg_dictionary_forget_texts(). */
	struct {
		struct fg_bytes content;
		uint32_t *at;   /* per function: where its texts begin; last: where they end */
		uint64_t *keys; /* per function: the hash of its name and library */
	} texts;
	/* The store's ids; 0: not known yet. */
	struct {
		int64_t *functions;
		uint64_t *nodes;
		size_t missing;
		struct fg_turn turn; /* in which the last of them were given */
		atomic_bool
			are_settled; /* all are known, and committed: any thread may read them */
	} ids;
	/* Indexes, ordered by the store's ids. */
	struct {
		uint32_t *functions;
		uint32_t *nodes;
	} order;
	/* What equals a part of the base, until the dictionary is finished. */
	struct {
		struct fg_dictionary *base;
		uint32_t *functions; /* index in the base plus one; 0: none */
		uint32_t *nodes;     /* the same path in the base; 0: none */
	} alike;
};

/*
 * FG_EPARSE: damaged, or not the one of that hash; FG_ELIMIT.  `base` may be NULL; it has its
 * texts, and is held until the dictionary is finished or freed.
 */
int fg_dictionary_open(const struct fg_bytes *packed, const struct fg_bundle_limits *limits,
		       const char *hash, struct fg_dictionary *base,
		       struct fg_dictionary **dictionary, struct fg_error *err) FG_NODISCARD;
/* One more that has to free it. */
struct fg_dictionary *fg_dictionary_hold(struct fg_dictionary *dictionary);
/* Every id is known: make the dictionary ready for use. */
void fg_dictionary_finish(struct fg_dictionary *dictionary);
/* It will never be a base: free what takes most of its memory, unless somebody else holds it. */
void fg_dictionary_forget_texts(struct fg_dictionary *dictionary);
/* With its last holder, it goes.  NULL is fine. */
void fg_dictionary_free(struct fg_dictionary *dictionary);
/* Free one that will never be finished: those who hold it as their base do not keep its own. */
void fg_dictionary_abandon(struct fg_dictionary *dictionary);
/*
 * Fill in what the process knows already; false when something is missing.  Beside a base with ids
 * that are not settled, nothing is looked up: some of them are missing here, too.
 */
bool fg_dictionary_look_up(struct fg_dictionary *dictionary, struct fg_ids *ids);
/* The name of a benchmark's program, by the root of its paths. */
const char *fg_dictionary_root_name(const struct fg_dictionary *dictionary, uint32_t root);
/*
 * Find or add what is missing.  Only after the transaction is committed may the dictionary be used.
 */
int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *dictionary,
			       struct fg_error *err) FG_NODISCARD;

#endif
