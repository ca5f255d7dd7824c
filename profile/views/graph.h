/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call graph as a picture: DOT text, and through Graphviz SVG, PNG or PDF.
 *
 * A box is a function (or a group of the query). Its font size shows the self time and its colour
 * shows the inclusive time, or the other way round. An arrow is a call; its width shows the time
 * that passes through it. A program has ten thousand functions and a picture has room for a
 * hundred: the smallest functions are left out, and the picture shows their number and their share
 * of the time. A dashed arrow skips functions that were left out. A tree of two columns gives a
 * difference: red is slower, blue is faster, and the shade shows the size of the change.
 */
#ifndef FG_VIEWS_GRAPH_H
#define FG_VIEWS_GRAPH_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/calltree.h"

#include <signal.h>

struct fg_graph_options {
	const char *title;
	const char *focus;  /* pattern of the functions to show, with their callers and callees */
	size_t nodes;       /* maximum number of boxes; 0: 80 */
	double node_floor;  /* minimum share of the time for a box; 0: 0.5 % */
	double edge_floor;  /* minimum share of the time for an arrow; 0: 0.1 % */
	unsigned depth;     /* largest distance in calls from the focus or the start; 0: any */
	bool color_by_self; /* the colour shows self time, the font size inclusive time */
	bool left_to_right;
	bool all; /* no floors and no limit */
};

/*
 * The size of the picture and of the part left out, for the terminal. The picture shows the same
 * numbers.
 */
struct fg_graph_summary {
	size_t nodes, nodes_left_out;
	size_t edges, edges_left_out;
	double self_left_out; /* self time that is left out, as a share of the time */
};

int fg_graph_write_dot(const struct fg_calltree *tree, const struct fg_graph_options *options,
		       struct fg_strbuf *dot, struct fg_graph_summary *summary,
		       struct fg_error *err) FG_NODISCARD;

struct fg_graph_render_options {
	const char *program; /* NULL: "dot" of $PATH */
	const char *format;  /* "svg", "png", "pdf" */
	int64_t timeout_ns;  /* 0: 60 s */
	const volatile sig_atomic_t *interrupted;
};

/*
 * FG_EUNSUPPORTED: Graphviz is not installed; FG_ETIMEOUT: it took too long; FG_ECHILD: it failed,
 * with its message.
 */
int fg_graph_render(const struct fg_strbuf *dot, const struct fg_graph_render_options *options,
		    struct fg_strbuf *picture, struct fg_error *err) FG_NODISCARD;

#endif
