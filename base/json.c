// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <math.h>
#include <pthread.h>

enum {
	MAX_LEVELS = 64
};

/* cJSON recurses per level, so text that is nested too deeply never reaches it. */
static bool nests_too_deep(const char *text, size_t size)
{
	size_t level = 0;
	bool in_string = false;

	for (size_t i = 0; i < size; i++) {
		const char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			if (++level > MAX_LEVELS)
				return true;
		} else if ((c == ']' || c == '}') && level > 0) {
			level--;
		}
	}
	return false;
}

/* cJSON ends a string at a NUL, so the text after the NUL would be lost silently. */
static bool has_nul(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\0' && i + 1 < size)
			return true;
		if (text[i] != '\\' || ++i >= size || text[i] != 'u')
			continue;
		if (size - i > 4 && memcmp(text + i + 1, "0000", 4) == 0)
			return true;
	}
	return false;
}

static int syntax_error(const char *text, const char *at, struct fg_error *err)
{
	size_t line = 1;
	size_t column = 1;

	for (const char *p = text; p < at; p++) {
		column++;
		if (*p == '\n') {
			line++;
			column = 1;
		}
	}
	return fg_error_set(err, FG_EPARSE, "%zu:%zu: not valid JSON", line, column);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * cJSON cannot distinguish lack of memory from invalid text. Lack of memory therefore ends the
 * process: valid text must never be rejected.
 */
static void die_without_memory(void)
{
	cJSON_Hooks hooks = {.malloc_fn = fg_xmalloc, .free_fn = free};

	cJSON_InitHooks(&hooks);
}

int fg_json_parse(const char *text, size_t size, size_t max_bytes, cJSON **json,
		  struct fg_error *err)
{
	const char *end = NULL;
	cJSON *parsed = NULL;

	(void)pthread_once(&once, die_without_memory);
	if (size > max_bytes)
		return fg_error_set(err, FG_ELIMIT,
				    "JSON of %zu bytes exceeds the limit of %zu bytes", size,
				    max_bytes);
	if (nests_too_deep(text, size))
		return fg_error_set(err, FG_ELIMIT, "JSON is nested deeper than %d levels",
				    MAX_LEVELS);
	if (has_nul(text, size))
		return fg_error_set(err, FG_EPARSE, "a string contains a NUL character");
	parsed = cJSON_ParseWithLengthOpts(text, size, &end, false);
	if (!parsed)
		return syntax_error(text, end ? end : text, err);
	while (end < text + size && strchr(" \t\r\n", *end) && *end)
		end++;
	if (end < text + size && *end != '\0') {
		cJSON_Delete(parsed);
		return syntax_error(text, end, err);
	}
	*json = parsed;
	return FG_OK;
}

const cJSON *fg_json_find(const cJSON *object, const char *path)
{
	char name[128];

	while (object && *path) {
		const size_t length = strcspn(path, "/");

		if (length >= sizeof(name))
			return NULL;
		memcpy(name, path, length);
		name[length] = '\0';
		object = cJSON_GetObjectItemCaseSensitive(object, name);
		path += length + (path[length] == '/' ? 1 : 0);
	}
	return object;
}

static int missing(const char *path, const cJSON *item, const char *expected, struct fg_error *err)
{
	if (!item)
		return fg_error_set(err, FG_EPARSE, "'%s' is missing: expected %s", path, expected);
	return fg_error_set(err, FG_EPARSE, "'%s' is not %s", path, expected);
}

int fg_json_get_text(const cJSON *object, const char *path, const char **text, struct fg_error *err)
{
	const cJSON *item = fg_json_find(object, path);

	if (!cJSON_IsString(item))
		return missing(path, item, "a string", err);
	*text = item->valuestring;
	return FG_OK;
}

bool fg_json_is_whole(double value)
{
	const double exact = 9007199254740992.0; /* 2^53 */

	return fabs(value) <= exact && !(fabs(value - trunc(value)) > 0);
}

int fg_json_get_int64(const cJSON *object, const char *path, int64_t *value, struct fg_error *err)
{
	const cJSON *item = fg_json_find(object, path);

	if (!cJSON_IsNumber(item) || !fg_json_is_whole(item->valuedouble))
		return missing(path, item, "a whole number", err);
	*value = (int64_t)item->valuedouble;
	return FG_OK;
}

int fg_json_get_array(const cJSON *object, const char *path, const cJSON **array,
		      struct fg_error *err)
{
	const cJSON *item = fg_json_find(object, path);

	if (!cJSON_IsArray(item))
		return missing(path, item, "a list", err);
	*array = item;
	return FG_OK;
}

const char *fg_json_text_or(const cJSON *object, const char *path, const char *otherwise)
{
	const cJSON *item = fg_json_find(object, path);

	return cJSON_IsString(item) ? item->valuestring : otherwise;
}

const cJSON *fg_json_find_named(const cJSON *list, const char *name)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach(item, list)
	{
		if (strcmp(fg_json_text_or(item, "name", ""), name) == 0)
			return item;
	}
	return NULL;
}

double fg_json_double_or(const cJSON *object, const char *path, double otherwise)
{
	const cJSON *item = fg_json_find(object, path);

	return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

/*
 * Decodes one reference token (~1 and ~0). Returns the start of the next one, or NULL if it is too
 * long.
 */
static const char *take_token(const char *pointer, char *token, size_t size)
{
	size_t used = 0;

	for (pointer++; *pointer && *pointer != '/'; pointer++) {
		char c = *pointer;

		if (used + 1 >= size)
			return NULL;
		if (c == '~' && (pointer[1] == '0' || pointer[1] == '1'))
			c = *++pointer == '0' ? '~' : '/';
		token[used++] = c;
	}
	token[used] = '\0';
	return pointer;
}

static const cJSON *array_item(const cJSON *array, const char *token)
{
	const size_t digits = strspn(token, "0123456789");

	if (digits == 0 || digits > 8 || token[digits] != '\0')
		return NULL;
	return cJSON_GetArrayItem(array, (int)strtol(token, NULL, 10));
}

const cJSON *fg_json_pointer(const cJSON *json, const char *pointer)
{
	char token[256];

	while (json && pointer && *pointer == '/') {
		pointer = take_token(pointer, token, sizeof(token));
		if (!pointer)
			return NULL;
		json = cJSON_IsArray(json) ? array_item(json, token)
					   : cJSON_GetObjectItemCaseSensitive(json, token);
	}
	return pointer && *pointer == '\0' ? json : NULL;
}
