/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each struct, one function lists its members in order; it both writes the struct as a JSON
 * object and reads it back.  The input is not trusted: a member that is absent or has another type
 * counts as null.
 *
 *	static bool exchange_point(const struct fg_exchange *with, void *at)
 *	{
 *		struct point *point = at;
 *
 *		fg_exchange_text(with, "name", &point->name);
 *		fg_exchange_number(with, "x", &point->x);
 *		return true;
 *	}
 */
#ifndef FG_BASE_JSON_EXCHANGE_H
#define FG_BASE_JSON_EXCHANGE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"

struct fg_exchange {
	struct fg_json_writer *w; /* the writer; NULL to read */
	const cJSON *json;        /* the object to read */
	struct fg_arena *arena;   /* holds the values that are read */
	const void *context;      /* passed through to the functions */
};

/* Returns false if the input does not describe a valid object; the object is then left out. */
typedef bool fg_exchange_members(const struct fg_exchange *with, void *object);

void fg_exchange_text(const struct fg_exchange *with, const char *name, const char **text);
/* For a string that is never NULL: null is read as "". */
void fg_exchange_words(const struct fg_exchange *with, const char *name, const char **text);
/* Writes nothing if the string is NULL. */
void fg_exchange_text_if(const struct fg_exchange *with, const char *name, const char **text);
/* Writes NaN as null and reads null as NaN. */
void fg_exchange_number(const struct fg_exchange *with, const char *name, double *number);
/* For a number above zero; 0 is written as null, and null is read as 0. */
void fg_exchange_positive(const struct fg_exchange *with, const char *name, double *number);
/* Writes or reads a count, and returns it. A count above `most` is read as 0. */
uint64_t fg_exchange_count(const struct fg_exchange *with, const char *name, uint64_t count,
			   uint64_t most);
void fg_exchange_flag(const struct fg_exchange *with, const char *name, bool *flag);
/* Writes or reads [a, b]. */
void fg_exchange_pair(const struct fg_exchange *with, const char *name, double *a, double *b);
/* Leaves out elements that are not strings. */
void fg_exchange_texts(const struct fg_exchange *with, const char *name, const char ***items,
		       size_t *count);
/* For an object inside the struct; if it is absent, its members are read as null. */
bool fg_exchange_part(const struct fg_exchange *with, const char *name, void *object,
		      fg_exchange_members *members);
/* For an object behind a pointer; NULL is not written. */
const void *fg_exchange_object(const struct fg_exchange *with, const char *name, const void *object,
			       size_t size, fg_exchange_members *members);
void *fg_exchange_list(const struct fg_exchange *with, const char *name, void *items, size_t *count,
		       size_t size, fg_exchange_members *members);

#define FG_EXCHANGE_OBJECT(with, name, object, members) \
 ((object) = fg_exchange_object(with, name, object, sizeof(*(object)), members))
#define FG_EXCHANGE_LIST(with, name, items, count, members) \
 ((items) = fg_exchange_list(with, name, items, count, sizeof(*(items)), members))

#endif
