/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call tree: what a query makes of a profile, and what every view, picture and export is drawn
 * from.
 *
 * A node is a call path of *labels*.  A label is what the query groups by: a function, its class or
 * namespace, its library, its file:line, ...  Frames that a query hides fold into their callers;
 * frames next to each other with the same label are one node when grouping is coarser than
 * functions.
 *
 * Inclusive figures.  The inclusive weight of a node is the sum over the node and all below it.
 * The inclusive weight of a *label* must count each sample once, however often the label stands on
 * its stack; a node whose label stands already among its ancestors is marked `recursive`, and sums
 * per label take only the unmarked ones.  So no inclusive figure ever exceeds the total.
 *
 * Statistical error.  A sample of weight w that belongs to a figure adds w to it and w² to its
 * `square`.  Sampling arrivals are independent of the program, so the figure's variance is Σw² when
 * its time is counted alone; as a share of a known total T it is Σw²(1-p)² + p²·(Σ over the others
 * of w²), all over T².  fg_weight_error() gives the standard error of the time with the total
 * known: never more than the first form, and 0 for the root.
 *
 * A sample may have been divided among functions of the kernel.  Its parts were sampled at one
 * moment and are one sample of whatever has them all below it: what its square has beyond those of
 * its parts is added where their paths divide (`shared`), and to everything above.
 *
 * Columns.  A tree has one column of figures; a difference has two (0: before, 1: after) over the
 * union of the paths.
 *
 * Parents have smaller indexes than their children.  Node 0 is the root, label 0 its label.
 */
#ifndef FG_PROFILE_CALLTREE_H
#define FG_PROFILE_CALLTREE_H

#include "base/error.h"
#include "base/pair_index.h"
#include "profile/profile.h"

struct fg_weight {
	double value;
	double square; /* sum of the samples' squared weights; a sample in parts counts as one */
	uint64_t samples;
};

/*
 * Identifies a label along with its name. Never its line: functions move between two builds.
 */
enum fg_label_identity {
	FG_LABEL_LIBRARY,
	FG_LABEL_FILE, /* lines: "main.cpp:3" of two folders */
	FG_LABEL_NAME, /* the name alone: equal names after rewriting are one */
};

struct fg_label {
	const char *name;    /* what is shown */
	const char *library; /* base name; "" when grouping has lost it */
	const char *file; /* definition, or the line's file when grouped by line; NULL: unknown */
	const char *linkage; /* mangled name; NULL: the same, or grouping has lost it */
	unsigned line;
	uint32_t flags;   /* enum fg_frame_flag that all its frames share */
	uint8_t identity; /* enum fg_label_identity */
};

struct fg_calltree_node {
	uint32_t parent;
	uint32_t first_child; /* 0: none */
	uint32_t next_sibling;
	uint32_t label;
	uint32_t depth; /* root: 0 */
	bool recursive; /* the label stands among its ancestors too */
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
	/* fit(Track&) of reco::Fitter → reco::Fitter; a free function → its namespace */
	FG_GROUP_CLASS,
	FG_GROUP_NAMESPACE,
	FG_GROUP_LIBRARY,
	FG_GROUP_FILE, /* file of the definition */
	FG_GROUP_COUNT,
};

/* The grouping above the call paths: the tree is split by it first. */
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
 * Zero is "everything, by function".  Patterns are POSIX extended regular expressions, matched
 * against "name [library]" (regions against their path, threads against "name (tid)"); see
 * base/pattern.h for what is refused.
 */
