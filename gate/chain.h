/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The level of a metric along the commits, as a chain of ratios.
 *
 * A run measures candidate ÷ baseline in pairs, which gives the step between two commits regardless
 * of how fast its host is that day. The chain is the path of such steps that ends at one commit and
 * passes through as many other commits as possible; dates are ignored. Runs that span several steps
 * of the path, such as one against the last release, anchor it: all steps become weighted least
 * squares estimates. Without an anchor the error grows with the square root of the number of steps.
 *
 * All changes are logarithms of ratios. Identical builds are a step of exactly 0.
 */
#ifndef FG_GATE_CHAIN_H
#define FG_GATE_CHAIN_H

#include "model/chain.h"

enum {
	FG_CHAIN_ANCHORS_MAX = 128 /* maximum number of anchors; older anchors are dropped */
};

struct fg_chain_point {
	const char *commit; /* borrowed from the edges */
	const char *tag;    /* NULL: none */
	/* index of the newest edge of the step that leads here; SIZE_MAX: the first point */
	size_t edge;
	/*
	 * the step from the previous point, estimated from the runs of this step, without anchors
	 */
	double change;
	double error;
	bool is_known; /* this step was reported: a regression or an improvement on its own */
};

struct fg_chain_anchor {
	size_t edge;
	size_t from; /* indexes of points, from < to */
	size_t to;
	double change;
	double variance;
};

struct fg_chain {
	struct fg_chain_point *points; /* oldest first; empty if no step was measured */
	size_t count;
	struct fg_chain_anchor *anchors;
	size_t anchor_count;
	/* sums up to each point, by enum fg_chain_part */
	double *changes[2];
	double *variances[2];
	double *factor;   /* Cholesky factor of the anchors' covariance */
	double *residual; /* covariance⁻¹ × (anchors − steps) */
};

enum fg_chain_part {
	FG_CHAIN_ALL,
	FG_CHAIN_SMALL, /* without the steps that were reported */
};

struct fg_chain_sum {
	double change;
	double error;
};

/*
 * `edges` are in the order in which they were measured and must outlive the chain. `tip` is the
 * commit at the end; NULL: the commit with the most steps before it, among the commits connected
 * with the newest run.
 */
void fg_chain_build(const struct fg_chain_edge *edges, size_t count, const char *tip,
		    struct fg_chain *chain);
/* Returns the sum of the steps after point `from`, up to point `to`. */
struct fg_chain_sum fg_chain_sum(const struct fg_chain *chain, size_t from, size_t to,
				 enum fg_chain_part part);
/*
 * Writes the sum of fg_chain_sum() as a linear function of the runs' changes: one weight for each
 * point's step and one for each anchor.
 */
void fg_chain_weights(const struct fg_chain *chain, size_t from, size_t to, enum fg_chain_part part,
		      double *steps, double *anchors);
void fg_chain_release(struct fg_chain *chain);

#endif
