/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call tree: the result of a query on a profile, and the source of every view, picture and
 * export.
 *
 * A node is a call path made of *labels*. A label is the thing that the query groups by: a
 * function, its class or namespace, its library, its file:line, ... Frames that a query hides fold
 * into their callers; frames next to each other with the same label are one node when grouping is
 * coarser than functions.
 *
 * Inclusive figures. The inclusive weight of a node is the sum over the node and everything below
 * it. The inclusive weight of a *label* must count each sample once, however often the label occurs
 * on its stack. A node whose label is already among its ancestors is marked `recursive`, and sums
 * per label include only unmarked nodes. So no inclusive figure ever exceeds the total.
 *
 * Statistical error. A sample of weight w that belongs to a figure adds w to it and w² to its
 * `square`. Sampling times are independent of the program, so the variance of the figure alone is
 * Σw²; as a share p of a known total T it is (Σw²(1-p)² + p²·Σ of w² over the other samples) / T².
 * fg_weight_error() gives the standard error of the time with the total known: it is never larger
 * than the first form, and 0 for the root.
 *
 * A sample may be divided among functions of the kernel. Its parts were sampled at the same moment,
 * so they count as one sample for every node that has all parts below it: the square of the whole
 * minus the squares of the parts is added where their paths divide (`shared`), and to every node
 * above.
 *
 * Columns.  A tree has one column of figures; a difference has two (0: before, 1: after) over the
 * union of the paths.
 *
 * Parents have smaller indexes than their children. Node 0 is the root, and label 0 is the root's
 * label.
 */
#ifndef FG_PROFILE_CALLTREE_H
#define FG_PROFILE_CALLTREE_H

#include "base/error.h"
#include "base/pair_index.h"
#include "profile/profile.h"

struct fg_weight {
	double value;
	double square; /* sum of the squared weights; a divided sample is one sample */
	uint64_t samples;
};

/*
 * Identifies a label, together with its name. The member `line` is not part of the identity,
 * because functions move between builds.
 */
enum fg_label_identity {
	FG_LABEL_LIBRARY,
	FG_LABEL_FILE, /* for lines: distinguishes "main.cpp:3" in two folders */
	FG_LABEL_NAME, /* the name alone: names that are equal after rewriting are one label */
};

struct fg_label {
	const char *name;    /* displayed name */
	const char *library; /* base name; "" if grouping dropped it */
	const char *file; /* definition, or the line's file when grouped by line; NULL: unknown */
	const char *linkage; /* mangled name; NULL: same as `name`, or grouping dropped it */
	unsigned line;
	uint32_t flags;   /* flags that all frames of the label share: enum fg_frame_flag */
	uint8_t identity; /* enum fg_label_identity */
};

struct fg_calltree_node {
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next_sibling;
	uint32_t label;
	uint32_t depth; /* root: 0 */
	bool recursive; /* the label is also among its ancestors */
};

enum {
	FG_CALLTREE_COLUMNS = 2
};

struct fg_calltree {
	struct fg_arena arena;
	struct fg_label *labels;
	size_t label_count, label_capacity;
	struct fg_calltree_node *nodes;
	size_t node_count, node_capacity;
	struct fg_weight *self[FG_CALLTREE_COLUMNS];      /* one per node */
	struct fg_weight *inclusive[FG_CALLTREE_COLUMNS]; /* filled by fg_calltree_finish() */
	double *shared[FG_CALLTREE_COLUMNS]; /* one per node: squares of divided samples */
	unsigned column_count;
	struct fg_measure measure; /* measure of the weights */
	bool inverted; /* a bottom-up tree: children are callers, see fg_calltree_invert() */
	struct fg_map label_index;
	struct fg_pair_index node_index;
};

enum fg_group {
	FG_GROUP_FUNCTION,
	FG_GROUP_LINE, /* file:line being executed */
	/*
	 * class of a member function: reco::Fitter::fit(Track&) → reco::Fitter; namespace of any
	 * other function
	 */
	FG_GROUP_CLASS,
	FG_GROUP_NAMESPACE,
	FG_GROUP_LIBRARY,
	FG_GROUP_FILE, /* file of the definition */
	FG_GROUP_COUNT,
};

/* A grouping above the call paths: the tree is split by this grouping first. */
enum fg_split {
	FG_SPLIT_NONE,
	FG_SPLIT_THREAD,
	FG_SPLIT_PROCESS,
	FG_SPLIT_REGION, /* the nested regions, outermost on top */
	FG_SPLIT_UNIT,   /* kind, then kind and number */
	FG_SPLIT_REPETITION,
	FG_SPLIT_COUNT,
};

/*
 * A zeroed query selects everything, by function. Patterns are POSIX extended regular expressions,
 * matched against "name [library]" (regions against their path, threads against "name (tid)");
 * base/pattern.h lists the refused patterns.
 */
