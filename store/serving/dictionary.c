// SPDX-License-Identifier: Apache-2.0
#include "store/serving/dictionary.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "model/profile_set.h"
#include "store/bundle.h"
#include "store/bytes.h"
#include "store/intern.h"
#include "store/serving/ids.h"
#include "store/serving/likeness.h"
#include "store/session.h"
#include "store/transaction.h"
#include "store/values.h"

enum {
	LEAST_FUNCTION_BYTES = 6,
	TEXTS = 4,        /* of a function: name, library, linkage name, file */
	STEPS_A_NODE = 8, /* upwards, before looking at the whole tree is quicker */
	/* The tables are larger than the processor's caches: prefetch this many look-ups ahead. */
	AHEAD = 8
};

/*
 * A text of the dictionary, without copying: up to its first NUL, as everything that keeps it as a
 * C string would.
 */
struct words {
	const char *at;
	size_t length;
};

static struct words read_words(struct fg_byte_reader *reader)
{
	struct words w = {0};
	const size_t size = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &w.at);

	w.length = w.at ? strnlen(w.at, size) : 0;
	return w;
}

/* What makes a function the same one: name, NUL, library. */
static void function_key(const struct words texts[2], struct fg_strbuf *key)
{
	fg_strbuf_clear(key);
	fg_strbuf_add(key, texts[0].at ? texts[0].at : "", texts[0].length);
	fg_strbuf_add_char(key, '\0');
	fg_strbuf_add(key, texts[1].at ? texts[1].at : "", texts[1].length);
}

static struct fg_byte_reader reader_of(const struct fg_dictionary *d, size_t function)
{
	return (struct fg_byte_reader){d->content.data + d->function_at[function],
				       d->content.data + d->content.size, false};
}

static void read_function_key(const struct fg_dictionary *d, size_t function, struct fg_strbuf *key)
{
	struct fg_byte_reader reader = reader_of(d, function);
	struct words texts[2];

	texts[0] = read_words(&reader);
	texts[1] = read_words(&reader);
	function_key(texts, key);
}

/* One function, of which nothing is known. */
static void read_one_function(struct fg_byte_reader *reader, struct fg_dictionary *d, size_t i,
			      struct fg_strbuf *key)
{
	struct words texts[TEXTS];

	d->function_at[i] = (uint32_t)(reader->at - d->content.data);
	for (size_t t = 0; t < TEXTS; t++)
		texts[t] = read_words(reader);
	(void)fg_read_varint(reader);
	(void)fg_read_varint(reader);
	function_key(texts, key);
	d->function_keys[i] = fg_map_hash(key->data, key->length);
}

/* From here on these belong to the base: what was found out about those holds. */
static size_t take_functions(struct fg_byte_reader *reader, struct fg_dictionary *d,
			     struct fg_likeness *walk, size_t i)
{
	const struct fg_dictionary *base = walk->base;
	const uint32_t begin = (uint32_t)(reader->at - d->content.data);
	size_t first = 0;
	const size_t count =
		fg_alike_functions(walk, i, d->function_count - i, reader->at, reader->end, &first);

	if (count == 0)
		return 0;
	for (size_t k = 0; k < count; k++) {
		d->function_at[i + k] =
			begin + (base->function_at[first + k] - base->function_at[first]);
		d->same_functions[i + k] = (uint32_t)(first + k) + 1;
	}
	memcpy(d->function_keys + i, base->function_keys + first,
	       count * sizeof(*d->function_keys));
	reader->at += base->function_at[first + count] - base->function_at[first];
	return count;
}

/* A table of hashes: the places of functions, and one more. */
static bool has_twin(const struct fg_dictionary *d, uint32_t *slots, size_t mask, size_t i,
		     struct fg_strbuf keys[2])
{
	size_t at = (size_t)d->function_keys[i] & mask;

	for (; slots[at]; at = (at + 1) & mask) {
		const size_t other = slots[at] - 1;

		if (d->function_keys[other] != d->function_keys[i])
			continue;
		read_function_key(d, i, &keys[0]);
		read_function_key(d, other, &keys[1]);
		if (keys[0].length == keys[1].length &&
		    memcmp(keys[0].data, keys[1].data, keys[0].length) == 0)
			return true;
	}
	slots[at] = (uint32_t)i + 1;
	return false;
}

