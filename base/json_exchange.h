/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each struct names its members, in order, and so writes it as a JSON object or
 * reads it back.  What is read may come from anywhere: a member that is absent or of another type
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
	struct fg_json_writer *w; /* writes; NULL: reads */
	const cJSON *json;        /* the object to read */
	struct fg_arena *arena;   /* for what is read */
	const void *context;      /* the members' own */
};

/* False: what was read is not such an object; it is left out. */
typedef bool fg_exchange_members(const struct fg_exchange *with, void *object);

void fg_exchange_text(const struct fg_exchange *with, const char *name, const char **text);
/* A text that is always present: null is read as "". */
void fg_exchange_words(const struct fg_exchange *with, const char *name, const char **text);
/* Not written if NULL. */
void fg_exchange_text_if(const struct fg_exchange *with, const char *name, const char **text);
/* NaN: null. */
void fg_exchange_number(const struct fg_exchange *with, const char *name, double *number);
/* Above zero; 0: null. */
void fg_exchange_positive(const struct fg_exchange *with, const char *name, double *number);
/* Returns the count; a larger one than `most` is read as 0. */
uint64_t fg_exchange_count(const struct fg_exchange *with, const char *name, uint64_t count,
			   uint64_t most);
void fg_exchange_flag(const struct fg_exchange *with, const char *name, bool *flag);
/* [a, b] */
void fg_exchange_pair(const struct fg_exchange *with, const char *name, double *a, double *b);
/* Elements that are not text are left out. */
void fg_exchange_texts(const struct fg_exchange *with, const char *name, const char ***items,
		       size_t *count);
/* An object that is a part of the struct; an absent one is read as one of nulls. */
bool fg_exchange_part(const struct fg_exchange *with, const char *name, void *object,
		      fg_exchange_members *members);
/* One object; NULL is not written. */
const void *fg_exchange_object(const struct fg_exchange *with, const char *name, const void *object,
			       size_t size, fg_exchange_members *members);
void *fg_exchange_list(const struct fg_exchange *with, const char *name, void *items, size_t *count,
		       size_t size, fg_exchange_members *members);

#define FG_EXCHANGE_OBJECT(with, name, object, members) \
 ((object) = fg_exchange_object(with, name, object, sizeof(*(object)), members))
#define FG_EXCHANGE_LIST(with, name, items, count, members) \
 ((items) = fg_exchange_list(with, name, items, count, sizeof(*(items)), members))

#endif
