// SPDX-License-Identifier: Apache-2.0
/*
 * The heap as a part of a page without a script: what each process held over time, as a picture
 * whose marks (the peak, dumps, the end) lead to flame graphs of what was held then.
 */
#include "base/number.h"
#include "profile/calltree.h"
#include "profile/exchange/export_formats.h"

#include <math.h>

enum {
	WIDTH = 1100,
	HEIGHT = 240,
	LEFT = 80, /* for the sizes */
	BOTTOM = 24,
	TOP = 14,
	LINES = 4,         /* across the picture */
	PROCESSES_MAX = 8, /* pictures: those with the highest peaks */
	DUMPS_MAX = 8,     /* flame graphs of dumps: the first ones */
	ROW = 18,          /* of a flame graph */
	ROWS_MAX = 100,
	NAMED_FROM = 24, /* narrower ones have no text */
};

#define NARROWEST 0.5 /* wide enough to be drawn */

/* ---- over time ---- */

/* The points of one process. */
struct course {
	const struct fg_held_point *points;
	size_t count;
	double most;
	int64_t from_ns, to_ns;
};

static int highest_first(const void *left, const void *right)
{
	const struct course *a = left;
	const struct course *b = right;

	if (a->most > b->most || a->most < b->most)
		return a->most > b->most ? -1 : 1;
	return (a->points > b->points) - (a->points < b->points);
}

static struct course course_at(const struct fg_profile *profile, size_t first)
{
	struct course course = {
		.points = &profile->history[first],
		.from_ns = profile->history[first].time_ns,
	};

	while (first + course.count < profile->history_count &&
	       course.points[course.count].process == course.points[0].process) {
		const struct fg_held_point *point = &course.points[course.count++];

		course.most = fmax(course.most, fmax(point->bytes, point->most));
		course.to_ns = point->time_ns;
	}
	return course;
}

static double across(const struct course *course, int64_t time_ns)
{
	const double length = fmax(1, (double)(course->to_ns - course->from_ns));

	return LEFT + (WIDTH - LEFT - 10) * (double)(time_ns - course->from_ns) / length;
}

static double down(const struct course *course, double bytes)
{
	return TOP + (HEIGHT - TOP - BOTTOM) * (1 - bytes / course->most);
}

static void add_label(struct fg_xml_writer *w, double x, double y, const char *anchor,
		      const char *text)
{
	fg_xml_begin(w, "text");
	fg_xml_attribute_printf(w, "x", "%.1f", x);
	fg_xml_attribute_printf(w, "y", "%.1f", y);
	fg_xml_attribute(w, "text-anchor", anchor);
	fg_xml_text(w, text);
	fg_xml_end(w);
}

static void add_scales(struct fg_xml_writer *w, const struct course *course)
{
	char text[FG_NUMBER_TEXT_SIZE];

	for (unsigned i = 0; i <= LINES; i++) {
		const double bytes = course->most * i / LINES;

		fg_xml_begin(w, "line");
		fg_xml_attribute_printf(w, "x1", "%d", LEFT);
		fg_xml_attribute_printf(w, "x2", "%d", WIDTH - 10);
		fg_xml_attribute_printf(w, "y1", "%.1f", down(course, bytes));
		fg_xml_attribute_printf(w, "y2", "%.1f", down(course, bytes));
		fg_xml_attribute(w, "class", "scale");
		fg_xml_end(w);
		add_label(w, LEFT - 6, down(course, bytes) + 4, "end", fg_format_size(bytes, text));
	}
	add_label(w, LEFT, HEIGHT - 6, "start", "0");
	add_label(w, WIDTH - 10, HEIGHT - 6, "end",
		  fg_format_duration((double)(course->to_ns - course->from_ns), text));
}

/* Where the most rose since the last point, the line goes up there, however short it was. */
static void add_line(struct fg_xml_writer *w, const struct course *course)
{
	struct fg_strbuf path = {0};
	double most = 0;

	for (size_t i = 0; i < course->count; i++) {
		const struct fg_held_point *point = &course->points[i];
		const double x = across(course, point->time_ns);

		if (i > 0)
			fg_strbuf_printf(&path, "%.1f,%.1f ", x, down(course, point[-1].bytes));
		if (point->most > most && point->most > point->bytes)
			fg_strbuf_printf(&path, "%.1f,%.1f ", x, down(course, point->most));
		most = fmax(most, point->most);
		fg_strbuf_printf(&path, "%.1f,%.1f ", x, down(course, point->bytes));
	}
	fg_xml_begin(w, "polyline");
	fg_xml_attribute(w, "points", fg_strbuf_text(&path));
	fg_xml_attribute(w, "class", "held");
	fg_xml_end(w);
	fg_strbuf_release(&path);
}