/* A duplicate function would be two numbers for one row. */
static bool has_twin_functions(const struct fg_dictionary *d)
{
	struct fg_strbuf keys[2] = {{0}};
	uint32_t *table = NULL;
	size_t slots = 16;
	bool found = false;

	while (slots / 2 < d->function_count)
		slots *= 2;
	table = fg_xcalloc(slots, sizeof(*table));
	for (size_t i = 0; i < d->function_count && !found; i++)
		found = has_twin(d, table, slots - 1, i, keys);
	free(table);
	fg_strbuf_release(&keys[0]);
	fg_strbuf_release(&keys[1]);
	return found;
}

static void leave_base(struct fg_dictionary *d)
{
	free(d->same_functions);
	free(d->same_nodes);
	d->same_functions = NULL;
	d->same_nodes = NULL;
	d->base = NULL;
}

static void read_functions(struct fg_byte_reader *reader, struct fg_dictionary *d)
{
	struct fg_likeness walk = {.base = d->base};
	struct fg_strbuf key = {0};
	size_t i = 0;

	d->function_at = fg_xcalloc(d->function_count + 1, sizeof(*d->function_at));
	d->function_keys = fg_xcalloc(d->function_count + 1, sizeof(*d->function_keys));
	if (d->base)
		d->same_functions = fg_xcalloc(d->function_count + 1, sizeof(*d->same_functions));
	while (i < d->function_count && !reader->failed) {
		const size_t taken = walk.base ? take_functions(reader, d, &walk, i) : 0;

		if (taken == 0)
			read_one_function(reader, d, i, &key);
		i += taken ? taken : 1;
	}
	d->function_at[d->function_count] = (uint32_t)(reader->at - d->content.data);
	/*
	 * The unnamed root is above everything: if its function differs, no path of the base is
	 * ours.
	 */
	if (d->base && (d->function_count == 0 || d->same_functions[0] != 1))
		leave_base(d);
	if (!reader->failed && has_twin_functions(d))
		reader->failed = true;
	fg_strbuf_release(&key);
}

struct fg_dictionary_root {
	uint32_t node;
	char *name;
};

static void add_root(struct fg_dictionary *d, uint32_t node)
{
	struct fg_byte_reader reader = reader_of(d, d->nodes[node].function);
	const struct words name = read_words(&reader);

	d->named_roots = fg_grow(d->named_roots, &d->named_root_capacity, d->named_root_count + 1,
				 sizeof(*d->named_roots));
	d->named_roots[d->named_root_count++] =
		(struct fg_dictionary_root){node, fg_xstrndup(name.at ? name.at : "", name.length)};
}

