// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/printable.h"
#include "base/text.h"
#include "profile/views/graph_select.h"

#include <math.h>

enum {
	LINE_WIDTH = 34,    /* characters per line of a name in a box */
	MAX_NAME = 170,     /* longer names are cut; the tooltip shows the whole name */
	SMALLEST_FONT = 11, /* font size of names */
	LARGEST_FONT = 30,
	SMALL_FONT = 10, /* font size of figures */
};

struct painter {
	const struct fg_calltree *tree;
	const struct fg_graph_options *options;
	const struct fg_graph *graph;
	struct fg_strbuf *dot;
};

static bool is_difference(const struct painter *p)
{
	return p->tree->column_count > 1;
}

static void add_escaped(struct fg_strbuf *dot, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fg_strbuf_add_char(dot, '\\');
		fg_strbuf_add_char(dot, fg_printable(text[i]));
	}
}

/*
 * Returns the end of a line of a name: after "::", a comma, a space or an opening bracket;
 * otherwise at the limit.
 */
static size_t line_end(const char *name, size_t length)
{
	size_t best = 0;

	if (length <= LINE_WIDTH)
		return length;
	for (size_t i = LINE_WIDTH / 3; i <= LINE_WIDTH; i++) {
		if (strchr(" ,<(", name[i - 1]) || (name[i - 1] == ':' && name[i] != ':'))
			best = i;
	}
	return best > 0 ? best : fg_text_head(name, LINE_WIDTH);
}

static void add_wrapped(struct fg_strbuf *dot, const char *name)
{
	struct fg_strbuf shown = {0};
	const char *at = NULL;
	size_t left = 0;

	fg_text_add_cut(&shown, name, MAX_NAME);
	at = fg_strbuf_text(&shown);
	left = shown.length;
	while (left > 0) {
		const size_t end = line_end(at, left);

		fg_text_add_references(dot, at, end, "&<>\"");
		at += end;
		left -= end;
		if (left > 0)
			fg_strbuf_add_text(dot, "<BR/>");
	}
	fg_strbuf_release(&shown);
}

/* Mixes two colours, each 0xrrggbb. */
static unsigned mix(unsigned from, unsigned to, double share)
{
	unsigned mixed = 0;

	for (unsigned shift = 0; shift <= 16; shift += 8) {
		const double a = (double)((from >> shift) & 0xffU);
		const double b = (double)((to >> shift) & 0xffU);

		mixed |= (unsigned)lround(a + (b - a) * share) << shift;
	}
	return mixed;
}

/*
 * Returns a colour from pale to deep orange: the steps are distinct in grey, and dark text stays
 * readable.
 */
static unsigned heat(double share)
{
	return mix(0xfaf7f2, 0xf28e4b, sqrt(fmin(1, fmax(0, share))));
}

/* Returns blue for faster, white for unchanged, red for slower. */
static unsigned change_color(double share)
{
	const double strength = sqrt(fmin(1, fabs(share)));

	return share > 0 ? mix(0xf7f7f7, 0xef8a62, strength) : mix(0xf7f7f7, 0x67a9cf, strength);
}

static double reference(const struct painter *p)
{
	return fmax(p->graph->total[0], p->graph->total[1]);
}

/* Returns the change of the figure that the colour shows. */
static double change_of(const struct painter *p, const struct fg_label_figures *f)
{
	const struct fg_weight *of = p->options->color_by_self ? f->self : f->inclusive;

	return of[1].value - of[0].value;
}

/*
 * Returns the largest change among the nodes. It gets the full colour, so that small changes still
 * show.
 */
static double largest_change(const struct painter *p)
{
	double most = 0;

	for (size_t i = 0; i < p->graph->node_count; i++)
		most = fmax(most, fabs(change_of(p, &p->graph->nodes[i].figures)));
	return most;
}

static const char *text_of(const struct painter *p, double value, char text[FG_NUMBER_TEXT_SIZE])
{
	return fg_measure_text(&p->tree->measure, value, text);
}