/* A circle that leads to a flame graph. */
static void add_mark(struct fg_xml_writer *w, const struct course *course,
		     const struct fg_held_point *at, double bytes, const char *target,
		     const char *what)
{
	char size[FG_NUMBER_TEXT_SIZE];
	char time[FG_NUMBER_TEXT_SIZE];
	const double x = across(course, at->time_ns);

	fg_xml_begin(w, "a");
	fg_xml_attribute_printf(w, "href", "#%s", target);
	fg_xml_begin(w, "circle");
	fg_xml_attribute_printf(w, "cx", "%.1f", x);
	fg_xml_attribute_printf(w, "cy", "%.1f", down(course, bytes));
	fg_xml_attribute(w, "r", "6");
	fg_xml_begin(w, "title");
	{
		char *text = fg_xasprintf(
			"%s: %s after %s", what, fg_format_size(bytes, size),
			fg_format_duration((double)(at->time_ns - course->from_ns), time));

		fg_xml_text(w, text);
		free(text);
	}
	fg_xml_end(w);
	fg_xml_end(w);
	add_label(w, x > WIDTH - 150 ? x - 10 : x + 10, down(course, bytes) + 14,
		  x > WIDTH - 150 ? "end" : "start", what);
	fg_xml_end(w);
}

static const struct fg_held_point *peak_of(const struct course *course)
{
	for (size_t i = 0; i < course->count; i++)
		if (fmax(course->points[i].bytes, course->points[i].most) >= course->most)
			return &course->points[i];
	return &course->points[0];
}

static void add_course(struct fg_xml_writer *w, const struct fg_profile *profile,
		       const struct course *course)
{
	const struct fg_process_info *process = &profile->processes[course->points[0].process];
	char most[FG_NUMBER_TEXT_SIZE];
	char *caption = fg_xasprintf("%s (%d): peak %s", process->command, process->pid,
				     fg_format_size(course->most, most));

	fg_export_page_text(w, "p", NULL, caption);
	fg_xml_begin(w, "svg");
	fg_xml_attribute(w, "class", "course");
	fg_xml_attribute_printf(w, "viewBox", "0 0 %d %d", WIDTH, HEIGHT);
	fg_xml_attribute(w, "role", "img");
	fg_xml_attribute_printf(w, "aria-label", "memory held over time, %s", caption);
	add_scales(w, course);
	add_line(w, course);
	for (size_t i = 0; i < course->count; i++) {
		const struct fg_held_point *point = &course->points[i];
		char target[32];
		char what[32];

		if (point->dump == 0 || point->dump > DUMPS_MAX)
			continue;
		(void)snprintf(target, sizeof(target), "dump-%u", point->dump);
		(void)snprintf(what, sizeof(what), "dump %u", point->dump);
		add_mark(w, course, point, point->bytes, target, what);
	}
	add_mark(w, course, peak_of(course), course->most, "peak", "peak");
	fg_xml_end(w);
	free(caption);
}

static void add_courses(struct fg_xml_writer *w, const struct fg_profile *profile)
{
	struct course *courses = fg_xcalloc(profile->history_count + 1, sizeof(courses[0]));
	size_t count = 0;

	for (size_t i = 0; i < profile->history_count; i += courses[count++].count)
		courses[count] = course_at(profile, i);
	qsort(courses, count, sizeof(courses[0]), highest_first);
	for (size_t i = 0; i < count && i < PROCESSES_MAX && courses[i].most > 0; i++)
		add_course(w, profile, &courses[i]);
	if (count > PROCESSES_MAX) {
		char *more = fg_xasprintf("and %zu more processes, whose peaks are lower",
					  count - PROCESSES_MAX);

		fg_export_page_text(w, "p", "quiet", more);
		free(more);
	}
	free(courses);
}

/* ---- flame graphs ---- */

static const char *color_of(const char *library)
{
	static const char *const colors[] = {"#f2a65a", "#f6c65b", "#9ccf7a", "#7cc6c1",
					     "#8fb4ec", "#c3a5ea", "#eb9fb6", "#c9c2a8"};
	uint32_t hash = 5381;

	for (; *library; library++)
		hash = hash * 33 + (unsigned char)*library;
	return colors[hash % FG_ARRAY_SIZE(colors)];
}

/* Pixels from the left of each node; children follow each other, parents come before them. */
static double *place_nodes(const struct fg_calltree *tree)
{
	double *left = fg_xcalloc(tree->node_count, sizeof(left[0]));
	const double scale = WIDTH / tree->inclusive[0][0].value;

	for (uint32_t i = 0; i < tree->node_count; i++) {
		double at = left[i];

		for (uint32_t child = tree->nodes[i].first_child; child;
		     child = tree->nodes[child].next_sibling) {
			left[child] = at;
			at += scale * tree->inclusive[0][child].value;
		}
	}
	return left;
}

