// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>

enum {
	EXIT_INTERNAL = 6
};

void fg_assert_failed(const char *condition, const char *file, int line, const char *function)
{
	(void)fprintf(stderr, "fastgate: %s:%d: %s: assertion failed: %s\n", file, line, function,
		      condition);
	abort();
}

FG_NORETURN static void out_of_memory(size_t size)
{
	(void)fprintf(stderr, "%s: out of memory (asked for %zu bytes)\n",
		      program_invocation_short_name, size);
	_Exit(EXIT_INTERNAL);
}

void *fg_xmalloc(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		out_of_memory(size);
	return memory;
}

void *fg_xcalloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		out_of_memory(size);
	return memory;
}

void *fg_xreallocarray(void *old, size_t count, size_t size)
{
	void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!memory)
		out_of_memory(size);
	return memory;
}

char *fg_xstrdup(const char *text)
{
	return text ? fg_xstrndup(text, strlen(text)) : NULL;
}

char *fg_xstrndup(const char *text, size_t length)
{
	const size_t used = strnlen(text, length);
	char *copy = fg_xmalloc(used + 1);

	memcpy(copy, text, used);
	copy[used] = '\0';
	return copy;
}

char *fg_xvasprintf(const char *format, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, format, ap) < 0)
		out_of_memory(0);
	return text;
}

char *fg_xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = fg_xvasprintf(format, ap);
	va_end(ap);
	return text;
}

void *fg_grow(void *items, size_t *capacity, size_t wanted, size_t size)
{
	size_t room = *capacity;

	if (wanted <= room && items)
		return items;
	if (room < 8)
		room = 8;
	while (room < wanted)
		room += room / 2 + 1;
	items = fg_xreallocarray(items, room, size);
	*capacity = room;
	return items;
}

void *fg_append(void *items, size_t *count, size_t *capacity, size_t size)
{
	items = fg_grow(items, capacity, *count + 1, size);
	memset((char *)items + (*count)++ * size, 0, size);
	return items;
}

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

char **fg_join_words(char *const *first, char *const *then)
{
	const size_t before = count_words(first);
	const size_t count = count_words(then);
	char **joined = fg_xcalloc(before + count + 1, sizeof(joined[0]));

	for (size_t i = 0; first && i < before; i++)
		joined[i] = first[i];
	for (size_t i = 0; then && i < count; i++)
		joined[before + i] = then[i];
	return joined;
}

char **fg_copy_words(char *const *words)
{
	char **copy = fg_join_words(words, NULL);

	for (char **word = copy; *word; word++)
		*word = fg_xstrdup(*word);
	return copy;
}

void fg_variable_set(char ***variables, char *variable)
{
	const size_t name_length = strcspn(variable, "=") + 1;
	char **list = *variables;
	size_t at = 0;

	while (list[at] && strncmp(list[at], variable, name_length) != 0)
		at++;
	if (!list[at]) {
		list = fg_xreallocarray(list, at + 2, sizeof(list[0]));
		list[at + 1] = NULL;
	} else {
		free(list[at]);
	}
	list[at] = variable;
	*variables = list;
}

const char *fg_variable_get(char *const *variables, const char *name)
{
	const size_t size = strlen(name);

	for (; variables && *variables; variables++)
		if (strncmp(*variables, name, size) == 0 && (*variables)[size] == '=')
			return *variables + size + 1;
	return NULL;
}

void fg_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
