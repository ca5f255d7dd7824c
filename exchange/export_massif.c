// SPDX-License-Identifier: Apache-2.0
/*
 * Massif's format, for ms_print and massif-visualizer: the heap of one process over time, with
 * trees of call sites, innermost first, at the peak, at dumps and at the end.  The format has room
 * for one process, so it is that with the highest peak.
 */
#include "base/number.h"
#include "base/printable.h"
#include "exchange/export_formats.h"
#include "profile/calltree.h"

#include <inttypes.h>
#include <math.h>

enum {
	DEPTH = 30,
	MEASURE_SIZE = 32,
};

#define THRESHOLD 0.01 /* of a tree: sites with less are added up */

/* The points of one process. */
struct course {
	const struct fg_held_point *points;
	size_t count;
	double most;
};

static struct course find_largest(const struct fg_profile *profile)
{
	struct course largest = {0};
	struct course course = {0};

	for (size_t i = 0; i < profile->history_count; i++) {
		const struct fg_held_point *point = &profile->history[i];

		if (i == 0 || point->process != course.points->process)
			course = (struct course){.points = point};
		course.count++;
		course.most = fmax(course.most, fmax(point->bytes, point->most));
		if (!largest.points || course.points == largest.points ||
		    course.most > largest.most)
			largest = course;
	}
	return largest;
}

/* ---- trees ---- */

static void add_clean(struct fg_strbuf *text, const char *name)
{
	for (; *name; name++)
		fg_strbuf_add_char(text, fg_printable(*name));
}

/* "0x401136: fit(Track&) (fit.cpp:90)", or "(in libreco.so)" where the line is not known. */
static char *name_of_site(const struct fg_profile *profile, const struct fg_frame *frame)
{
	const struct fg_profile_function *function = &profile->functions[frame->function];
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "0x%" PRIX64 ": ", frame->address);
	add_clean(&text, function->name);
	if (frame->file && frame->line) {
		const char *slash = strrchr(frame->file, '/');

		fg_strbuf_add_text(&text, " (");
		add_clean(&text, slash ? slash + 1 : frame->file);
		fg_strbuf_printf(&text, ":%u)", frame->line);
	} else {
		fg_strbuf_add_text(&text, " (in ");
		add_clean(&text, function->library);
		fg_strbuf_add_text(&text, ")");
	}
	return fg_strbuf_detach(&text);
}

static void add_sample(struct fg_calltree *tree, const struct fg_profile *profile,
		       const struct fg_sample *sample)
{
	const struct fg_weight weight = {.value = sample->value, .samples = 1};
	uint32_t node = 0;
	unsigned depth = 0;

	for (uint32_t stack = sample->stack; stack != 0 && depth < DEPTH;
	     stack = profile->stacks[stack].parent, depth++) {
		char *name = name_of_site(profile, &profile->frames[profile->stacks[stack].frame]);
		const struct fg_label label = {
			.name = name, .library = "", .identity = FG_LABEL_NAME};

		node = fg_calltree_child(tree, node, fg_calltree_label(tree, &label));
		free(name);
	}
	fg_calltree_add(tree, node, 0, &weight, 1);
}

static void write_indent(struct fg_strbuf *out, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		fg_strbuf_add_char(out, ' ');
}

/* How many lines stand below the node: each large child, and one for the rest. */
struct below {
	size_t large;
	size_t small;
	double small_bytes;
};

static struct below look_below(const struct fg_calltree *tree, uint32_t node, double least)
{
	struct below below = {0};

	for (uint32_t child = tree->nodes[node].first_child; child;
	     child = tree->nodes[child].next_sibling) {
		const double bytes = tree->inclusive[0][child].value;

		if (bytes >= least) {
			below.large++;
		} else if (bytes > 0) {
			below.small++;
			below.small_bytes += bytes;
		}
	}
	return below;
}

