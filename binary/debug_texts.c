// SPDX-License-Identifier: Apache-2.0
/* The texts of a debug index, each stored once. */
#include "binary/debug_index.h"

/* Indexes the texts of the cache before the first one is added. */
static void index_texts(struct fg_debug_index *index)
{
	for (size_t at = 1; at < index->texts_size;) {
		size_t length = strlen(index->texts + at);

		(void)fg_map_add(&index->text_index, index->texts + at, length, at, NULL);
		at += length + 1;
	}
}

/* Texts of the cache may be referenced and must not move, so a copy grows instead. */
static void leave_loaded_texts(struct fg_debug_index *index)
{
	char *copy = fg_xmalloc(index->texts_size + 1);

	if (index->loaded_texts)
		memcpy(copy, index->loaded_texts, index->texts_size);
	index->texts = copy;
	index->texts_capacity = index->texts_size + 1;
}

uint32_t fg_debug_add_text(struct fg_debug_index *index, const char *text)
{
	uint64_t *place;
	size_t size;
	bool is_new;

	if (!text || !*text)
		return 0;
	if (index->text_index.count == 0 && index->texts_size > 1)
		index_texts(index);
	size = strnlen(text, UINT16_MAX) + 1;
	if (index->texts_size + size > UINT32_MAX)
		return 0;
	place = fg_map_add(&index->text_index, text, size - 1, index->texts_size, &is_new);
	if (!is_new)
		return (uint32_t)*place;
	if (index->texts == index->loaded_texts)
		leave_loaded_texts(index);
	index->texts = fg_grow(index->texts, &index->texts_capacity, index->texts_size + size, 1);
	memcpy(index->texts + index->texts_size, text, size - 1);
	index->texts[index->texts_size + size - 1] = '\0';
	index->texts_size += size;
	return (uint32_t)*place;
}
