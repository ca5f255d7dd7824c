/* SPDX-License-Identifier: Apache-2.0 */
/* A text for counting words, always the same. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Fills the buffer with words of 2 to 11 letters, some frequent, most rare. */
void text_make(char *text, size_t size);
/* Returns the next word at or after *at, with its length in *length; NULL at the end. */
const char *text_next_word(const char **at, size_t *length);

#endif
