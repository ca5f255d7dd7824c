/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON with cJSON, within limits: at most `max_bytes` of text and 64 levels. Syntax errors
 * carry line and column. The getters look a member up by a path of names separated by '/'; an error
 * about a required member has the member's name.
 */
#ifndef FG_BASE_JSON_H
#define FG_BASE_JSON_H

#include "base/base.h"
#include "base/error.h"

#include <cjson/cJSON.h>

int fg_json_parse(const char *text, size_t size, size_t max_bytes, cJSON **json,
		  struct fg_error *err) FG_NODISCARD;
/* Returns NULL if absent. */
const cJSON *fg_json_find(const cJSON *object, const char *path);
/* For required members. FG_EPARSE: the member is absent or has another type. */
int fg_json_get_text(const cJSON *object, const char *path, const char **text, struct fg_error *err)
	FG_NODISCARD;
int fg_json_get_int64(const cJSON *object, const char *path, int64_t *value, struct fg_error *err)
	FG_NODISCARD;
/* Is the value whole, and small enough for a double to hold it exactly? */
bool fg_json_is_whole(double value);
int fg_json_get_array(const cJSON *object, const char *path, const cJSON **array,
		      struct fg_error *err) FG_NODISCARD;
/* For optional members. Returns the default if the member is absent or has another type. */
const char *fg_json_text_or(const cJSON *object, const char *path, const char *otherwise);
/* Returns the first item of a list whose member "name" is `name`, or NULL. */
const cJSON *fg_json_find_named(const cJSON *list, const char *name);
double fg_json_double_or(const cJSON *object, const char *path, double otherwise);
/* Looks up an RFC 6901 pointer ("/results/0/time"), for users' metrics. NULL: not found. */
const cJSON *fg_json_pointer(const cJSON *json, const char *pointer);

#endif
