// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/kernel_names.h"

#include "base/fs.h"
#include "base/sort.h"
#include "base/sorted.h"

enum {
	MAX_BYTES = 256 << 20,
	MAX_FUNCTION_BYTES = 1 << 20, /* maximum size of a function; the rest is a gap */
};

FG_ORDER_BY(by_start, struct fg_kernel_function, FG_UP(start), FG_TEXT_UP(name))

/* Reads "ffffffff81000000 T _text"; a tab and "[ext4]" follow for a function of a module. */
static void take_line(struct fg_kernel_names *names, char *line)
{
	char *at = NULL;
	const uint64_t start = strtoull(line, &at, 16);
	char *module = strchr(line, '\t');
	char *name = NULL;

	if (start == 0 || at == line || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) ||
	    at[2] != ' ' || !at[3])
		return;
	name = at + 3;
	if (module)
		*module++ = '\0';
	FG_APPEND(names->items, names->count, names->capacity) = (struct fg_kernel_function){
		.start = start,
		.name = name,
		.library = module ? module : FG_KERNEL_LIBRARY,
	};
}

/* Keeps the first of several names for one address. A function ends where the next begins. */
static void settle(struct fg_kernel_names *names)
{
	size_t kept = 0;

	if (names->count > 0)
		qsort(names->items, names->count, sizeof(names->items[0]), by_start);
	for (size_t i = 0; i < names->count; i++) {
		if (kept == 0 || names->items[kept - 1].start != names->items[i].start)
			names->items[kept++] = names->items[i];
	}
	names->count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct fg_kernel_function *function = &names->items[i];
		const uint64_t most = function->start + MAX_FUNCTION_BYTES;

		function->end = i + 1 < kept && function[1].start < most ? function[1].start : most;
	}
}

int fg_kernel_names_read(const char *path, struct fg_kernel_names *names, struct fg_error *err)
{
	char *text = NULL;
	char *rest = NULL;
	int status = fg_fs_read(path, MAX_BYTES, &text, NULL, err);

	*names = (struct fg_kernel_names){0};
	if (status != FG_OK)
		return status;
	rest = fg_arena_strdup(&names->arena, text);
	free(text);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		take_line(names, line);
	settle(names);
	if (names->count > 0)
		return FG_OK;
	fg_kernel_names_release(names);
	return fg_error_set(err, FG_EUNSUPPORTED, "%s hides addresses (kernel.kptr_restrict)",
			    path);
}

const struct fg_kernel_function *fg_kernel_names_find(const struct fg_kernel_names *names,
						      uint64_t address)
{
	const size_t low = fg_sorted_up_to(
		FG_SORTED(names->items, names->count, struct fg_kernel_function, start), address);

	return low > 0 && address < names->items[low - 1].end ? &names->items[low - 1] : NULL;
}

void fg_kernel_names_release(struct fg_kernel_names *names)
{
	free(names->items);
	fg_arena_release(&names->arena);
	*names = (struct fg_kernel_names){0};
}