/* A node and those below it.  It goes no deeper than DEPTH. */
static void write_node(struct fg_strbuf *out, const struct fg_calltree *tree, uint32_t node,
		       double least)
{
	const struct below below = look_below(tree, node, least);
	const unsigned depth = tree->nodes[node].depth;

	write_indent(out, depth);
	fg_strbuf_printf(out, "n%zu: %.0f %s\n", below.large + (below.small > 0),
			 tree->inclusive[0][node].value,
			 node ? tree->labels[tree->nodes[node].label].name
			      : "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
	for (uint32_t child = tree->nodes[node].first_child; child;
	     child = tree->nodes[child].next_sibling)
		if (tree->inclusive[0][child].value >= least)
			write_node(out, tree, child, least);
	if (below.small == 0)
		return;
	write_indent(out, depth + 1);
	fg_strbuf_printf(out, "n0: %.0f in %zu place%s, %sbelow massif's threshold (1.00%%)\n",
			 below.small_bytes, below.small, below.small == 1 ? "" : "s",
			 below.small == 1 ? "" : "all ");
}

/* False: there is nothing of this measure. */
static bool write_tree(struct fg_strbuf *out, const struct fg_profile *profile, uint32_t process,
		       const char *measure, const char *kind)
{
	struct fg_calltree tree;
	uint16_t index = 0;
	bool is_there = false;

	if (fg_profile_find_measure(profile, measure, &index, NULL) != FG_OK)
		return false;
	fg_calltree_init(&tree, 1, "");
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];

		if (sample->measure == index && profile->threads[sample->thread].process == process)
			add_sample(&tree, profile, sample);
	}
	fg_calltree_finish(&tree);
	is_there = tree.inclusive[0][0].value > 0;
	if (is_there) {
		fg_strbuf_printf(out, "heap_tree=%s\n", kind);
		write_node(out, &tree, 0, fmax(1, THRESHOLD * tree.inclusive[0][0].value));
	}
	fg_calltree_release(&tree);
	return is_there;
}

/* ---- snapshots ---- */

static void begin_snapshot(struct fg_strbuf *out, size_t number, double ms, double bytes)
{
	fg_strbuf_printf(out,
			 "#-----------\nsnapshot=%zu\n#-----------\ntime=%.3f\nmem_heap_B=%.0f\n"
			 "mem_heap_extra_B=0\nmem_stacks_B=0\n",
			 number, ms, bytes);
}

static void write_snapshots(struct fg_strbuf *out, const struct fg_profile *profile,
			    const struct course *course)
{
	const uint32_t process = course->points->process;
	const double start_ns = (double)course->points->time_ns;
	bool has_peak = false;
	size_t number = 0;

	for (size_t i = 0; i < course->count; i++) {
		const struct fg_held_point *point = &course->points[i];
		const double ms = ((double)point->time_ns - start_ns) / 1e6;
		char measure[MEASURE_SIZE] = "heap.live";

		if (!has_peak && fmax(point->most, point->bytes) >= course->most) {
			begin_snapshot(out, number++, ms, course->most);
			if (!write_tree(out, profile, process, "heap.peak", "peak"))
				fg_strbuf_add_text(out, "heap_tree=empty\n");
			has_peak = true;
		}
		begin_snapshot(out, number++, ms, point->bytes);
		if (point->dump)
			(void)snprintf(measure, sizeof(measure), "heap.live.%u", point->dump);
		if ((!point->dump && i + 1 < course->count) ||
		    !write_tree(out, profile, process, measure, "detailed"))
			fg_strbuf_add_text(out, "heap_tree=empty\n");
	}
}

int fg_export_massif(const struct fg_profile *profile, const struct fg_export_options *options,
		     struct fg_strbuf *out, struct fg_error *err)
{
	const struct course course = find_largest(profile);

	if (course.count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "what was held over time is not known: use fastgate record "
				    "--measure heap");
	fg_strbuf_printf(
		out, "desc: %s\ncmd: ", options->tool_version ? options->tool_version : "fastgate");
	add_clean(out, profile->processes[course.points->process].command);
	fg_strbuf_add_text(out, "\ntime_unit: ms\n");
	write_snapshots(out, profile, &course);
	return FG_OK;
}
