/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query applied to one profile: it decides which samples to keep, where their stacks begin and
 * end, which frames to hide, and how the visible frames are named. Call trees and selected profiles
 * (profile/select.h) both use it, so that a filter means the same in a view, a picture and an
 * export.
 *
 * 1. each pattern is tried once per function, thread, region or kind of unit, never per sample;
 * 2. one forward pass over the stacks pushes facts down from the root: the focus patterns that have
 *    matched so far, whether an `ignore` pattern has matched, the outermost match of `root`, the
 *    innermost match of `leaf`, and the nearest match of an ancestor pattern;
 * 3. each sample that passes the filters gets a node for its stack.  Nodes are made on demand,
 *    parents first, and cached per stack, or per pair of split and stack if the tree is split
 *    (by thread, region, ...).
 */
#ifndef FG_PROFILE_SELECTION_H
#define FG_PROFILE_SELECTION_H

#include "base/pattern.h"
#include "binary/name_parts.h"
#include "profile/calltree.h"

enum {
	FG_MAX_PATTERNS = 32
};

#define FG_EVERY_MEASURE UINT32_MAX

struct fg_patterns {
	struct fg_pattern items[FG_MAX_PATTERNS];
	size_t count;
};

struct fg_function_facts {
	uint32_t focus;    /* bit i: matches the i-th focus pattern */
	uint32_t ancestor; /* 1 + the first ancestor pattern that matches; 0: none */
	bool ignore, hide, root, leaf;
};

struct fg_stack_facts {
	uint32_t focus;
	uint32_t top;      /* outermost stack whose frame matches `root`; 0: none yet */
	uint32_t cut;      /* innermost stack whose frame matches `leaf`; 0: none yet */
	uint32_t ancestor; /* nearest stack above with a frame that matches an ancestor pattern */
	bool ignored;
};

struct fg_selection {
	const struct fg_profile *profile;
	const struct fg_calltree_query *query;
	struct fg_patterns focus, ignore, hide, ancestors, root, leaf, thread, region, unit_kind;
	struct fg_rename renames[FG_MAX_PATTERNS];
	size_t rename_count;
	struct fg_function_facts *functions;
	struct fg_stack_facts *stacks; /* NULL: no pattern looks at functions */
	bool *thread_passes, *region_passes, *unit_passes;
	uint32_t measure; /* measure of the samples that pass: index, or FG_EVERY_MEASURE */
	double scale;     /* factor for regions and units */
};

/* A function matches if its name does, so that "^fit$" means fit, or if "name [library]" does. */
bool fg_matches_function(const struct fg_pattern *pattern, const char *name, const char *library);

/*
 * FG_EINVAL, FG_ELIMIT: an invalid pattern or rule. The caller releases the selection even then. It
 * borrows the profile and the query.
 */
int fg_selection_init(struct fg_selection *selection, const struct fg_profile *profile,
		      const struct fg_calltree_query *query, struct fg_error *err) FG_NODISCARD;
/* Returns the factor for values of a measure. */
double fg_selection_scale(const struct fg_selection *s, uint16_t measure);
void fg_selection_release(struct fg_selection *selection);

/*
 * Returns true if the selection keeps a part of this time on a thread: a span or a unit of work,
 * even one without samples.
 */
bool fg_selection_overlaps(const struct fg_selection *selection, uint32_t thread, int64_t start_ns,
			   int64_t end_ns);
bool fg_selection_keeps_unit(const struct fg_selection *selection, size_t unit);
bool fg_selection_passes(const struct fg_selection *selection, const struct fg_sample *sample);
/* Appends a frame's name to `name` and sets the other members of `label`. */
void fg_selection_name(const struct fg_selection *selection, const struct fg_frame *frame,
		       struct fg_label *label, struct fg_strbuf *name);
/* Returns the ancestor whose name is appended to the name of this stack's function; 0: none. */
uint32_t fg_selection_ancestor(const struct fg_selection *selection, uint32_t stack);
/* Returns true if adjacent frames with the same label become one. */
bool fg_selection_merges_neighbours(const struct fg_selection *selection);

/* Returns "log  (from fit)" for a function below a chosen ancestor. The caller frees it. */
char *fg_selection_name_below(const char *name, const char *ancestor);

/* Places samples in a tree. Nodes are numbers; the root is 0. */
struct fg_placing {
	const struct fg_selection *selection;
	void *context;
	/*
	 * Callbacks that find or add the child of `parent` for a part of the split ("fit" of a
	 * region's path), or for a visible frame.
	 */
	uint32_t (*split)(void *context, uint32_t parent, const char *name);
	uint32_t (*frame)(void *context, uint32_t parent, uint32_t stack);

	uint32_t *node_of_stack; /* node + 1, if the tree is not split */
	struct fg_pair_index node_of_pair;
	uint32_t *trail;
	uint32_t base, last_key;
	bool has_base;
};

void fg_placing_init(struct fg_placing *placing);
void fg_placing_release(struct fg_placing *placing);
/* Returns the node of a sample that passes. */
uint32_t fg_placing_node(struct fg_placing *placing, const struct fg_sample *sample);

#endif