static int by_node(const void *a, const void *b)
{
	const struct fg_dictionary_root *x = a;
	const struct fg_dictionary_root *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

const char *fg_dictionary_root_name(const struct fg_dictionary *d, uint32_t root)
{
	const struct fg_dictionary_root wanted = {.node = root};
	const struct fg_dictionary_root *found =
		d->named_root_count ? bsearch(&wanted, d->named_roots, d->named_root_count,
					      sizeof(wanted), by_node)
				    : NULL;

	return found ? found->name : NULL;
}

/*
 * Parents that may have two children with the same function.  Children found in the base are
 * distinct, so at least one of two equal ones was not.
 */
static bool *parents_to_check(const struct fg_dictionary *d)
{
	bool *parents = fg_xcalloc(d->node_count, sizeof(*parents));

	for (size_t i = 1; i < d->node_count; i++) {
		if (!d->same_nodes || !d->same_nodes[i])
			parents[d->nodes[i].parent] = true;
	}
	return parents;
}

/* A duplicate path, too, would be two numbers for one row. */
static bool has_twin_nodes(const struct fg_dictionary *d)
{
	bool *parents = parents_to_check(d);
	uint32_t *first = fg_xcalloc(d->node_count, sizeof(*first));
	uint32_t *next = fg_xmalloc(d->node_count * sizeof(*next));
	uint32_t *seen = fg_xcalloc(d->function_count + 1, sizeof(*seen)); /* last below which */
	bool found = false;

	for (size_t i = d->node_count; i-- > 1;) {
		if (!parents[d->nodes[i].parent])
			continue;
		next[i] = first[d->nodes[i].parent];
		first[d->nodes[i].parent] = (uint32_t)i;
	}
	for (size_t parent = 0; parent < d->node_count && !found; parent++) {
		for (uint32_t i = first[parent]; i && !found; i = next[i]) {
			uint32_t *last = &seen[d->nodes[i].function];

			found = *last == parent + 1;
			*last = (uint32_t)parent + 1;
		}
	}
	free(parents);
	free(first);
	free(next);
	free(seen);
	return found;
}

/* The base's number of a path with the same parent and function; 0: none. */
static uint32_t same_node(const struct fg_dictionary *d, struct fg_likeness *walk, size_t i)
{
	const struct fg_profile_node *node = &d->nodes[i];
	const uint32_t parent = d->same_nodes[node->parent];
	const uint32_t function = d->same_functions[node->function];

	if (function == 0 || (node->parent && parent == 0))
		return 0;
	return fg_alike_node(walk, i, parent, function - 1);
}

static void read_nodes(struct fg_byte_reader *reader, const struct fg_bundle_limits *limits,
		       struct fg_dictionary *d)
{
	struct fg_likeness walk = {.base = d->base};
	uint32_t *depths = fg_xcalloc(d->node_count, sizeof(*depths));

	if (d->base)
		d->same_nodes = fg_xcalloc(d->node_count, sizeof(*d->same_nodes));
	d->nodes = fg_xcalloc(d->node_count, sizeof(*d->nodes));
	d->roots = fg_xcalloc(d->node_count, sizeof(*d->roots));
	for (size_t i = 1; i < d->node_count && !reader->failed; i++) {
		const uint64_t back = fg_read_varint(reader);
		const uint64_t function = fg_read_varint(reader);
		const uint32_t parent = back == 0 || back >= i ? 0 : (uint32_t)(i - back);

		depths[i] = depths[parent] + 1;
		if (back >= i || function >= d->function_count || depths[i] > limits->depth) {
			reader->failed = true;
			break;
		}
		d->nodes[i] = (struct fg_profile_node){parent, (uint32_t)function};
		d->roots[i] = parent ? d->roots[parent] : (uint32_t)i;
		if (!parent)
			add_root(d, (uint32_t)i);
		if (walk.base)
			d->same_nodes[i] = same_node(d, &walk, i);
	}
	free(depths);
	if (!reader->failed && has_twin_nodes(d))
		reader->failed = true;
}

static int over_limits(const struct fg_dictionary *d, const struct fg_bundle_limits *limits,
		       struct fg_error *err)
{
	if (d->function_count > limits->functions)
		return fg_error_set(err, FG_ELIMIT, "the run has %zu functions; the limit is %zu",
				    d->function_count, limits->functions);
	if (d->node_count > limits->nodes)
		return fg_error_set(err, FG_ELIMIT, "the run has %zu call paths; the limit is %zu",
				    d->node_count - 1, limits->nodes);
	return FG_OK;
}

static int read_content(struct fg_dictionary *d, const struct fg_bundle_limits *limits,
			struct fg_error *err)
{
	struct fg_byte_reader reader = {d->content.data, d->content.data + d->content.size, false};
	int status = FG_OK;

	d->function_count = fg_read_count(&reader, LEAST_FUNCTION_BYTES);
	status = over_limits(d, limits, err);
	if (status != FG_OK)
		return status;
	read_functions(&reader, d);
	d->node_count = fg_read_count(&reader, 2) + 1;
	status = over_limits(d, limits, err);
	if (status != FG_OK)
		return status;
	read_nodes(&reader, limits, d);
	if (reader.failed || reader.at != reader.end || d->function_count == 0)
		return fg_error_set(err, FG_EPARSE, "the dictionary is damaged or cut short");
	return FG_OK;
}

/* What fg_dictionary_forget_texts() gives back. */
static size_t text_bytes(const struct fg_dictionary *d)
{
	return d->content.size +
	       (d->function_count + 1) * (sizeof(*d->function_at) + sizeof(*d->function_keys));
}

int fg_dictionary_open(const struct fg_bytes *packed, const struct fg_bundle_limits *limits,
		       const char *hash, const struct fg_dictionary *base,
		       struct fg_dictionary **dictionary, struct fg_error *err)
{
	struct fg_dictionary *d = fg_xcalloc(1, sizeof(*d));
	int status =
		fg_unpack(packed->data, packed->size, limits->dictionary_bytes, &d->content, err);

	d->base = base;
	if (status == FG_OK) {
		fg_sha256_hex(d->content.data, d->content.size, d->hash);
		if (strcmp(d->hash, hash) != 0)
			status = fg_error_set(
				err, FG_EPARSE,
				"the dictionary is not the one that the envelope names");
		else
			status = read_content(d, limits, err);
	} else {
		fg_error_prefix(err, "dictionary");
	}
	if (status != FG_OK) {
		fg_dictionary_free(d);
		return status;
	}
	d->function_ids = fg_xcalloc(d->function_count, sizeof(*d->function_ids));
	d->node_ids = fg_xcalloc(d->node_count, sizeof(*d->node_ids));
	d->missing = d->function_count + d->node_count - 1;
	d->memory_bytes =
		text_bytes(d) +
		d->function_count * (sizeof(*d->function_ids) + sizeof(*d->functions_in_order)) +
		d->named_root_count * sizeof(*d->named_roots) +
		d->node_count * (sizeof(*d->nodes) + sizeof(*d->roots) + sizeof(*d->recursive) +
				 sizeof(*d->node_ids) + sizeof(*d->nodes_in_order));
	*dictionary = d;
	return FG_OK;
}

static void release_texts(struct fg_dictionary *d)
{
	fg_bytes_release(&d->content);
	free(d->function_at);
	free(d->function_keys);
	d->function_at = NULL;
	d->function_keys = NULL;
}

void fg_dictionary_forget_texts(struct fg_dictionary *dictionary)
{
	if (!dictionary->content.data)
		return;
	dictionary->memory_bytes -= text_bytes(dictionary);
	release_texts(dictionary);
}

void fg_dictionary_free(struct fg_dictionary *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->named_root_count; i++)
		free(d->named_roots[i].name);
	free(d->named_roots);
	release_texts(d);
	leave_base(d);
	free(d->nodes);
	free(d->roots);
	free(d->recursive);
	free(d->function_ids);
	free(d->node_ids);
	free(d->functions_in_order);
	free(d->nodes_in_order);
	free(d);
}