static void add_value(const struct painter *p, const char *what, double value, double total)
{
	char text[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(p->dot, "<BR/>%s %s (%.1f %%)", what, text_of(p, value, text),
			 total > 0 ? 100 * value / total : 0);
}

/* Differences below a thousandth of the whole count as unchanged. */
static bool is_changed(const struct painter *p, double before, double after)
{
	return fabs(after - before) > 0.001 * reference(p);
}

static void add_change(const struct painter *p, const char *what, double before, double after)
{
	char one[FG_NUMBER_TEXT_SIZE];
	char other[FG_NUMBER_TEXT_SIZE];
	char change[FG_NUMBER_TEXT_SIZE];
	const double delta = after - before;

	if (!is_changed(p, before, after))
		fg_strbuf_printf(p->dot, "<BR/>%s %s as before", what, text_of(p, after, one));
	else
		fg_strbuf_printf(p->dot, "<BR/>%s %s%s (%s → %s)", what, delta < 0 ? "−" : "+",
				 text_of(p, fabs(delta), change), text_of(p, before, one),
				 text_of(p, after, other));
}

static void write_figures(const struct painter *p, const struct fg_label_figures *f)
{
	if (is_difference(p)) {
		add_change(p, "self", f->self[0].value, f->self[1].value);
		add_change(p, "incl", f->inclusive[0].value, f->inclusive[1].value);
		return;
	}
	add_value(p, "self", f->self[0].value, p->graph->total[0]);
	add_value(p, "incl", f->inclusive[0].value, p->graph->total[0]);
}

static unsigned node_color(const struct painter *p, const struct fg_label_figures *f,
			   double full_change)
{
	const struct fg_weight *of = p->options->color_by_self ? f->self : f->inclusive;

	if (!is_difference(p))
		return heat(of->value / fmax(1, reference(p)));
	return change_color(full_change > 0 ? change_of(p, f) / full_change : 0);
}

static double font_size(const struct painter *p, const struct fg_label_figures *f)
{
	const unsigned last = p->tree->column_count - 1;
	const double value =
		p->options->color_by_self ? f->inclusive[last].value : f->self[last].value;
	const double share = fmin(1, value / fmax(1, reference(p)));

	return SMALLEST_FONT + (LARGEST_FONT - SMALLEST_FONT) * sqrt(share);
}

static void write_node(const struct painter *p, size_t index, double full_change)
{
	const struct fg_graph_node *node = &p->graph->nodes[index];
	const struct fg_label *label = &p->tree->labels[node->label];
	const unsigned fill = node_color(p, &node->figures, full_change);

	fg_strbuf_printf(p->dot, "\tn%zu [label=<<FONT POINT-SIZE=\"%.1f\">", index,
			 font_size(p, &node->figures));
	add_wrapped(p->dot, label->name);
	fg_strbuf_printf(p->dot, "</FONT><FONT POINT-SIZE=\"%d\">", SMALL_FONT);
	write_figures(p, &node->figures);
	fg_strbuf_printf(p->dot, "</FONT>>, fillcolor=\"#%06x\", color=\"#%06x\"", fill,
			 mix(fill, 0x404040, 0.5));
	if (node->is_focus)
		fg_strbuf_add_text(p->dot, ", penwidth=3");
	fg_strbuf_add_text(p->dot, ", tooltip=\"");
	add_escaped(p->dot, label->name, strlen(label->name));
	if (label->library && *label->library) {
		fg_strbuf_add_text(p->dot, "  [");
		add_escaped(p->dot, label->library, strlen(label->library));
		fg_strbuf_add_text(p->dot, "]");
	}
	if (label->file) {
		fg_strbuf_add_text(p->dot, "  ");
		add_escaped(p->dot, label->file, strlen(label->file));
		fg_strbuf_printf(p->dot, ":%u", label->line);
	}
	fg_strbuf_add_text(p->dot, "\"];\n");
}

static void write_edge(const struct painter *p, const struct fg_graph_edge *edge)
{
	const unsigned last = p->tree->column_count - 1;
	const double total = fmax(1, reference(p));
	const double share = fmin(1, edge->values[last] / total);
	char text[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(p->dot, "\tn%u -> n%u [label=\"", edge->from, edge->to);
	if (!is_difference(p))
		fg_strbuf_printf(p->dot, " %s", text_of(p, edge->values[0], text));
	else if (is_changed(p, edge->values[0], edge->values[1]))
		fg_strbuf_printf(p->dot, " %s%s", edge->values[1] < edge->values[0] ? "−" : "+",
				 text_of(p, fabs(edge->values[1] - edge->values[0]), text));
	fg_strbuf_printf(p->dot, "\", penwidth=%.2f, weight=%d, color=\"#%06x\"%s];\n",
			 0.6 + 5 * sqrt(share), 1 + (int)(99 * share),
			 mix(0xb0aaa2, 0x5a3a22, sqrt(share)), edge->skips ? ", style=dashed" : "");
}

static void add_left_out(const struct painter *p, struct fg_strbuf *text)
{
	const struct fg_measure *measure = &p->tree->measure;
	const bool is_time = fg_measure_has_time(measure);
	const struct fg_graph_summary *summary = &p->graph->summary;
	char nodes[FG_NUMBER_TEXT_SIZE];
	char edges[FG_NUMBER_TEXT_SIZE];

	(void)fg_format_count((double)summary->nodes_left_out, nodes);
	(void)fg_format_count((double)summary->edges_left_out, edges);
	if (summary->nodes_left_out > 0)
		fg_strbuf_printf(
			text, "left out: %s of %zu functions, with %.1f %% of %s, and %s call%s",
			nodes, summary->nodes + summary->nodes_left_out,
			100 * summary->self_left_out, is_time ? "the time" : measure->label, edges,
			summary->edges_left_out == 1 ? "" : "s");
	else if (summary->edges_left_out > 0)
		fg_strbuf_printf(text, "left out: %s call%s with little %s", edges,
				 summary->edges_left_out == 1 ? "" : "s",
				 is_time ? "time" : measure->label);
}

static void write_head(const struct painter *p)
{
	const struct fg_graph *graph = p->graph;
	const bool is_time = fg_measure_has_time(&p->tree->measure);
	struct fg_strbuf left_out = {0};
	char one[FG_NUMBER_TEXT_SIZE];
	char other[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(p->dot, "digraph fastgate {\n");
	fg_strbuf_printf(p->dot,
			 "\tgraph [fontname=\"Helvetica\", fontsize=14, labelloc=t, labeljust=l, "
			 "nodesep=0.25, ranksep=0.4, rankdir=%s, bgcolor=white, tooltip=\" \"];\n",
			 p->options->left_to_right ? "LR" : "TB");
	fg_strbuf_add_text(p->dot, "\tnode [fontname=\"Helvetica\", shape=box, "
				   "style=\"filled,rounded\", fontcolor=\"#202020\", "
				   "margin=\"0.14,0.09\"];\n"
				   "\tedge [fontname=\"Helvetica\", fontsize=10, "
				   "fontcolor=\"#404040\", arrowsize=0.7];\n\tlabel=\"");
	if (p->options->title)
		add_escaped(p->dot, p->options->title, strlen(p->options->title));
	if (is_difference(p))
		fg_strbuf_printf(p->dot, "\\l%s → %s; red: %s, blue: %s\\l",
				 text_of(p, graph->total[0], one),
				 text_of(p, graph->total[1], other), is_time ? "slower" : "more",
				 is_time ? "faster" : "less");
	else
		fg_strbuf_printf(p->dot, "\\l%s in all; font size by %s, colour by %s%s\\l",
				 text_of(p, graph->total[0], one),
				 p->options->color_by_self ? "inclusive" : "self",
				 p->options->color_by_self ? "self" : "inclusive",
				 is_time ? " time" : "");
	add_left_out(p, &left_out);
	if (left_out.length > 0)
		fg_strbuf_printf(p->dot, "%s\\l", fg_strbuf_text(&left_out));
	fg_strbuf_add_text(p->dot, "\";\n");
	fg_strbuf_release(&left_out);
}

int fg_graph_write_dot(const struct fg_calltree *tree, const struct fg_graph_options *options,
		       struct fg_strbuf *dot, struct fg_graph_summary *summary,
		       struct fg_error *err)
{
	struct fg_graph graph;
	const struct painter p = {.tree = tree, .options = options, .graph = &graph, .dot = dot};
	double full_change = 0;

	FG_TRY(fg_graph_select(tree, options, &graph, err));
	write_head(&p);
	if (is_difference(&p))
		full_change = largest_change(&p);
	for (size_t i = 0; i < graph.node_count; i++)
		write_node(&p, i, full_change);
	for (size_t i = 0; i < graph.edge_count; i++)
		write_edge(&p, &graph.edges[i]);
	fg_strbuf_add_text(dot, "}\n");
	if (summary)
		*summary = graph.summary;
	fg_graph_release(&graph);
	return FG_OK;
}
