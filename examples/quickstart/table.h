/* SPDX-License-Identifier: Apache-2.0 */
/* Counts words in a hash table with chains. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

struct entry {
	struct entry *next;
	size_t hash;
	size_t length;
	unsigned long count;
	char word[24];
};

struct table {
	struct entry *chains[512];
	size_t size;
};

void table_count(struct table *table, const char *word, size_t length);
const struct entry *table_most_frequent(const struct table *table);
void table_clear(struct table *table);

#endif
