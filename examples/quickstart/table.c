// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_word(const char *word, size_t length)
{
	size_t hash = 14695981039346656037U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)word[i]) * 1099511628211U;
	return hash;
}

static struct entry *find(struct table *table, const char *word, size_t length, size_t hash)
{
	struct entry *entry = table->chains[hash % 512];

	/* The hash rejects nearly all other words; only then are the letters compared. */
	while (entry && (entry->hash != hash || entry->length != length ||
			 memcmp(entry->word, word, length) != 0))
		entry = entry->next;
	return entry;
}

void table_count(struct table *table, const char *word, size_t length)
{
	const size_t hash = hash_word(word, length);
	struct entry *entry = find(table, word, length, hash);

	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			abort();
		memcpy(entry->word, word, length);
		entry->length = length;
		entry->hash = hash;
		entry->next = table->chains[hash % 512];
		table->chains[hash % 512] = entry;
		table->size++;
	}
	entry->count++;
}

const struct entry *table_most_frequent(const struct table *table)
{
	const struct entry *best = NULL;

	for (size_t i = 0; i < 512; i++) {
		for (const struct entry *entry = table->chains[i]; entry; entry = entry->next) {
			if (!best || entry->count > best->count)
				best = entry;
		}
	}
	return best;
}

void table_clear(struct table *table)
{
	for (size_t i = 0; i < 512; i++) {
		while (table->chains[i]) {
			struct entry *next = table->chains[i]->next;

			free(table->chains[i]);
			table->chains[i] = next;
		}
	}
	table->size = 0;
}
