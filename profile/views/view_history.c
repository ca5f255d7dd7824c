// SPDX-License-Identifier: Apache-2.0
/*
 * How much of the heap was held over time, in equal steps: by the process that held the most.  A
 * step shows the most that was held in it, however shortly.
 */
#include "profile/views/view_private.h"

#include <math.h>

enum {
	STEPS = 40,
	BAR = 40, /* characters */
};

enum column {
	COLUMN_FROM,
	COLUMN_TO,
	COLUMN_MOST,
	COLUMN_END,
	COLUMN_BAR,
	COLUMN_MARKS,
	COLUMN_COUNT,
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_FROM] = {"from_ns", "from %t", .kind = FG_CELL_TIME},
	[COLUMN_TO] = {"to_ns", "to", .kind = FG_CELL_TIME, .only_data = true},
	[COLUMN_MOST] = {"most", "most %t", .kind = FG_CELL_VALUE},
	[COLUMN_END] = {"held", "at its end %t", .kind = FG_CELL_VALUE},
	[COLUMN_BAR] = {"bar", "", .kind = FG_CELL_TEXT, .left = true},
	[COLUMN_MARKS] = {"marks", "", .kind = FG_CELL_TEXT, .left = true},
};

/* The points of one process. */
struct course {
	const struct fg_held_point *points;
	size_t count;
	double most;
};

static struct course find_largest(const struct fg_profile *profile, size_t *processes)
{
	struct course largest = {0};
	struct course course = {0};

	*processes = 0;
	for (size_t i = 0; i < profile->history_count; i++) {
		const struct fg_held_point *point = &profile->history[i];

		if (i == 0 || point->process != course.points->process) {
			course = (struct course){.points = point};
			(*processes)++;
		}
		course.count++;
		course.most = fmax(course.most, fmax(point->bytes, point->most));
		if (!largest.points || course.points == largest.points ||
		    course.most > largest.most)
			largest = course;
	}
	return largest;
}

struct step {
	double from_ns, to_ns;
	double most;
	double held; /* at its end */
	bool has_peak;
	unsigned dump; /* the last one; 0: none */
};

/* Continues where the step before ended. */
static struct step make_step(const struct course *course, size_t *next, struct step before,
			     double to_ns)
{
	struct step step = {
		.from_ns = before.to_ns, .to_ns = to_ns, .held = before.held, .most = before.held};

	for (; *next < course->count && (double)course->points[*next].time_ns <= to_ns; ++*next) {
		const struct fg_held_point *point = &course->points[*next];
		const double before_it = *next > 0 ? point[-1].most : 0;

		step.held = point->bytes;
		step.most = fmax(step.most, point->bytes);
		if (point->most > before_it)
			step.most = fmax(step.most, point->most);
		step.has_peak |= point->most >= course->most && before_it < course->most;
		if (point->dump)
			step.dump = point->dump;
	}
	return step;
}

static void add_step(struct fg_view_table *table, const struct course *course,
		     const struct step *step)
{
	struct fg_view_cell *cells = fg_view_add_row(table)->cells;
	const unsigned bar = course->most > 0 ? (unsigned)ceil(BAR * step->most / course->most) : 0;
	struct fg_strbuf drawn = {0};
	struct fg_strbuf marks = {0};

	for (unsigned i = 0; i < bar; i++)
		fg_strbuf_add_char(&drawn, '#');
	if (step->has_peak)
		fg_strbuf_add_text(&marks, "peak");
	if (step->dump)
		fg_strbuf_printf(&marks, "%sdump %u", step->has_peak ? ", " : "", step->dump);
	cells[COLUMN_FROM] = fg_cell_time(step->from_ns);
	cells[COLUMN_TO] = fg_cell_time(step->to_ns);
	cells[COLUMN_MOST] = fg_cell_value(step->most);
	cells[COLUMN_END] = fg_cell_value(step->held);
	cells[COLUMN_BAR] = fg_cell_text(table, fg_strbuf_text(&drawn));
	cells[COLUMN_MARKS] = fg_cell_text(table, fg_strbuf_text(&marks));
	fg_strbuf_release(&drawn);
	fg_strbuf_release(&marks);
}

int fg_view_history(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	const size_t steps = options->rows > 0 ? options->rows : STEPS;
	char size[FG_NUMBER_TEXT_SIZE];
	struct step step = {0};
	struct course course;
	size_t processes = 0;
	size_t next = 0;
	double first_ns = 0;
	double last_ns = 0;
	double width = 0;

	if (profile->history_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "what was held over time is not known here: use fastgate "
				    "record --measure heap");
	course = find_largest(profile, &processes);
	first_ns = (double)course.points[0].time_ns;
	last_ns = (double)course.points[course.count - 1].time_ns;
	width = (last_ns - first_ns) / (double)steps;
	fg_view_columns(table, columns, COLUMN_COUNT);
	fg_view_head(table, "%s: peak %s", profile->processes[course.points->process].command,
		     fg_format_size(course.most, size));
	step.to_ns = first_ns;
	for (size_t i = 0; i < steps; i++) {
		step = make_step(&course, &next, step,
				 i + 1 == steps ? last_ns : first_ns + width * (double)(i + 1));
		add_step(table, &course, &step);
	}
	if (processes > 1)
		fg_view_note(table, "%zu more process%s, whose peaks are lower", processes - 1,
			     processes == 2 ? "" : "es");
	return FG_OK;
}
