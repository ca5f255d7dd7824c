// SPDX-License-Identifier: Apache-2.0
/* Building a call tree, top-down and bottom-up: the beginning of every view, picture and export. */
#include "bench/self/self.h"
#include "profile/trace_profile.h"

enum {
	SAMPLES = 20000,
	TIMES = 12,
};

int main(void)
{
	const struct fg_calltree_query query = {0};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_profile profile;
	struct fg_trace trace = {0};
	struct fg_error err = {0};
	size_t size = 0;
	size_t nodes = 0;
	char *bytes = fg_self_trace(SAMPLES, &size);

	fg_self_must(fg_trace_parse(bytes, size, "trace", &trace, &err), &err);
	fg_profile_init(&profile);
	fg_profile_add_trace(&profile, &trace, symbolizer, 0);
	for (int i = 0; i < TIMES; i++) {
		struct fg_calltree tree;
		struct fg_calltree inverted;

		fg_self_must(fg_calltree_build(&profile, &query, &tree, &err), &err);
		fg_calltree_invert(&tree, 10, 0, &inverted);
		nodes += tree.node_count + inverted.node_count;
		fg_calltree_release(&inverted);
		fg_calltree_release(&tree);
	}
	(void)printf("%zu nodes\n", nodes);
	fg_profile_release(&profile);
	fg_trace_release(&trace);
	fg_symbolizer_free(symbolizer);
	free(bytes);
	return nodes > 0 ? 0 : 1;
}
