// SPDX-License-Identifier: Apache-2.0
#include "store/dictionary.h"

#include "store/store_private.h"

enum {
	LEAST_FUNCTION_BYTES = 6,
	TEXTS = 4, /* of a function: name, library, linkage name, file */
	AHEAD = 8 /* tables are larger than the processor's caches: say so many look-ups before which place is next */
};

/* A text of the dictionary, without copying: up to its first NUL, as everything that keeps it as a C string would. */
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

static void read_functions(struct fg_byte_reader *reader, struct fg_dictionary *d)
{
	struct fg_map seen = {0};
	struct fg_strbuf key = {0};

	d->function_at = fg_xcalloc(d->function_count, sizeof(*d->function_at));
	for (size_t i = 0; i < d->function_count && !reader->failed; i++) {
		struct words texts[TEXTS];
		bool is_new = false;

		d->function_at[i] = (size_t)(reader->at - d->content.data);
		for (size_t t = 0; t < TEXTS; t++)
			texts[t] = read_words(reader);
		(void)fg_read_varint(reader);
		(void)fg_read_varint(reader);
		function_key(texts, &key);
		(void)fg_map_add(&seen, key.data, key.length, i, &is_new);
		if (!is_new)
			reader->failed = true;
	}
	fg_strbuf_release(&key);
	fg_map_release(&seen);
}

static char *function_name(const struct fg_dictionary *d, uint32_t function)
{
	struct fg_byte_reader reader = {d->content.data + d->function_at[function],
					d->content.data + d->content.size, false};
	const struct words name = read_words(&reader);

	return fg_xstrndup(name.at ? name.at : "", name.length);
}

static uint64_t node_key(const struct fg_dictionary *d, size_t i)
{
	return (uint64_t)d->nodes[i].parent << 32 | (d->nodes[i].function + 1);
}

/* A path that is there twice would be two names for one row. */
static bool has_twins(const struct fg_dictionary *d)
{
	struct fg_id_table seen = {0};
	bool found = false;

	fg_id_table_reserve(&seen, d->node_count);
	for (size_t i = 1; i < d->node_count && !found; i++) {
		if (i + AHEAD < d->node_count)
			fg_id_table_soon(&seen, node_key(d, i + AHEAD));
		found = fg_id_table_add(&seen, node_key(d, i), i) != i;
	}
	fg_id_table_release(&seen);
	return found;
}

static void read_nodes(struct fg_byte_reader *reader, const struct fg_bundle_limits *limits,
		       struct fg_dictionary *d)
{
	uint32_t *depths = fg_xcalloc(d->node_count, sizeof(*depths));

	d->nodes = fg_xcalloc(d->node_count, sizeof(*d->nodes));
	d->roots = fg_xcalloc(d->node_count, sizeof(*d->roots));
	d->root_names = fg_xcalloc(d->node_count, sizeof(*d->root_names));
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
			d->root_names[i] = function_name(d, (uint32_t)function);
	}
	free(depths);
	if (!reader->failed && has_twins(d))
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

int fg_dictionary_open(const struct fg_bytes *sealed, const struct fg_bundle_limits *limits,
		       const char *hash, struct fg_dictionary **dictionary, struct fg_error *err)
{
	struct fg_dictionary *d = fg_xcalloc(1, sizeof(*d));
	int status =
		fg_unseal(sealed->data, sealed->size, limits->dictionary_bytes, &d->content, err);

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
	d->recursive = fg_profile_set_is_recursive(
		&(struct fg_profile_set){.nodes = d->nodes,
					 .node_count = d->node_count,
					 .function_count = d->function_count});
	d->function_ids = fg_xcalloc(d->function_count, sizeof(*d->function_ids));
	d->node_ids = fg_xcalloc(d->node_count, sizeof(*d->node_ids));
	d->missing = d->function_count + d->node_count - 1;
	d->memory_bytes =
		d->function_count * (sizeof(*d->function_ids) + sizeof(uint32_t)) +
		d->node_count * (sizeof(*d->nodes) + sizeof(*d->roots) + sizeof(bool) +
				 sizeof(*d->root_names) + sizeof(*d->node_ids) + sizeof(uint32_t));
	*dictionary = d;
	return FG_OK;
}

