/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call graph as a picture: DOT text, and through Graphviz SVG, PNG or PDF.
 *
 * A box is a function (or what the query grouped by), its letters as large as its self time, its
 * colour as strong as its inclusive time (or the other way round); an arrow is a call, as thick as
 * the time that passes through it.  A program has ten thousand functions and a picture has room for
 * a hundred: the rest is left out, smallest first, and the picture shows how much is missing.  A
 * dashed arrow passes over functions that were left out.  A tree of two columns gives a difference:
 * red is slower, blue is faster, and the shade shows how much.
 */
#ifndef FG_VIEWS_GRAPH_H
#define FG_VIEWS_GRAPH_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/calltree.h"

#include <signal.h>

struct fg_graph_options {
	const char *title;
	const char *focus;  /* pattern: only these functions, their callers and callees */
	size_t nodes;       /* limit; 0: 80 */
	double node_floor;  /* share of the time; 0: 0.5 % */
	double edge_floor;  /* 0: 0.1 % */
	unsigned depth;     /* calls away from the focus, or from the start; 0: any */
	bool color_by_self; /* colour shows self, size inclusive time */
	bool left_to_right;
	bool all; /* no floors and no limit */
};

/* Size of the picture and of the part left out, for the terminal; the picture shows the same. */
struct fg_graph_summary {
	size_t nodes, nodes_left_out;
	size_t edges, edges_left_out;
	double self_left_out; /* share of the time */
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

/* FG_EUNSUPPORTED: Graphviz is not installed; FG_ETIMEOUT; FG_ECHILD with its message. */
int fg_graph_render(const struct fg_strbuf *dot, const struct fg_graph_render_options *options,
		    struct fg_strbuf *picture, struct fg_error *err) FG_NODISCARD;

#endif