static void add_box(struct fg_xml_writer *w, const struct fg_calltree *tree, uint32_t node,
		    double left, double width)
{
	const struct fg_label *label = &tree->labels[tree->nodes[node].label];
	const double share = tree->inclusive[0][node].value / tree->inclusive[0][0].value;
	char size[FG_NUMBER_TEXT_SIZE];
	char *title =
		fg_xasprintf("%s%s%s%s: %s (%.1f %%)", label->name, *label->library ? " [" : "",
			     label->library, *label->library ? "]" : "",
			     fg_format_size(tree->inclusive[0][node].value, size), 100 * share);

	fg_xml_begin(w, "svg"); /* cuts its text off */
	fg_xml_attribute_printf(w, "x", "%.1f", left);
	fg_xml_attribute_printf(w, "y", "%u", (tree->nodes[node].depth) * ROW);
	fg_xml_attribute_printf(w, "width", "%.1f", width);
	fg_xml_attribute_printf(w, "height", "%d", ROW - 1);
	fg_xml_begin(w, "title");
	fg_xml_text(w, title);
	fg_xml_end(w);
	fg_xml_begin(w, "rect");
	fg_xml_attribute(w, "width", "100%");
	fg_xml_attribute(w, "height", "100%");
	fg_xml_attribute(w, "fill", node ? color_of(label->library) : "#c8ccd4");
	fg_xml_end(w);
	if (width >= NAMED_FROM)
		add_label(w, 3, ROW - 5, "start", label->name);
	fg_xml_end(w);
	free(title);
}

static void add_boxes(struct fg_xml_writer *w, const struct fg_calltree *tree)
{
	const double scale = WIDTH / tree->inclusive[0][0].value;
	double *left = place_nodes(tree);
	unsigned depth = 0;

	for (uint32_t i = 0; i < tree->node_count; i++)
		if (scale * tree->inclusive[0][i].value >= NARROWEST &&
		    tree->nodes[i].depth < ROWS_MAX && tree->nodes[i].depth > depth)
			depth = tree->nodes[i].depth;
	fg_xml_begin(w, "svg");
	fg_xml_attribute(w, "class", "flame");
	fg_xml_attribute_printf(w, "viewBox", "0 0 %d %u", WIDTH, (depth + 1) * ROW);
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const double width = scale * tree->inclusive[0][i].value;

		if (width >= NARROWEST && tree->nodes[i].depth < ROWS_MAX)
			add_box(w, tree, i, left[i], width);
	}
	fg_xml_end(w);
	free(left);
}

static int add_flame(struct fg_xml_writer *w, const struct fg_profile *profile, const char *measure,
		     const char *target, const char *title, struct fg_error *err)
{
	const struct fg_calltree_query query = {
		.measure = measure,
		.split = profile->process_count > 1 ? FG_SPLIT_PROCESS : FG_SPLIT_NONE,
	};
	struct fg_calltree tree;
	char size[FG_NUMBER_TEXT_SIZE];
	char *heading = NULL;
	const int status = fg_calltree_build(profile, &query, &tree, err);

	if (status != FG_OK)
		return status;
	heading = fg_xasprintf("%s: %s", title, fg_format_size(tree.inclusive[0][0].value, size));
	fg_xml_begin(w, "section");
	fg_xml_attribute(w, "id", target);
	fg_export_page_text(w, "h3", NULL, heading);
	if (tree.inclusive[0][0].value > 0)
		add_boxes(w, &tree);
	fg_xml_end(w);
	free(heading);
	fg_calltree_release(&tree);
	return FG_OK;
}

static bool has_measure(const struct fg_profile *profile, const char *name)
{
	uint16_t index = 0;

	return fg_profile_find_measure(profile, name, &index, NULL) == FG_OK;
}

/* ---- the section ---- */

bool fg_export_has_memory(const struct fg_profile *profile)
{
	return profile->history_count > 0 && has_measure(profile, "heap.peak");
}

int fg_export_html_memory(const struct fg_profile *profile, struct fg_xml_writer *w,
			  struct fg_error *err)
{
	static const struct {
		const char *measure;
		const char *target;
		const char *title;
	} moments[] = {
		{.measure = "heap.peak", .target = "peak", .title = "Held at the peak"},
		{.measure = "heap.live", .target = "end", .title = "Held at the end"},
		{.measure = "heap.leaked", .target = "lost", .title = "Lost"},
	};
	int status = FG_OK;

	fg_xml_begin(w, "section");
	fg_export_page_text(w, "h2", NULL, "Memory over time");
	add_courses(w, profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(moments) && status == FG_OK; i++)
		if (has_measure(profile, moments[i].measure))
			status = add_flame(w, profile, moments[i].measure, moments[i].target,
					   moments[i].title, err);
	for (unsigned i = 1; i <= DUMPS_MAX && status == FG_OK; i++) {
		char measure[32];
		char target[32];
		char title[32];

		(void)snprintf(measure, sizeof(measure), "heap.live.%u", i);
		(void)snprintf(target, sizeof(target), "dump-%u", i);
		(void)snprintf(title, sizeof(title), "Held at dump %u", i);
		if (has_measure(profile, measure))
			status = add_flame(w, profile, measure, target, title, err);
	}
	fg_xml_end(w);
	return status;
}
