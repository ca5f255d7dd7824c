// SPDX-License-Identifier: Apache-2.0
/* Writes the arguments of functions; each call path is one line. */
#include "base/text.h"
#include "reporters/arguments.h"

#include <math.h>
#include <string.h>

static const char *const side_names[] = {"baseline", "candidate"};

/* With twelve digits the mean survives any number of round trips. */
static void add_mean(struct fg_json_writer *w, const struct fg_argument_figures *seen)
{
	const double mean = seen->sum / fg_argument_finite(seen);
	char text[FG_NUMBER_TEXT_SIZE];

	if (isfinite(mean))
		(void)snprintf(text, sizeof(text), "%.12g", mean);
	fg_json_raw(w, "mean", isfinite(mean) ? text : "null");
}

static void add_figures(struct fg_json_writer *w, const char *name,
			const struct fg_argument_figures *seen)
{
	const bool has_range = seen && fg_argument_finite(seen) > 0;

	if (!seen) {
		fg_json_null(w, name);
		return;
	}
	fg_json_begin_object(w, name);
	fg_json_double(w, "calls", seen->values);
	fg_json_double(w, "min", has_range ? seen->least : (double)NAN);
	fg_json_double(w, "max", has_range ? seen->most : (double)NAN);
	add_mean(w, seen);
	fg_json_double(w, "zeros", seen->zeros);
	fg_json_double(w, "negative", seen->negatives);
	fg_json_double(w, "denormal", seen->denormals);
	fg_json_double(w, "infinite", seen->infinities);
	fg_json_double(w, "nan", seen->nans);
	fg_json_double(w, "repeats", seen->repeats);
	fg_json_end(w);
}

static double in_bin(const struct fg_argument_figures *seen, unsigned bin)
{
	return seen ? seen->bins[bin] : 0;
}

static void add_histogram(struct fg_json_writer *w, const struct fg_argument_path *path)
{
	fg_json_begin_array(w, "histogram");
	for (unsigned bin = 0; bin < FG_ARGUMENT_BINS; bin++) {
		const double before = in_bin(path->sides[0], bin);
		const double after = in_bin(path->sides[1], bin);

		if (!(before > 0) && !(after > 0))
			continue;
		fg_json_begin_array(w, NULL);
		fg_json_int(w, NULL, (int)bin - FG_ARGUMENT_BIN_OF_ONE);
		fg_json_double(w, NULL, before);
		fg_json_double(w, NULL, after);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void add_hints(struct fg_json_writer *w, const char *function,
		      const struct fg_argument_path *path)
{
	const struct fg_argument_figures *seen = fg_argument_newest(path->sides);
	struct fg_strbuf text = {0};
	char *rest = NULL;

	if (seen)
		fg_argument_hint(function, seen, &text);
	rest = text.data;
	if (rest) {
		fg_json_begin_array(w, "hints");
		for (const char *line; (line = fg_text_next_line(&rest));)
			fg_json_text(w, NULL, line);
		fg_json_end(w);
	}
	fg_strbuf_release(&text);
}

/* Starts a value that is written on one line. */
static void begin_line(struct fg_json_writer *line, struct fg_strbuf *text,
		       const struct fg_json_writer *around)
{
	fg_json_writer_init(line, text, 0);
	line->for_html = around->for_html;
	fg_json_begin_object(line, NULL);
}

static void end_line(struct fg_json_writer *line, struct fg_json_writer *around)
{
	fg_json_end(line);
	fg_json_raw(around, NULL, fg_strbuf_text(line->text));
	fg_strbuf_release(line->text);
}

static void add_path(struct fg_json_writer *around, const char *function,
		     const struct fg_argument_path *path)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	begin_line(&w, &text, around);
	fg_json_begin_array(&w, "frames");
	for (size_t i = 0; i < path->frame_count; i++)
		fg_json_int(&w, NULL, path->frames[i]);
	fg_json_end(&w);
	fg_json_int(&w, "frames_left_out", (int64_t)path->frames_left_out);
	for (unsigned side = 0; side < 2; side++)
		add_figures(&w, side_names[side], path->sides[side]);
	add_histogram(&w, path);
	add_hints(&w, function, path);
	end_line(&w, around);
}

static void add_function(struct fg_json_writer *w, const struct fg_argument_function *function)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", function->name);
	fg_json_text(w, "signature", function->signature);
	for (unsigned side = 0; side < 2; side++)
		add_figures(w, side_names[side], function->sides[side]);
	fg_json_begin_array(w, "traces");
	for (unsigned side = 0; side < 2; side++)
		fg_json_int(w, NULL, (int64_t)function->traces[side]);
	fg_json_end(w);
	fg_json_int(w, "paths_left_out", (int64_t)function->paths_left_out);
	fg_json_begin_array(w, "paths");
	for (size_t i = 0; i < function->path_count; i++)
		add_path(w, function->name, &function->paths[i]);
	fg_json_end(w);
	fg_json_end(w);
}

void fg_report_add_arguments(const struct fg_argument_table *table, struct fg_json_writer *w)
{
	if (!table)
		return;
	fg_json_begin_object(w, "arguments");
	fg_json_begin_array(w, "names");
	for (size_t i = 0; i < table->name_count; i++)
		fg_json_text(w, NULL, table->names[i]);
	fg_json_end(w);
	fg_json_int(w, "functions_left_out", (int64_t)table->functions_left_out);
	fg_json_begin_array(w, "functions");
	for (size_t i = 0; i < table->function_count; i++)
		add_function(w, &table->functions[i]);
	fg_json_end(w);
	fg_json_end(w);
}
