// SPDX-License-Identifier: Apache-2.0
/* The unpacked bytes of a dictionary: functions and call paths, read and checked once. */
#include "base/map.h"
#include "store/serving/dictionary_private.h"
#include "store/serving/likeness.h"

enum {
	LEAST_FUNCTION_BYTES = 6
};

struct fg_dictionary_text fg_dictionary_text(struct fg_byte_reader *reader)
{
	struct fg_dictionary_text w = {0};
	const size_t size = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &w.at);

	w.length = w.at ? strnlen(w.at, size) : 0;
	return w;
}

/* What makes a function the same one: name, NUL, library. */
static void function_key(const struct fg_dictionary_text texts[2], struct fg_strbuf *key)
{
	fg_strbuf_clear(key);
	fg_strbuf_add(key, texts[0].at ? texts[0].at : "", texts[0].length);
	fg_strbuf_add_char(key, '\0');
	fg_strbuf_add(key, texts[1].at ? texts[1].at : "", texts[1].length);
}

struct fg_byte_reader fg_dictionary_texts_of(const struct fg_dictionary *d, size_t function)
{
	return (struct fg_byte_reader){d->texts.content.data + d->texts.at[function],
				       d->texts.content.data + d->texts.content.size, false};
}

void fg_dictionary_key(const struct fg_dictionary *d, size_t function, struct fg_strbuf *key)
{
	struct fg_byte_reader reader = fg_dictionary_texts_of(d, function);
	struct fg_dictionary_text texts[2];

	texts[0] = fg_dictionary_text(&reader);
	texts[1] = fg_dictionary_text(&reader);
	function_key(texts, key);
}

/* One function, of which nothing is known. */
static void read_one_function(struct fg_byte_reader *reader, struct fg_dictionary *d, size_t i,
			      struct fg_strbuf *key)
{
	struct fg_dictionary_text texts[FG_DICTIONARY_TEXTS];

	d->texts.at[i] = (uint32_t)(reader->at - d->texts.content.data);
	for (size_t t = 0; t < FG_DICTIONARY_TEXTS; t++)
		texts[t] = fg_dictionary_text(reader);
	(void)fg_read_varint(reader);
	(void)fg_read_varint(reader);
	function_key(texts, key);
	d->texts.keys[i] = fg_map_hash(key->data, key->length);
}

/* From here on these belong to the base: what was found out about those holds. */
static size_t take_functions(struct fg_byte_reader *reader, struct fg_dictionary *d,
			     struct fg_likeness *walk, size_t i)
{
	const struct fg_dictionary *base = walk->base;
	const uint32_t begin = (uint32_t)(reader->at - d->texts.content.data);
	size_t first = 0;
	const size_t count =
		fg_alike_functions(walk, i, d->function_count - i, reader->at, reader->end, &first);

	if (count == 0)
		return 0;
	for (size_t k = 0; k < count; k++) {
		d->texts.at[i + k] = begin + (base->texts.at[first + k] - base->texts.at[first]);
		d->alike.functions[i + k] = (uint32_t)(first + k) + 1;
	}
	memcpy(d->texts.keys + i, base->texts.keys + first, count * sizeof(*d->texts.keys));
	reader->at += base->texts.at[first + count] - base->texts.at[first];
	return count;
}

/* A table of hashes: the places of functions, and one more. */
static bool has_twin(const struct fg_dictionary *d, uint32_t *slots, size_t mask, size_t i,
		     struct fg_strbuf keys[2])
{
	size_t at = (size_t)d->texts.keys[i] & mask;

	for (; slots[at]; at = (at + 1) & mask) {
		const size_t other = slots[at] - 1;

		if (d->texts.keys[other] != d->texts.keys[i])
			continue;
		fg_dictionary_key(d, i, &keys[0]);
		fg_dictionary_key(d, other, &keys[1]);
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

static void read_functions(struct fg_byte_reader *reader, struct fg_dictionary *d)
{
	struct fg_likeness walk = {.base = d->alike.base};
	struct fg_strbuf key = {0};
	size_t i = 0;

	d->texts.at = fg_xcalloc(d->function_count + 1, sizeof(*d->texts.at));
	d->texts.keys = fg_xcalloc(d->function_count + 1, sizeof(*d->texts.keys));
	if (d->alike.base)
		d->alike.functions = fg_xcalloc(d->function_count + 1, sizeof(*d->alike.functions));
	while (i < d->function_count && !reader->failed) {
		const size_t taken = walk.base ? take_functions(reader, d, &walk, i) : 0;

		if (taken == 0)
			read_one_function(reader, d, i, &key);
		i += taken ? taken : 1;
	}
	d->texts.at[d->function_count] = (uint32_t)(reader->at - d->texts.content.data);
	/*
	 * The unnamed root is above everything: if its function differs, no path of the base is
	 * ours.
	 */
	if (d->alike.base && (d->function_count == 0 || d->alike.functions[0] != 1))
		fg_dictionary_leave_base(d);
	if (!reader->failed && has_twin_functions(d))
		reader->failed = true;
	fg_strbuf_release(&key);
}

static void add_root(struct fg_dictionary *d, uint32_t node)
{
	struct fg_byte_reader reader = fg_dictionary_texts_of(d, d->nodes[node].function);
	const struct fg_dictionary_text name = fg_dictionary_text(&reader);

	d->named_roots.items = fg_grow(d->named_roots.items, &d->named_roots.capacity,
				       d->named_roots.count + 1, sizeof(*d->named_roots.items));
	d->named_roots.items[d->named_roots.count++] =
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
		d->named_roots.count ? bsearch(&wanted, d->named_roots.items, d->named_roots.count,
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
		if (!d->alike.nodes || !d->alike.nodes[i])
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
	const uint32_t parent = d->alike.nodes[node->parent];
	const uint32_t function = d->alike.functions[node->function];

	if (function == 0 || (node->parent && parent == 0))
		return 0;
	return fg_alike_node(walk, i, parent, function - 1);
}

static void read_nodes(struct fg_byte_reader *reader, const struct fg_bundle_limits *limits,
		       struct fg_dictionary *d)
{
	struct fg_likeness walk = {.base = d->alike.base};
	uint32_t *depths = fg_xcalloc(d->node_count, sizeof(*depths));

	if (d->alike.base)
		d->alike.nodes = fg_xcalloc(d->node_count, sizeof(*d->alike.nodes));
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
			d->alike.nodes[i] = same_node(d, &walk, i);
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

int fg_dictionary_read(struct fg_dictionary *d, const struct fg_bundle_limits *limits,
		       struct fg_error *err)
{
	struct fg_byte_reader reader = {d->texts.content.data,
					d->texts.content.data + d->texts.content.size, false};
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
