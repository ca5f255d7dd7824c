// SPDX-License-Identifier: Apache-2.0
/*
 * A program that calls find() too often spends the time in memcmp() of the C library. The library
 * did not change, so it cannot be the cause: its time is charged to the deepest caller in code that
 * did change.
 *
 * Example: main → count → find → memcmp, where only the program changed: find is blamed for the
 * time in memcmp.
 */
#include "gate/blame.h"

#include "base/text.h"

#define NONE UINT32_MAX

bool fg_blame_is_same_library(const struct fg_series *series, const char *library)
{
	const struct fg_build_library *before =
		fg_build_facts_library(&series->build[FG_ARM_BASELINE], library);
	const struct fg_build_library *after =
		fg_build_facts_library(&series->build[FG_ARM_CANDIDATE], library);

	return before && after && fg_fact_is_equal(before->identity, after->identity) &&
	       fg_library_has_id(after);
}

bool fg_blame_is_generated(const char *library)
{
	return strcmp(library, "[JIT]") == 0;
}

bool fg_blame_is_linker(const struct fg_profile_function *function)
{
	const char *library = function->library ? function->library : "";

	return fg_text_starts_with(library, "ld-") || fg_text_starts_with(library, "ld.so");
}

/* Is this a library from outside the project that only one side loads? Then its callers changed. */
static bool is_new_from_outside(const struct fg_series *series, const char *library)
{
	const struct fg_build_library *before =
		fg_build_facts_library(&series->build[FG_ARM_BASELINE], library);
	const struct fg_build_library *after =
		fg_build_facts_library(&series->build[FG_ARM_CANDIDATE], library);

	return !before != !after && !(before ? before : after)->is_own;
}

/*
 * Jump stubs, the kernel and code without a file count as unchanged. Code generated at run time
 * counts as changed: it was made from something that may have changed, such as a script.
 */
static bool is_unchanged(const struct fg_series *series, const struct fg_profile_function *function)
{
	const char *library = function->library ? function->library : "";

	if (fg_blame_is_generated(library))
		return false;
	return !*library || *library == '[' || is_new_from_outside(series, library) ||
	       fg_text_ends_with(function->name, "@plt") ||
	       fg_blame_is_same_library(series, library);
}

uint32_t *fg_blame_nodes(const struct fg_profile_set *set, const struct fg_series *series)
{
	bool *unchanged = fg_xcalloc(set->function_count + 1, sizeof(unchanged[0]));
	uint32_t *blamed = fg_xcalloc(set->node_count + 1, sizeof(blamed[0]));

	for (size_t f = 1; f < set->function_count; f++)
		unchanged[f] = is_unchanged(series, &set->functions[f]);
	/*
	 * First, each node gets the nearest changed frame at or above it; parents come before their
	 * children.
	 */
	blamed[0] = NONE;
	for (uint32_t n = 1; n < set->node_count; n++)
		blamed[n] = unchanged[set->nodes[n].function] ? blamed[set->nodes[n].parent] : n;
	/* A node without a changed frame is charged to itself. */
	for (uint32_t n = 0; n < set->node_count; n++) {
		if (blamed[n] == NONE)
			blamed[n] = n;
	}
	free(unchanged);
	return blamed;
}