struct place {
	uint64_t id;
	uint32_t index;
};

enum {
	DIGIT_BITS = 11,
	DIGIT_VALUES = 1 << DIGIT_BITS
};

/* One pass of a stable radix sort, by the digit at `shift`. */
static void sort_pass(const struct place *from, struct place *to, size_t count, unsigned shift)
{
	size_t next[DIGIT_VALUES + 1] = {0};

	for (size_t i = 0; i < count; i++)
		next[(from[i].id >> shift) % DIGIT_VALUES + 1]++;
	for (size_t d = 0; d < DIGIT_VALUES; d++)
		next[d + 1] += next[d];
	for (size_t i = 0; i < count; i++)
		to[next[(from[i].id >> shift) % DIGIT_VALUES]++] = from[i];
}

/* Ids of a store are small numbers: two or three passes do, where comparing would take fifteen. */
static uint32_t *in_order(struct place *places, struct place *room, size_t count)
{
	uint32_t *order = fg_xcalloc(count, sizeof(*order));
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		bits |= places[i].id;
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		struct place *sorted = room;

		sort_pass(places, room, count, shift);
		room = places;
		places = sorted;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = places[i].index;
	return order;
}

/* Put it in the store's order once. */
static void put_in_order(struct fg_dictionary *d)
{
	const size_t most = d->node_count > d->function_count ? d->node_count : d->function_count;
	struct place *places = fg_xmalloc(most * 2 * sizeof(*places));

	for (size_t i = 0; i < d->function_count; i++)
		places[i] = (struct place){(uint64_t)d->function_ids[i], (uint32_t)i};
	d->functions_in_order = in_order(places, places + most, d->function_count);
	for (size_t i = 0; i < d->node_count; i++)
		places[i] = (struct place){d->node_ids[i], (uint32_t)i};
	d->nodes_in_order = in_order(places, places + most, d->node_count);
	free(places);
}

/*
 * Paths found in the base keep the base's answer; the few others are decided by walking up.  False:
 * that would take longer than a pass over the whole tree.
 */
static bool recursive_by_base(struct fg_dictionary *d)
{
	const size_t most = d->node_count * STEPS_A_NODE;
	size_t steps = 0;

	d->recursive = fg_xcalloc(d->node_count, sizeof(*d->recursive));
	for (size_t i = 1; i < d->node_count && steps <= most; i++) {
		const uint32_t function = d->nodes[i].function;
		size_t above = i;

		if (d->same_nodes[i]) {
			d->recursive[i] = d->base->recursive[d->same_nodes[i]];
			continue;
		}
		while (above && !d->recursive[i]) {
			above = d->nodes[above].parent;
			d->recursive[i] = d->nodes[above].function == function;
			steps++;
		}
	}
	if (steps <= most)
		return true;
	free(d->recursive);
	d->recursive = NULL;
	return false;
}