struct fg_calltree_query {
	/* name; NULL: a tree is of the profile's first, a selected profile keeps all */
	const char *measure;
	enum fg_group group;
	enum fg_split split;
	const char *const *
		/*
		 * keep samples whose stack has a match of every pattern; NULL at the end, may be
		 * NULL
		 */
		focus;
	const char *const *ignore; /* drop samples whose stack has a match of any */
	const char *const *hide;   /* fold matching frames into their callers */
	/* cut everything above the outermost match; samples without one are dropped */
	const char *root;
	/* cut everything below the innermost match; samples without one are dropped */
	const char *leaf;
	const char *const
		*ancestors; /* "log" called below a match of the i-th becomes "log  (from MATCH)" */
	const char *const *rename; /* s/…/…/g, in order, on the shown name */
	bool collapse_templates;   /* vector<int, allocator<int>> → vector<…> */
	bool fold_inlined;         /* inlined frames belong to the function that contains them */
	bool mangled;              /* show linkage names */
	const char *thread;        /* pattern */
	const char *region;
	const char *unit_kind;
	uint64_t unit_first, unit_last; /* numbers, both with; unit_last 0: no limit */
	bool only_units;                /* drop what is outside any unit of work */
	int64_t from_ns, to_ns;         /* to_ns 0: to the end */
	uint32_t kinds;                 /* bits 1 << enum fg_time_kind; 0: all */
	uint32_t repetition;            /* 1 based; 0: all */
	bool per_repetition;            /* divide by the number of repetitions */
};

/*
 * The whole of a profile, aggregated as the query says, finished.  FG_EINVAL: a pattern or rule
 * that is not one.
 */
int fg_calltree_build(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_calltree *tree, struct fg_error *err) FG_NODISCARD;
void fg_calltree_release(struct fg_calltree *tree);

/*
 * By hand: init, then nodes and their weights, then finish.  Equal labels keep the facts of the
 * first one; a library that they do not share becomes "".
 */
void fg_calltree_init(struct fg_calltree *tree, unsigned columns, const char *root_name);
/* The default is CPU time. Call it before adding weights.  Texts are copied. */
void fg_calltree_set_measure(struct fg_calltree *tree, const struct fg_measure *measure);
uint32_t fg_calltree_label(struct fg_calltree *tree, const struct fg_label *label);
uint32_t fg_calltree_child(struct fg_calltree *tree, uint32_t parent, uint32_t label);
void fg_calltree_add(struct fg_calltree *tree, uint32_t node, unsigned column,
		     const struct fg_weight *weight, double scale);
/* Two parts of one sample, which have been added, with these values. */
void fg_calltree_join_parts(struct fg_calltree *tree, const uint32_t nodes[2], unsigned column,
			    const double values[2]);
/*
 * Sums up the inclusive figures, orders children by their weight (largest first, then by name),
 * marks recursion.
 */
void fg_calltree_finish(struct fg_calltree *tree);

/* The union of their paths, with `before` in column 0 and `after` in column 1; finished. */
void fg_calltree_difference(const struct fg_calltree *before, const struct fg_calltree *after,
			    struct fg_calltree *difference);
/*
 * Bottom-up: below the root stand the labels where time was spent, below each its callers, at most
 * max_depth levels. A node's self is what was spent at the leaf label with just these callers and
 * no further ones shown; its inclusive is what the path down to it explains.  Nodes below
 * `floor` (in every column) are left out: their weight stays with their parent's self.
 */
void fg_calltree_invert(const struct fg_calltree *tree, unsigned max_depth, double floor,
			struct fg_calltree *inverted);

/* Figures per label; recursion counted once. */
struct fg_label_figures {
	uint32_t label;
	struct fg_weight self[FG_CALLTREE_COLUMNS];
	struct fg_weight inclusive[FG_CALLTREE_COLUMNS];
	uint32_t leaf_paths; /* distinct call paths that end in it with time of their own */
};
/*
 * One per label that occurs, the root left out, by self of the last column, largest first; yours to
 * free.
 */
size_t fg_calltree_flat(const struct fg_calltree *tree, struct fg_label_figures **figures);

/* Weight that passes from caller to callee, each sample once per distinct pair on its stack. */
struct fg_label_edge {
	uint32_t caller;
	uint32_t callee;
	struct fg_weight weight[FG_CALLTREE_COLUMNS];
};
/* Sorted by caller, then by weight; the caller frees it. */
size_t fg_calltree_edges(const struct fg_calltree *tree, struct fg_label_edge **edges);

/*
 * Standard error of a figure for a known total; NaN if no sample supports it, or if every event was
 * seen.
 */
double fg_weight_error(const struct fg_weight *part, const struct fg_weight *total);

#endif
