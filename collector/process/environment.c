// SPDX-License-Identifier: Apache-2.0
#include "collector/process/environment.h"

#include "collector/sampler/collector_env.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
	KEPT_MAX = 16,
	TEXT_SIZE = 16384,
	/* largest environment that is completed, in variables: the copy lies on the stack */
	ENTRIES_MAX = 8192
};

static const char preload_name[] = "LD_PRELOAD=";
static const char output_name[] = FG_ENV_OUTPUT "=";
static const char ours[] = "FASTGATE_COLLECTOR_";

static char texts[TEXT_SIZE];
static size_t texts_used;
static char *kept[KEPT_MAX];
static size_t kept_count;
static const char *library; /* path as LD_PRELOAD named it */

static char *copy(const char *text, size_t size)
{
	char *at = texts + texts_used;

	if (size + 1 > TEXT_SIZE - texts_used)
		return NULL;
	memcpy(at, text, size);
	at[size] = '\0';
	texts_used += size + 1;
	return at;
}

static bool is_named(const char *entry, const char *name)
{
	return strncmp(entry, name, strlen(name)) == 0;
}

static bool ends_name(char c)
{
	return c == ':' || c == ' ' || c == '\0';
}

/* Keeps the path of our library: the plain library, or a library that counts. */
static void keep_library(const char *list)
{
	const char *name = strstr(list, FG_COLLECTOR_NAME);
	const char *from = name;
	const char *to = name;

	if (!name || library)
		return;
	while (from > list && !ends_name(from[-1]))
		from--;
	while (!ends_name(*to))
		to++;
	library = copy(from, (size_t)(to - from));
}

char **fg_environment_at_start(char **passed)
{
	return environ ? environ : passed;
}

void fg_environment_keep(char *const *environment)
{
	for (; environment && *environment; environment++) {
		if (is_named(*environment, preload_name))
			keep_library(*environment + strlen(preload_name));
		else if (is_named(*environment, ours) && kept_count < KEPT_MAX &&
			 (kept[kept_count] = copy(*environment, strlen(*environment))) != NULL)
			kept_count++;
	}
}

struct found {
	size_t count;
	size_t preload; /* index of the variable; `count` if absent */
	bool has_library;
	bool has_output;
};

static struct found look(char *const *environment)
{
	struct found found = {0};
	size_t preload = SIZE_MAX;

	for (; environment && environment[found.count]; found.count++) {
		const char *entry = environment[found.count];

		if (is_named(entry, preload_name)) {
			preload = found.count;
			found.has_library = strstr(entry, FG_COLLECTOR_NAME) != NULL;
		}
		found.has_output |= is_named(entry, output_name);
	}
	found.preload = preload == SIZE_MAX ? found.count : preload;
	return found;
}

size_t fg_environment_room(char *const *environment)
{
	const struct found found = look(environment);
	const char *given = found.preload < found.count ? environment[found.preload] : "";

	if (!library || (found.has_library && found.has_output) || found.count > ENTRIES_MAX)
		return 0;
	return (found.count + KEPT_MAX + 2) * sizeof(char *) + strlen(given) +
	       sizeof(preload_name) + strlen(library) + 2;
}

/* Writes "LD_PRELOAD=", the program's own value, and our library. */
static void write_preload(char *at, const char *given)
{
	size_t size = strlen(given);

	memcpy(at, given, size + 1);
	if (at[size - 1] != '=')
		at[size++] = ':';
	memcpy(at + size, library, strlen(library) + 1);
}

char *const *fg_environment_complete(char *const *environment, void *memory)
{
	const struct found found = look(environment);
	char **entries = memory;
	size_t count = found.count;

	if (fg_environment_room(environment) == 0)
		return environment;
	if (count)
		memcpy(entries, environment, count * sizeof(char *));
	if (!found.has_library) {
		char *text = (char *)(entries + found.count + KEPT_MAX + 2);

		write_preload(text, found.preload < found.count ? environment[found.preload]
								: preload_name);
		entries[found.preload] = text;
		count += found.preload == found.count;
	}
	for (size_t i = 0; i < kept_count && !found.has_output; i++)
		entries[count++] = kept[i];
	entries[count] = NULL;
	return entries;
}