static void find_recursive(struct fg_dictionary *d)
{
	if (d->base && recursive_by_base(d))
		return;
	d->recursive = fg_profile_set_is_recursive(
		&(struct fg_profile_set){.nodes = d->nodes,
					 .node_count = d->node_count,
					 .function_count = d->function_count});
}

void fg_dictionary_finish(struct fg_dictionary *dictionary)
{
	FG_ASSERT(dictionary->missing == 0);
	if (dictionary->nodes_in_order)
		return;
	put_in_order(dictionary);
	find_recursive(dictionary);
	leave_base(dictionary);
}

/* Its parent's row may not be known yet: then this is of no use, and does no harm. */
static void say_next(const struct fg_dictionary *d, const struct fg_ids *ids, size_t i)
{
	fg_ids_node_soon(ids, d->node_ids[d->nodes[i].parent],
			 (uint64_t)d->function_ids[d->nodes[i].function]);
}

static void look_up_functions(struct fg_dictionary *d, const struct fg_ids *ids)
{
	struct fg_strbuf key = {0};

	for (size_t i = 0; i < d->function_count; i++) {
		if (d->base && d->same_functions[i]) {
			d->function_ids[i] = d->base->function_ids[d->same_functions[i] - 1];
			continue;
		}
		read_function_key(d, i, &key);
		d->function_ids[i] =
			fg_ids_function(ids, key.data, key.length, d->function_keys[i]);
		d->missing += d->function_ids[i] == 0;
	}
	fg_strbuf_release(&key);
}

static void look_up_nodes(struct fg_dictionary *d, const struct fg_ids *ids)
{
	for (size_t i = 1; i < d->node_count; i++) {
		const uint32_t parent = d->nodes[i].parent;
		const int64_t function = d->function_ids[d->nodes[i].function];

		if (d->base && d->same_nodes[i]) {
			d->node_ids[i] = d->base->node_ids[d->same_nodes[i]];
			continue;
		}
		if (!d->base && i + AHEAD < d->node_count)
			say_next(d, ids, i + AHEAD);
		d->node_ids[i] = function && (!parent || d->node_ids[parent])
					 ? fg_ids_node(ids, d->node_ids[parent], (uint64_t)function)
					 : 0;
		d->missing += d->node_ids[i] == 0;
	}
}

bool fg_dictionary_look_up(struct fg_dictionary *d, struct fg_ids *ids)
{
	d->missing = 0;
	fg_ids_begin(ids);
	look_up_functions(d, ids);
	look_up_nodes(d, ids);
	fg_ids_end(ids);
	return d->missing == 0;
}

static const char *copy_words(struct fg_arena *arena, const struct words w)
{
	return w.at ? fg_arena_strndup(arena, w.at, w.length) : NULL;
}

static struct fg_profile_function read_function(const struct fg_dictionary *d, size_t i,
						struct fg_arena *arena)
{
	struct fg_byte_reader reader = reader_of(d, i);
	const char *texts[TEXTS] = {NULL};
	struct fg_profile_function function = {0};
	unsigned line = 0;

	for (size_t t = 0; t < TEXTS; t++)
		texts[t] = copy_words(arena, read_words(&reader));
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
		missing += d->function_ids[i] == 0;
	functions = fg_arena_array(&arena, missing, sizeof(*functions));
	places = fg_arena_array(&arena, missing, sizeof(*places));
	ids = fg_arena_array(&arena, missing, sizeof(*ids));
	for (size_t i = 0; i < d->function_count; i++) {
		if (d->function_ids[i])
			continue;
		functions[count] = read_function(d, i, &arena);
		places[count++] = i;
	}
	status = fg_store_function_ids(store, functions, count, ids, err);
	for (size_t i = 0; i < count; i++)
		d->function_ids[places[i]] = ids[i];
	fg_arena_release(&arena);
	return status;
}

int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *d,
			       struct fg_error *err)
{
	const struct fg_tree tree = {.nodes = d->nodes,
				     .first = 1,
				     .count = d->node_count,
				     .functions = d->function_ids,
				     .ids = d->node_ids};
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = fg_store_read_known(store, d->missing, d->missing, err);
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
	d->missing = 0;
	return FG_OK;
}