void fg_dictionary_free(struct fg_dictionary *d)
{
	if (!d)
		return;
	for (size_t i = 0; d->root_names && i < d->node_count; i++)
		free(d->root_names[i]);
	free(d->root_names);
	fg_bytes_release(&d->content);
	free(d->nodes);
	free(d->roots);
	free(d->recursive);
	free(d->function_at);
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

/* One pass of a sort by digits: by the one that begins at `shift`, else as they are. */
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

/* Put it in the store's order once, and forget the texts. */
static void put_in_order(struct fg_dictionary *d)
{
	const size_t most = d->node_count > d->function_count ? d->node_count : d->function_count;
	struct place *places = fg_xcalloc(most, 2 * sizeof(*places));

	for (size_t i = 0; i < d->function_count; i++)
		places[i] = (struct place){(uint64_t)d->function_ids[i], (uint32_t)i};
	d->functions_in_order = in_order(places, places + most, d->function_count);
	for (size_t i = 0; i < d->node_count; i++)
		places[i] = (struct place){d->node_ids[i], (uint32_t)i};
	d->nodes_in_order = in_order(places, places + most, d->node_count);
	free(places);
	fg_bytes_release(&d->content);
	free(d->function_at);
	d->function_at = NULL;
}

void fg_dictionary_finish(struct fg_dictionary *dictionary)
{
	FG_ASSERT(dictionary->missing == 0);
	if (!dictionary->nodes_in_order)
		put_in_order(dictionary);
}

/* Its parent's row may not be known yet: then this is of no use, and does no harm. */
static void say_next(const struct fg_dictionary *d, const struct fg_ids *ids, size_t i)
{
	fg_ids_node_soon(ids, d->node_ids[d->nodes[i].parent],
			 (uint64_t)d->function_ids[d->nodes[i].function]);
}

bool fg_dictionary_look_up(struct fg_dictionary *d, struct fg_ids *ids)
{
	struct fg_strbuf key = {0};

	d->missing = 0;
	fg_ids_begin(ids);
	for (size_t i = 0; i < d->function_count; i++) {
		struct fg_byte_reader reader = {d->content.data + d->function_at[i],
						d->content.data + d->content.size, false};
		struct words texts[2];

		texts[0] = read_words(&reader);
		texts[1] = read_words(&reader);
		function_key(texts, &key);
		d->function_ids[i] = fg_ids_function(ids, key.data, key.length);
		d->missing += d->function_ids[i] == 0;
	}
	for (size_t i = 1; i < d->node_count; i++) {
		const uint32_t parent = d->nodes[i].parent;
		const int64_t function = d->function_ids[d->nodes[i].function];

		if (i + AHEAD < d->node_count)
			say_next(d, ids, i + AHEAD);
		d->node_ids[i] = function && (!parent || d->node_ids[parent])
					 ? fg_ids_node(ids, d->node_ids[parent], (uint64_t)function)
					 : 0;
		d->missing += d->node_ids[i] == 0;
	}
	fg_ids_end(ids);
	fg_strbuf_release(&key);
	return d->missing == 0;
}

static const char *copy_words(struct fg_arena *arena, const struct words w)
{
	return w.at ? fg_arena_strndup(arena, w.at, w.length) : NULL;
}

static struct fg_profile_function read_function(const struct fg_dictionary *d, size_t i,
						struct fg_arena *arena)
{
	struct fg_byte_reader reader = {d->content.data + d->function_at[i],
					d->content.data + d->content.size, false};
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
	struct fg_profile_function *functions =
		fg_arena_array(&arena, d->function_count, sizeof(*functions));
	size_t *places = fg_arena_array(&arena, d->function_count, sizeof(*places));
	int64_t *ids = fg_arena_array(&arena, d->function_count, sizeof(*ids));
	size_t count = 0;
	int status = FG_OK;

	for (size_t i = 0; i < d->function_count; i++) {
		if (d->function_ids[i])
			continue;
		functions[count] = read_function(d, i, &arena);
		places[count++] = i;
	}
	status = fg__store_function_ids(store, functions, count, ids, err);
	for (size_t i = 0; i < count; i++)
		d->function_ids[places[i]] = ids[i];
	fg_arena_release(&arena);
	return status;
}

int fg_store_dictionary_intern(struct fg_store *store, struct fg_dictionary *d,
			       struct fg_error *err)
{
	const struct fg__tree tree = {.nodes = d->nodes,
				      .first = 1,
				      .count = d->node_count,
				      .functions = d->function_ids,
				      .ids = d->node_ids};
	int status = fg__store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = fg__store_read_known(store, d->missing, d->missing, err);
	if (status == FG_OK)
		status = intern_functions(store, d, err);
	if (status == FG_OK)
		status = fg__store_node_ids(store, &tree, err);
	status = fg__store_end(store, status, err);
	if (status != FG_OK)
		return status;
	d->missing = 0;
	return FG_OK;
}
