// SPDX-License-Identifier: Apache-2.0
/* Counts the words of a text several times and prints the most frequent one: wordcount [ROUNDS]. */
#include "table.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

static char text[1 << 18];

static void count_words(struct table *table)
{
	const char *at = text;
	const char *word = NULL;
	size_t length = 0;

	while ((word = text_next_word(&at, &length)) != NULL)
		table_count(table, word, length);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 40;
	struct table table = {0};
	const struct entry *best = NULL;

	text_make(text, sizeof(text));
	for (long i = 0; i < rounds; i++)
		count_words(&table);
	best = table_most_frequent(&table);
	if (best)
		printf("%s %lu of %zu words\n", best->word, best->count, table.size);
	table_clear(&table);
	return 0;
}
