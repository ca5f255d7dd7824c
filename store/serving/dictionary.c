// SPDX-License-Identifier: Apache-2.0
#include "store/serving/dictionary.h"

#include "base/hash.h"
#include "base/radix_sort.h"
#include "store/serving/dictionary_private.h"

enum {
	STEPS_A_NODE = 2 /* upwards, before looking at the whole tree is quicker */
};

/* Which functions are open at one path of the base, and above it. */
struct opened {
	uint32_t *at; /* by function: when it was last found open */
	uint32_t now; /* one more for each path */
	size_t path;  /* 0: none yet */
};

static size_t open_path(const struct fg_dictionary *d, struct opened *o, size_t path)
{
	size_t steps = 0;

	o->path = path;
	o->now++;
	for (size_t above = path; above; above = d->nodes[above].parent) {
		o->at[d->nodes[above].function] = o->now;
		steps++;
	}
	return steps;
}

/*
 * A path that the base does not have: looks upwards to the first that the base has, and among what
 * is open there, which is the same for most paths close by.
 */
static size_t look_up(struct fg_dictionary *d, struct opened *o, size_t path)
{
	const uint32_t function = d->nodes[path].function;
	size_t above = d->nodes[path].parent;
	size_t steps = 1;

	for (; above && !d->alike.nodes[above]; above = d->nodes[above].parent) {
		d->recursive[path] = d->recursive[path] || d->nodes[above].function == function;
		steps++;
	}
	if (above && above != o->path)
		steps += open_path(d, o, above);
	if ((above && o->at[function] == o->now) || d->nodes[0].function == function)
		d->recursive[path] = true;
	return steps;
}

/* Paths found in the base keep the base's answer.  False: a pass over the whole tree is quicker. */
static bool recursive_by_base(struct fg_dictionary *d)
{
	const size_t most = d->node_count * STEPS_A_NODE;
	struct opened opened = {.at = fg_xcalloc(d->function_count, sizeof(*opened.at))};
	size_t steps = 0;

	d->recursive = fg_xcalloc(d->node_count, sizeof(*d->recursive));
	for (size_t i = 1; i < d->node_count && steps <= most; i++) {
		if (d->alike.nodes[i])
			d->recursive[i] = d->alike.base->recursive[d->alike.nodes[i]];
		else
			steps += look_up(d, &opened, i);
	}
	free(opened.at);
	if (steps <= most)
		return true;
	free(d->recursive);
	d->recursive = NULL;
	return false;
}

static void find_recursive(struct fg_dictionary *d)
{
	if (d->alike.base && recursive_by_base(d))
		return;
	d->recursive = fg_profile_set_is_recursive(
		&(struct fg_profile_set){.nodes = d->nodes,
					 .node_count = d->node_count,
					 .function_count = d->function_count});
}

int fg_dictionary_open(const struct fg_bytes *packed, const struct fg_bundle_limits *limits,
		       const char *hash, struct fg_dictionary *base,
		       struct fg_dictionary **dictionary, struct fg_error *err)
{
	struct fg_dictionary *d = fg_xcalloc(1, sizeof(*d));
	int status = fg_unpack(packed->data, packed->size, limits->dictionary_bytes,
			       &d->texts.content, err);

	atomic_store(&d->holders, 1);
	d->alike.base = base ? fg_dictionary_hold(base) : NULL;
	if (status != FG_OK) {
		fg_error_prefix(err, "dictionary");
		goto failed;
	}
	fg_sha256_hex(d->texts.content.data, d->texts.content.size, d->hash);
	if (strcmp(d->hash, hash) != 0) {
		status = fg_error_set(err, FG_EPARSE,
				      "the dictionary is not the one that the envelope names");
		goto failed;
	}
	status = fg_dictionary_read(d, limits, err);
	if (status != FG_OK)
		goto failed;
	find_recursive(d);
	d->ids.functions = fg_xcalloc(d->function_count, sizeof(*d->ids.functions));
	d->ids.nodes = fg_xcalloc(d->node_count, sizeof(*d->ids.nodes));
	d->ids.missing = d->function_count + d->node_count - 1;
	d->memory_bytes =
		fg_dictionary_text_bytes(d) +
		d->function_count * (sizeof(*d->ids.functions) + sizeof(*d->order.functions)) +
		d->named_roots.count * sizeof(*d->named_roots.items) +
		d->node_count * (sizeof(*d->nodes) + sizeof(*d->roots) + sizeof(*d->recursive) +
				 sizeof(*d->ids.nodes) + sizeof(*d->order.nodes));
	*dictionary = d;
	return FG_OK;
failed:
	fg_dictionary_free(d);
	return status;
}

