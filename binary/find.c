// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "binary/code.h"
#include "binary/image.h"

static int compare_to_item(const void *name, const void *item)
{
	return strcmp(name, ((const struct fg_code_item *)item)->name);
}

static int compare_to_alias(const void *name, const void *alias)
{
	return strcmp(name, ((const struct fg_code_alias *)alias)->name);
}

/* Returns the item of this alias; FG_CODE_NONE: none, or several. */
static uint32_t item_of_alias(const struct fg_code *code, const char *name)
{
	const struct fg_code_alias *end = code->aliases + code->alias_count;
	const struct fg_code_alias *first =
		code->alias_count ? bsearch(name, code->aliases, code->alias_count,
					    sizeof(code->aliases[0]), compare_to_alias)
				  : NULL;
	uint32_t item = first ? first->item : FG_CODE_NONE;

	if (!first)
		return FG_CODE_NONE;
	while (first > code->aliases && strcmp(first[-1].name, name) == 0)
		first--;
	for (; first < end && strcmp(first->name, name) == 0; first++) {
		if (first->item != item)
			return FG_CODE_NONE;
	}
	return item;
}

const struct fg_code_item *fg_code_find(const struct fg_code *code, const char *name)
{
	struct fg_arena arena = {0};
	const char *plain = fg_image_plain_name(&arena, name);
	const struct fg_code_item *item = code->item_count
						  ? bsearch(plain, code->items, code->item_count,
							    sizeof(code->items[0]), compare_to_item)
						  : NULL;
	const uint32_t other = item_of_alias(code, plain);

	if (other != FG_CODE_NONE && item && strcmp(code->items[other].name, plain) != 0)
		item = NULL;
	else if (other != FG_CODE_NONE)
		item = &code->items[other];
	while (item && item > code->items && strcmp(item[-1].name, item->name) == 0)
		item--;
	fg_arena_release(&arena);
	return item;
}

const struct fg_code_item *fg_code_at(const struct fg_code *code, uint64_t address)
{
	for (size_t i = 0; i < code->item_count; i++) {
		const struct fg_code_item *item = &code->items[i];

		if (item->is_function && address >= item->address &&
		    address - item->address < item->size)
			return item;
	}
	return NULL;
}
