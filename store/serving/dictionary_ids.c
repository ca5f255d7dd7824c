// SPDX-License-Identifier: Apache-2.0
/* The store's ids of a dictionary's functions and call paths: looked up in memory, or interned. */
#include "base/arena.h"
#include "store/intern.h"
#include "store/serving/dictionary_private.h"
#include "store/serving/ids.h"
#include "store/session.h"
#include "store/transaction.h"

enum {
	/* The tables are larger than the processor's caches: prefetch this many look-ups ahead. */
	AHEAD = 8
};

/* Its parent's row may not be known yet: then this is of no use, and does no harm. */
static void say_next(const struct fg_dictionary *d, const struct fg_ids *ids, size_t i)
{
	fg_ids_node_soon(ids, d->ids.nodes[d->nodes[i].parent],
			 (uint64_t)d->ids.functions[d->nodes[i].function]);
}

/* The base's ids of what equals a part of it; what is left is missing. */
static void take_ids_of_base(struct fg_dictionary *d)
{
	const struct fg_dictionary *base = d->alike.base;
	size_t missing = 0;

	for (size_t i = 0; i < d->function_count; i++) {
		if (d->alike.functions[i])
			d->ids.functions[i] = base->ids.functions[d->alike.functions[i] - 1];
		missing += d->ids.functions[i] == 0;
	}
	for (size_t i = 1; i < d->node_count; i++) {
		if (d->alike.nodes[i])
			d->ids.nodes[i] = base->ids.nodes[d->alike.nodes[i]];
		missing += d->ids.nodes[i] == 0;
	}
	d->ids.missing = missing;
}

static void forget_ids(struct fg_dictionary *d)
{
	memset(d->ids.functions, 0, d->function_count * sizeof(*d->ids.functions));
	memset(d->ids.nodes, 0, d->node_count * sizeof(*d->ids.nodes));
	d->ids.missing = d->function_count + d->node_count - 1;
}

static void look_up_functions(struct fg_dictionary *d, const struct fg_ids *ids)
{
	struct fg_strbuf key = {0};

	for (size_t i = 0; i < d->function_count; i++) {
		if (d->alike.base && d->alike.functions[i]) {
			d->ids.functions[i] =
				d->alike.base->ids.functions[d->alike.functions[i] - 1];
			continue;
		}
		fg_dictionary_key(d, i, &key);
		d->ids.functions[i] = fg_ids_function(ids, key.data, key.length, d->texts.keys[i]);
		d->ids.missing += d->ids.functions[i] == 0;
	}
	fg_strbuf_release(&key);
}

static void look_up_nodes(struct fg_dictionary *d, const struct fg_ids *ids)
{
	for (size_t i = 1; i < d->node_count; i++) {
		const uint32_t parent = d->nodes[i].parent;
		const int64_t function = d->ids.functions[d->nodes[i].function];

		if (d->alike.base && d->alike.nodes[i]) {
			d->ids.nodes[i] = d->alike.base->ids.nodes[d->alike.nodes[i]];
			continue;
		}
		if (!d->alike.base && i + AHEAD < d->node_count)
			say_next(d, ids, i + AHEAD);
		d->ids.nodes[i] =
			function && (!parent || d->ids.nodes[parent])
				? fg_ids_node(ids, d->ids.nodes[parent], (uint64_t)function)
				: 0;
		d->ids.missing += d->ids.nodes[i] == 0;
	}
}

bool fg_dictionary_look_up(struct fg_dictionary *d, struct fg_ids *ids)
{
	if (d->alike.base && !atomic_load(&d->alike.base->ids.are_settled)) {
		forget_ids(d);
		return false;
	}
	d->ids.missing = 0;
	fg_ids_begin(ids);
	look_up_functions(d, ids);
	look_up_nodes(d, ids);
	fg_ids_end(ids);
	return d->ids.missing == 0;
}

static const char *copy_text(struct fg_arena *arena, const struct fg_dictionary_text text)
{
	return text.at ? fg_arena_strndup(arena, text.at, text.length) : NULL;
}

static struct fg_profile_function read_function(const struct fg_dictionary *d, size_t i,
						struct fg_arena *arena)
{
	struct fg_byte_reader reader = fg_dictionary_texts_of(d, i);
	const char *texts[FG_DICTIONARY_TEXTS] = {NULL};
	struct fg_profile_function function = {0};
	unsigned line = 0;

	for (size_t t = 0; t < FG_DICTIONARY_TEXTS; t++)
		texts[t] = copy_text(arena, fg_dictionary_text(&reader));
	line = (unsigned)fg_read_varint(&reader);
	function.name = texts[0] ? texts[0] : "";
	function.library = texts[1] ? texts[1] : "";
	function.linkage = texts[2] && strcmp(texts[2], function.name) != 0 ? texts[2] : NULL;
	function.file = texts[3];
	function.line = function.file ? line : 0;
	function.inlined = fg_read_varint(&reader) != 0;
	return function;
}

static int intern_functions(struct fg_store *store, struct fg_dictionary *d, struct fg_error *err)
{
	struct fg_arena arena = {0};
	struct fg_profile_function *functions = NULL;
	size_t *places = NULL;
	int64_t *ids = NULL;
	size_t missing = 0;
	size_t count = 0;
	int status = FG_OK;

	for (size_t i = 0; i < d->function_count; i++)
		missing += d->ids.functions[i] == 0;
	functions = fg_arena_array(&arena, missing, sizeof(*functions));
	places = fg_arena_array(&arena, missing, sizeof(*places));
	ids = fg_arena_array(&arena, missing, sizeof(*ids));
	for (size_t i = 0; i < d->function_count; i++) {
		if (d->ids.functions[i])
			continue;
		functions[count] = read_function(d, i, &arena);
		places[count++] = i;
	}
	status = fg_store_function_ids(store, functions, count, ids, err);
	for (size_t i = 0; i < count; i++)
		d->ids.functions[places[i]] = ids[i];
	fg_arena_release(&arena);
	return status;
}

int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *d,
			       struct fg_error *err)
{
	const struct fg_tree tree = {.nodes = d->nodes,
				     .first = 1,
				     .count = d->node_count,
				     .functions = d->ids.functions,
				     .ids = d->ids.nodes};
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = fg_store_lock_names(store, err);
	if (status != FG_OK)
		goto out;
	if (d->alike.base && (atomic_load(&d->alike.base->ids.are_settled) ||
			      fg_store_turn_holds(store, &d->alike.base->ids.turn)))
		take_ids_of_base(d);
	status = fg_store_read_known(store, d->ids.missing, d->ids.missing, err);
	if (status != FG_OK)
		goto out;
	status = intern_functions(store, d, err);
	if (status != FG_OK)
		goto out;
	status = fg_store_node_ids(store, &tree, err);
out:
	status = fg_store_end(store, status, err);
	if (status != FG_OK)
		return status;
	d->ids.missing = 0;
	d->ids.turn = store->batch.turn;
	return FG_OK;
}
