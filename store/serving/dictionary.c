// SPDX-License-Identifier: Apache-2.0
#include "store/serving/dictionary.h"

#include "base/hash.h"
#include "base/radix_sort.h"
#include "store/serving/dictionary_private.h"

enum {
	STEPS_A_NODE = 2 /* upwards, before looking at the whole tree is quicker */
};

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

		if (d->alike.nodes[i]) {
			d->recursive[i] = d->alike.base->recursive[d->alike.nodes[i]];
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

/* Put it in the store's order once. */
static void put_in_order(struct fg_dictionary *d)
{
	const size_t most = d->node_count > d->function_count ? d->node_count : d->function_count;
	struct fg_keyed *items = fg_xreallocarray(NULL, most, sizeof(*items));

	for (size_t i = 0; i < d->function_count; i++)
		items[i] = (struct fg_keyed){(uint64_t)d->ids.functions[i], (uint32_t)i};
	d->order.functions = in_order(items, d->function_count);
	for (size_t i = 0; i < d->node_count; i++)
		items[i] = (struct fg_keyed){d->ids.nodes[i], (uint32_t)i};
	d->order.nodes = in_order(items, d->node_count);
	free(items);
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
