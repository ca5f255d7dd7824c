// SPDX-License-Identifier: Apache-2.0
/* Differences between the facts of two builds, and their severity. */
#include "model/build_difference.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>
#include <string.h>

enum {
	FACTS_MAX = 4
};

struct facts {
	const char *key;
	const char *values[2]; /* NULL: missing on that side */
};

struct difference_row {
	const char *why;
	struct facts facts[FACTS_MAX];
	const char *text; /* NULL: no difference */
	bool is_grave;
};

static const struct difference_row rows[] = {
	{
		.why = "the same facts",
		.facts = {{"build.flags", {"-O2 -fno-inline", "-O2 -fno-inline"}},
			  {"build.library.libc.so.6", {"1", "1"}}},
	},
	{
		.why = "another version of a library is what a change may be",
		.facts = {{"build.library.libown.so", {"1", "2"}}},
	},
	{
		.why = "what one side does not tell is no difference",
		.facts = {{"build.optimisation", {"-O2", NULL}}, {"build.compiler", {NULL, "gcc"}}},
	},
	{
		.why = "debug information and places change no code",
		.facts = {{"build.flags",
			   {"-g -ffile-prefix-map=/a=.", "-g3 -ffile-prefix-map=/b=."}}},
	},
	{
		.why = "compilers",
		.facts = {{"build.compiler", {"GNU C17 12.2.0", "Debian clang version 14.0.6"}},
			  {"build.comment", {"GCC", "GCC; clang"}}},
		.text = "compiler GNU C17 12.2.0 in the baseline, Debian clang version 14.0.6 in the "
			"candidate",
		.is_grave = true,
	},
	{
		.why = "compilers of builds without debug information",
		.facts = {{"build.comment", {"GCC", "GCC; clang"}}},
		.text = "compiler GCC in the baseline, GCC; clang in the candidate",
		.is_grave = true,
	},
	{
		.why = "levels of optimisation come before flags",
		.facts = {{"build.flags", {"-O2 -fno-inline -fa", "-O0 -fa -fb"}},
			  {"build.optimisation", {"-O2", "-O0"}}},
		.text = "optimisation -O2 in the baseline, -O0 in the candidate; flags: "
			"-fno-inline only "
			"in the baseline, -fb only in the candidate",
		.is_grave = true,
	},
	{
		.why = "flags alone",
		.facts = {{"build.flags", {"-O2 -mavx2", "-O2"}}},
		.text = "flags: -mavx2 only in the baseline",
	},
	{
		.why = "a static program maps no library, which is said once",
		.facts = {{"build.linking", {"dynamic", "static"}},
			  {"build.library.libc.so.6", {"1", NULL}}},
		.text = "linking dynamic in the baseline, static in the candidate",
		.is_grave = true,
	},
	{
		.why = "sets of libraries",
		.facts = {{"build.library.libc.so.6", {"1", "1"}},
			  {"build.library.liba.so", {"1", NULL}},
			  {"build.library.libb.so", {NULL, "1"}}},
		.text = "libraries: liba.so only in the baseline, libb.so only in the candidate",
	},
	{
		.why = "plugins",
		.facts = {{"build.modules", {"a.so plugin.so", "a.so"}}},
		.text = "loaded at run time: plugin.so only in the baseline",
	},
	{
		.why = "what no trace tells of is no difference",
		.facts = {{"build.modules", {"plugin.so", NULL}}},
	},
	{
		.why = "a long list is cut",
		.facts = {{"build.modules", {"a b c d e f g h", "z"}}},
		.text = "loaded at run time: a b c d e f and 2 more only in the baseline, z only "
			"in the candidate",
	},
	{
		.why = "the project's own library against one from elsewhere",
		.facts = {{"build.library.libown.so", {"1", "2"}},
			  {"build.own.libown.so", {"yes", NULL}}},
		.text = "libown.so is the project's own in the baseline and comes from elsewhere in "
			"the candidate",
		.is_grave = true,
	},
};

FG_TEST(differences_of_builds_are_reported)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct difference_row *row = &rows[i];
		struct fg_build_facts sides[2] = {{0}, {0}};
		struct fg_build_difference found;

		for (size_t k = 0; k < FACTS_MAX && row->facts[k].key; k++) {
			for (size_t side = 0; side < 2; side++) {
				if (row->facts[k].values[side])
					fg_build_facts_set(&sides[side], row->facts[k].key,
							   row->facts[k].values[side]);
			}
		}
		found = fg_build_difference_of(&sides[0], &sides[1]);
		if (!found.text != !row->text || (row->text && strcmp(found.text, row->text) != 0))
			fail_msg("%s: '%s'", row->why, found.text ? found.text : "none");
		if (found.is_grave != row->is_grave)
			fail_msg("%s: grave: %d", row->why, found.is_grave);
		free(found.text);
		fg_build_facts_release(&sides[0]);
		fg_build_facts_release(&sides[1]);
	}
}
