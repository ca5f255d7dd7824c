// SPDX-License-Identifier: Apache-2.0
/* Who holds a dictionary, and what goes with the last holder. */
#include "store/serving/dictionary_private.h"

size_t fg_dictionary_text_bytes(const struct fg_dictionary *d)
{
	return d->texts.content.size +
	       (d->function_count + 1) * (sizeof(*d->texts.at) + sizeof(*d->texts.keys));
}

struct fg_dictionary *fg_dictionary_hold(struct fg_dictionary *dictionary)
{
	atomic_fetch_add(&dictionary->holders, 1);
	return dictionary;
}

void fg_dictionary_leave_base(struct fg_dictionary *d)
{
	free(d->alike.functions);
	free(d->alike.nodes);
	fg_dictionary_free(d->alike.base);
	d->alike.functions = NULL;
	d->alike.nodes = NULL;
	d->alike.base = NULL;
}

static void release_texts(struct fg_dictionary *d)
{
	fg_bytes_release(&d->texts.content);
	free(d->texts.at);
	free(d->texts.keys);
	d->texts.at = NULL;
	d->texts.keys = NULL;
}

void fg_dictionary_forget_texts(struct fg_dictionary *dictionary)
{
	if (!dictionary->texts.content.data || atomic_load(&dictionary->holders) > 1)
		return;
	dictionary->memory_bytes -= fg_dictionary_text_bytes(dictionary);
	release_texts(dictionary);
}

void fg_dictionary_free(struct fg_dictionary *d)
{
	if (!d || atomic_fetch_sub(&d->holders, 1) > 1)
		return;
	for (size_t i = 0; i < d->named_roots.count; i++)
		free(d->named_roots.items[i].name);
	free(d->named_roots.items);
	release_texts(d);
	fg_dictionary_leave_base(d);
	free(d->nodes);
	free(d->roots);
	free(d->recursive);
	free(d->ids.functions);
	free(d->ids.nodes);
	free(d->order.functions);
	free(d->order.nodes);
	free(d);
}

void fg_dictionary_abandon(struct fg_dictionary *dictionary)
{
	if (dictionary)
		fg_dictionary_leave_base(dictionary);
	fg_dictionary_free(dictionary);
}
