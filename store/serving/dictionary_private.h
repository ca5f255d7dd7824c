/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a dictionary share: dictionary.c opens and finishes it, dictionary_read.c reads
 * the unpacked bytes, dictionary_ids.c finds the store's rows, dictionary_life.c knows who holds
 * it. Private to store/serving/.
 */
#ifndef FG_STORE_SERVING_DICTIONARY_PRIVATE_H
#define FG_STORE_SERVING_DICTIONARY_PRIVATE_H

#include "base/strbuf.h"
#include "store/serving/dictionary.h"
#include "store/values.h"

enum {
	FG_DICTIONARY_TEXTS = 4 /* of a function: name, library, linkage name, file */
};

/*
 * A text of the dictionary, not copied: up to its first NUL, like every C string that is made of
 * it. `at` is NULL if there is none.
 */
struct fg_dictionary_text {
	const char *at;
	size_t length;
};

struct fg_dictionary_root {
	uint32_t node;
	char *name;
};

/* Reads functions and nodes from the unpacked bytes and checks them. FG_EPARSE; FG_ELIMIT. */
int fg_dictionary_read(struct fg_dictionary *d, const struct fg_bundle_limits *limits,
		       struct fg_error *err) FG_NODISCARD;
/* What fg_dictionary_forget_texts() gives back. */
size_t fg_dictionary_text_bytes(const struct fg_dictionary *d);
/* Forget the base, if there is one. */
void fg_dictionary_leave_base(struct fg_dictionary *d);
/* At the texts of a function; each is read by fg_dictionary_text(). */
struct fg_byte_reader fg_dictionary_texts_of(const struct fg_dictionary *d, size_t function);
struct fg_dictionary_text fg_dictionary_text(struct fg_byte_reader *reader);
/* The key that identifies a function: name, NUL, library. */
void fg_dictionary_key(const struct fg_dictionary *d, size_t function, struct fg_strbuf *key);

#endif
