// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <ctype.h>

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 8;
}

void text_make(char *text, size_t size)
{
	unsigned state = 20260831U;
	size_t at = 0;

	while (at + 16 < size) {
		/* Squaring favours small numbers: a few words are frequent, many are rare. */
		const unsigned a = next_random(&state) % 64;
		unsigned word = a * a + next_random(&state) % 128;
		const size_t length = 2 + word % 10;

		for (size_t i = 0; i < length; i++) {
			text[at++] = (char)('a' + word % 26);
			word = word * 31 + 7;
		}
		text[at++] = ' ';
	}
	text[at] = '\0';
}

const char *text_next_word(const char **at, size_t *length)
{
	const char *word = *at;
	const char *end = NULL;

	while (*word && !isalpha((unsigned char)*word))
		word++;
	if (!*word)
		return NULL;
	for (end = word; isalpha((unsigned char)*end);)
		end++;
	*length = (size_t)(end - word);
	*at = end;
	return word;
}
