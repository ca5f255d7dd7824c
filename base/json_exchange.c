// SPDX-License-Identifier: Apache-2.0
#include "base/json_exchange.h"

#include <math.h>

void fg_exchange_text(const struct fg_exchange *with, const char *name, const char **text)
{
	if (with->w)
		fg_json_text(with->w, name, *text);
	else
		*text = fg_arena_strdup(with->arena, fg_json_text_or(with->json, name, NULL));
}

void fg_exchange_words(const struct fg_exchange *with, const char *name, const char **text)
{
	fg_exchange_text(with, name, text);
	if (!*text && !with->w)
		*text = "";
}

void fg_exchange_text_if(const struct fg_exchange *with, const char *name, const char **text)
{
	if (*text || !with->w)
		fg_exchange_text(with, name, text);
}

void fg_exchange_number(const struct fg_exchange *with, const char *name, double *number)
{
	if (with->w)
		fg_json_double(with->w, name, *number);
	else
		*number = fg_json_double_or(with->json, name, (double)NAN);
}

void fg_exchange_positive(const struct fg_exchange *with, const char *name, double *number)
{
	double value = *number > 0 ? *number : (double)NAN;

	fg_exchange_number(with, name, &value);
	if (!with->w)
		*number = isnan(value) ? 0 : value;
}

uint64_t fg_exchange_count(const struct fg_exchange *with, const char *name, uint64_t count,
			   uint64_t most)
{
	double value = 0;

	if (with->w) {
		fg_json_int(with->w, name, (int64_t)count);
		return count;
	}
	value = fg_json_double_or(with->json, name, 0);
	return value >= 0 && value <= (double)most ? (uint64_t)value : 0;
}

void fg_exchange_flag(const struct fg_exchange *with, const char *name, bool *flag)
{
	if (with->w)
		fg_json_bool(with->w, name, *flag);
	else
		*flag = cJSON_IsTrue(fg_json_find(with->json, name));
}

/* Returns the first element and the number of elements; NULL and 0 if the list is absent. */
static const cJSON *elements(const struct fg_exchange *with, const char *name, size_t *count)
{
	const cJSON *array = fg_json_find(with->json, name);

	*count = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
	return *count > 0 ? array->child : NULL;
}

void fg_exchange_pair(const struct fg_exchange *with, const char *name, double *a, double *b)
{
	const cJSON *first = NULL;
	size_t count = 0;

	if (with->w) {
		fg_json_pair(with->w, name, *a, *b);
		return;
	}
	first = elements(with, name, &count);
	*a = count == 2 && cJSON_IsNumber(first) ? first->valuedouble : (double)NAN;
	*b = count == 2 && cJSON_IsNumber(first->next) ? first->next->valuedouble : (double)NAN;
}

static void write_texts(struct fg_json_writer *w, const char *name, const char *const *items,
			size_t count)
{
	fg_json_begin_array(w, name);
	for (size_t i = 0; i < count; i++)
		fg_json_text(w, NULL, items[i]);
	fg_json_end(w);
}

void fg_exchange_texts(const struct fg_exchange *with, const char *name, const char ***items,
		       size_t *count)
{
	const cJSON *element = NULL;
	size_t most = 0;

	if (with->w) {
		write_texts(with->w, name, *items, *count);
		return;
	}
	element = elements(with, name, &most);
	*items = fg_arena_array(with->arena, most, sizeof((*items)[0]));
	*count = 0;
	for (; element; element = element->next) {
		if (cJSON_IsString(element))
			(*items)[(*count)++] = fg_arena_strdup(with->arena, element->valuestring);
	}
}

static void write_object(const struct fg_exchange *with, const char *name, void *object,
			 fg_exchange_members *members)
{
	fg_json_begin_object(with->w, name);
	(void)members(with, object);
	fg_json_end(with->w);
}

static bool read_object(const struct fg_exchange *with, const cJSON *json, void *object,
			fg_exchange_members *members)
{
	struct fg_exchange inner = *with;

	inner.json = json;
	return members(&inner, object);
}

bool fg_exchange_part(const struct fg_exchange *with, const char *name, void *object,
		      fg_exchange_members *members)
{
	if (!with->w)
		return read_object(with, fg_json_find(with->json, name), object, members);
	write_object(with, name, object, members);
	return true;
}

/* Gives `members` a copy, because it may write to its object and this object is constant. */
const void *fg_exchange_object(const struct fg_exchange *with, const char *name, const void *object,
			       size_t size, fg_exchange_members *members)
{
	const cJSON *json = fg_json_find(with->json, name);
	void *copy = NULL;

	if (with->w && object) {
		copy = fg_xcalloc(1, size);
		memcpy(copy, object, size);
		write_object(with, name, copy, members);
		free(copy);
	}
	if (with->w)
		return object;
	if (!cJSON_IsObject(json))
		return NULL;
	copy = fg_arena_alloc(with->arena, size);
	return read_object(with, json, copy, members) ? copy : NULL;
}

static void write_list(const struct fg_exchange *with, const char *name, char *items, size_t count,
		       size_t size, fg_exchange_members *members)
{
	fg_json_begin_array(with->w, name);
	for (size_t i = 0; i < count; i++)
		write_object(with, NULL, items + i * size, members);
	fg_json_end(with->w);
}

void *fg_exchange_list(const struct fg_exchange *with, const char *name, void *items, size_t *count,
		       size_t size, fg_exchange_members *members)
{
	const cJSON *element = NULL;
	size_t most = 0;

	if (with->w) {
		write_list(with, name, items, *count, size, members);
		return items;
	}
	element = elements(with, name, &most);
	items = fg_arena_array(with->arena, most, size);
	*count = 0;
	for (; element; element = element->next) {
		char *item = (char *)items + *count * size;

		if (read_object(with, element, item, members))
			(*count)++;
		else
			memset(item, 0, size);
	}
	return items;
}