static uint32_t *in_order(struct fg_keyed *items, size_t count)
{
	uint32_t *order = fg_xcalloc(count, sizeof(*order));

	fg_keyed_sort(items, count);
	for (size_t i = 0; i < count; i++)
		order[i] = items[i].value;
	return order;
}

/* Functions or paths of a dictionary, and those of its base. */
struct likes {
	const uint64_t *ids;
	size_t count;
	const uint32_t *alike;      /* which of the base's each is, from `first` on; 0: none */
	const uint32_t *base_order; /* NULL: there is no base, or it is not in order yet */
	size_t base_count;
	uint32_t first;
};

static struct fg_keyed *keyed(const struct likes *l, bool all, size_t *count)
{
	struct fg_keyed *items = fg_xreallocarray(NULL, l->count, sizeof(*items));

	*count = 0;
	for (size_t i = 0; i < l->count; i++) {
		if (all || !l->alike[i])
			items[(*count)++] = (struct fg_keyed){l->ids[i], (uint32_t)i};
	}
	return items;
}

static uint32_t *sorted(const struct likes *l)
{
	size_t count = 0;
	struct fg_keyed *items = keyed(l, true, &count);
	uint32_t *order = in_order(items, count);

	free(items);
	return order;
}

/* What is in the base is in its order; only the others need to be sorted. */
static uint32_t *merged(const struct likes *l)
{
	uint32_t *order = fg_xcalloc(l->count, sizeof(*order));
	uint32_t *places = fg_xcalloc(l->base_count + l->first, sizeof(*places));
	size_t count = 0;
	size_t next = 0;
	size_t at = 0;
	struct fg_keyed *others = keyed(l, false, &count);

	fg_keyed_sort(others, count);
	for (size_t i = 0; i < l->count; i++)
		places[l->alike[i]] = (uint32_t)i + 1;
	places[0] = 0;
	for (size_t b = 0; b < l->base_count; b++) {
		const uint32_t place = places[l->base_order[b] + l->first];

		if (!place)
			continue;
		while (next < count && others[next].key < l->ids[place - 1])
			order[at++] = others[next++].value;
		order[at++] = place - 1;
	}
	while (next < count)
		order[at++] = others[next++].value;
	FG_ASSERT(at == l->count);
	free(others);
	free(places);
	return order;
}

/* Put it in the store's order once. */
static void put_in_order(struct fg_dictionary *d)
{
	const struct fg_dictionary *base = d->alike.base;
	struct likes functions = {.ids = (const uint64_t *)d->ids.functions,
				  .count = d->function_count,
				  .alike = d->alike.functions,
				  .first = 1};
	struct likes nodes = {.ids = d->ids.nodes, .count = d->node_count, .alike = d->alike.nodes};

	if (base && atomic_load(&base->ids.are_settled)) {
		functions.base_order = base->order.functions;
		functions.base_count = base->function_count;
		nodes.base_order = base->order.nodes;
		nodes.base_count = base->node_count;
	}
	d->order.functions = functions.base_order ? merged(&functions) : sorted(&functions);
	d->order.nodes = nodes.base_order ? merged(&nodes) : sorted(&nodes);
}

void fg_dictionary_finish(struct fg_dictionary *dictionary)
{
	FG_ASSERT(dictionary->ids.missing == 0);
	if (dictionary->order.nodes)
		return;
	put_in_order(dictionary);
	fg_dictionary_leave_base(dictionary);
	atomic_store(&dictionary->ids.are_settled, true);
}