struct fg_calltree_query {
	/* name; NULL: a tree shows the profile's first measure, a selected profile keeps all */
	const char *measure;
	enum fg_group group;
	enum fg_split split;
	/* keep samples whose stack matches every pattern; NULL-terminated, may be NULL */
	const char *const *focus;
	const char *const *ignore; /* drop samples whose stack matches any pattern */
	const char *const *hide;   /* fold matching frames into their callers */
	/* cut everything above the outermost match; drop samples without a match */
	const char *root;
	/* cut everything below the innermost match; drop samples without a match */
	const char *leaf;
	/* "log" below a frame that matches becomes "log  (from MATCH)" */
	const char *const *ancestors;
	const char *const *rename; /* s/…/…/g, in order, on the shown name */
	bool collapse_templates;   /* vector<int, allocator<int>> → vector<…> */
	bool fold_inlined;         /* inlined frames belong to the function that contains them */
	bool mangled;              /* show linkage names */
	/* patterns that names must match; NULL: all */
	const char *thread;
	const char *region;
	const char *unit_kind;
	uint64_t unit_first, unit_last; /* numbers, inclusive; unit_last 0: no limit */
	bool only_units;                /* drop samples outside any unit of work */
	int64_t from_ns, to_ns;         /* to_ns 0: to the end */
	uint32_t kinds;                 /* bits 1 << enum fg_time_kind; 0: all */
	uint32_t repetition;            /* from 1; 0: all */
	bool per_repetition;            /* divide by the number of repetitions */
};

/*
 * Aggregates a whole profile by the query; the tree is finished. FG_EINVAL: an invalid pattern or
 * rule.
 */
int fg_calltree_build(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_calltree *tree, struct fg_error *err) FG_NODISCARD;
void fg_calltree_release(struct fg_calltree *tree);

/*
 * To build a tree by hand: init, add nodes and their weights, finish. Equal labels keep the facts
 * of the first label; if their libraries differ, the library becomes "".
 */
void fg_calltree_init(struct fg_calltree *tree, unsigned columns, const char *root_name);
/*
 * Sets the measure; the default is CPU time. Call it before weights are added. Strings are copied.
 */
void fg_calltree_set_measure(struct fg_calltree *tree, const struct fg_measure *measure);
uint32_t fg_calltree_label(struct fg_calltree *tree, const struct fg_label *label);
/*
 * Returns the label in `into` for each label of `from`, and adds labels that `into` lacks. The
 * caller frees the list.
 */
uint32_t *fg_calltree_map_labels(struct fg_calltree *into, const struct fg_calltree *from);
uint32_t fg_calltree_child(struct fg_calltree *tree, uint32_t parent, uint32_t label);
void fg_calltree_add(struct fg_calltree *tree, uint32_t node, unsigned column,
		     const struct fg_weight *weight, double scale);
/* Marks two weights, already added with these values, as parts of one sample. */
void fg_calltree_join_parts(struct fg_calltree *tree, const uint32_t nodes[2], unsigned column,
			    const double values[2]);
/*
 * Computes the inclusive figures, orders children by weight (largest first, then by name) and marks
 * recursion.
 */
void fg_calltree_finish(struct fg_calltree *tree);

/*
 * Makes a finished tree of the paths in either tree, with `before` in column 0 and `after` in
 * column 1.
 */
void fg_calltree_difference(const struct fg_calltree *before, const struct fg_calltree *after,
			    struct fg_calltree *difference);
/*
 * Makes a bottom-up tree: below the root are the labels where time was spent, and below each label
 * its callers, at most max_depth levels. A node's inclusive figure is the time at the leaf label
 * below this chain of callers; its self figure is the part for which no further caller is shown.
 * Nodes below `floor` in every column are left out: their weight stays in their parent's self
 * figure.
 */
void fg_calltree_invert(const struct fg_calltree *tree, unsigned max_depth, double floor,
			struct fg_calltree *inverted);

/* Figures per label; recursion counts once. */
struct fg_label_figures {
	uint32_t label;
	struct fg_weight self[FG_CALLTREE_COLUMNS];
	struct fg_weight inclusive[FG_CALLTREE_COLUMNS];
	uint32_t leaf_paths; /* distinct call paths that end in the label and have self time */
};
/*
 * Lists the labels that occur, except the root, sorted by self in the last column, largest first.
 * The caller frees the list.
 */
size_t fg_calltree_flat(const struct fg_calltree *tree, struct fg_label_figures **figures);

/* Weight that passes from caller to callee; a sample counts once per distinct pair on its stack. */
struct fg_label_edge {
	uint32_t caller;
	uint32_t callee;
	struct fg_weight weight[FG_CALLTREE_COLUMNS];
};
/* Lists the edges by `caller`, then by weight. Returns their number. The caller frees *edges. */
size_t fg_calltree_edges(const struct fg_calltree *tree, struct fg_label_edge **edges);

void fg_weight_add(const struct fg_measure *measure, struct fg_weight *to,
		   const struct fg_weight *weight, double scale);
/*
 * Returns the standard error of a figure for a known total; NaN if no sample supports it, or if
 * every event was seen.
 */
double fg_weight_error(const struct fg_weight *part, const struct fg_weight *total);

#endif
