// SPDX-License-Identifier: Apache-2.0
#include "model/environment.h"

#include "base/hash.h"
#include "base/text.h"

#include <stdarg.h>

/* Returns the key's index, or its insertion point. */
static size_t find(const struct fg_environment *environment, const char *key, bool *found)
{
	size_t low = 0;
	size_t high = environment->count;

	*found = false;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(environment->facts[middle].key, key);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void fg_environment_set(struct fg_environment *environment, const char *key, const char *value,
			bool identity)
{
	char *copy = fg_xstrdup(value);
	bool found = false;
	const size_t at = find(environment, key, &found);

	if (!found) {
		environment->facts = fg_grow(environment->facts, &environment->capacity,
					     environment->count + 1, sizeof(environment->facts[0]));
		memmove(&environment->facts[at + 1], &environment->facts[at],
			(environment->count - at) * sizeof(environment->facts[0]));
		environment->facts[at] = (struct fg_fact){.key = fg_xstrdup(key)};
		environment->count++;
	}
	free(environment->facts[at].value);
	environment->facts[at].value = copy;
	environment->facts[at].identity = identity;
}

void fg_environment_printf(struct fg_environment *environment, const char *key, bool identity,
			   const char *format, ...)
{
	char *value = NULL;
	va_list ap;

	va_start(ap, format);
	value = fg_xvasprintf(format, ap);
	va_end(ap);
	fg_environment_set(environment, key, value, identity);
	free(value);
}

const char *fg_environment_get(const struct fg_environment *environment, const char *key)
{
	bool found = false;
	const size_t at = find(environment, key, &found);

	return found ? environment->facts[at].value : NULL;
}

void fg_environment_fingerprint(const struct fg_environment *environment, char text[17])
{
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < environment->count; i++) {
		const struct fg_fact *fact = &environment->facts[i];

		if (!fact->identity)
			continue;
		/* The NUL after each text keeps ("a", "bc") and ("ab", "c") apart. */
		fg_sha256_add_text(&sha, fact->key);
		fg_sha256_add_text(&sha, fact->value);
	}
	fg_sha256_finish_hex(&sha, 8, text);
}

bool fg_fact_is_label(const char *key)
{
	return fg_text_starts_with(key, "git.") || fg_text_starts_with(key, "link.");
}

size_t fg_environment_diff(const struct fg_environment *baseline,
			   const struct fg_environment *candidate,
			   struct fg_fact_difference **differences)
{
	struct fg_fact_difference *found = NULL;
	size_t room = 0;
	size_t count = 0;
	size_t i = 0;
	size_t k = 0;

	while (i < baseline->count || k < candidate->count) {
		const struct fg_fact *b = i < baseline->count ? &baseline->facts[i] : NULL;
		const struct fg_fact *c = k < candidate->count ? &candidate->facts[k] : NULL;
		const int order = !b ? 1 : !c ? -1 : strcmp(b->key, c->key);
		const struct fg_fact *named = order <= 0 ? b : c;

		b = order <= 0 ? b : NULL;
		c = order >= 0 ? c : NULL;
		i += b ? 1 : 0;
		k += c ? 1 : 0;
		if (!named || (b && c && strcmp(b->value, c->value) == 0))
			continue;
		FG_APPEND(found, count, room) = (struct fg_fact_difference){
			.key = named->key,
			.baseline = b ? b->value : NULL,
			.candidate = c ? c->value : NULL,
			.identity = named->identity,
		};
	}
	*differences = found;
	return count;
}

void fg_environment_copy(struct fg_environment *to, const struct fg_environment *from)
{
	for (size_t i = 0; i < from->count; i++)
		fg_environment_set(to, from->facts[i].key, from->facts[i].value,
				   from->facts[i].identity);
}

void fg_environment_release(struct fg_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++) {
		free(environment->facts[i].key);
		free(environment->facts[i].value);
	}
	free(environment->facts);
	*environment = (struct fg_environment){0};
}
