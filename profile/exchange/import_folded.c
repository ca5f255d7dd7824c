// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks: `main;loop;fit 42`. The weight has no unit, so it is taken as a number of samples,
 * each worth the requested period. If no period was requested, a sample is worth 1 ms, and a note
 * is added.
 */
#include "profile/exchange/import_formats.h"

enum {
	DEFAULT_PERIOD_NS = 1000000
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct fg_text trimmed(struct fg_text line)
{
	while (line.length > 0 && is_blank(line.text[line.length - 1]))
		line.length--;
	return line;
}

/* Splits "frames weight" at the last blank. */
static bool split(struct fg_text line, struct fg_text *frames, double *weight)
{
	size_t at = line.length;

	while (at > 0 && !is_blank(line.text[at - 1]))
		at--;
	if (at < 2 || !fg_parse_weight((struct fg_text){line.text + at, line.length - at}, weight))
		return false;
	*frames = trimmed((struct fg_text){line.text, at});
	return frames->length > 0;
}

bool fg_import_folded_is(const char *data, size_t size)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	struct fg_text line = {0};
	struct fg_text frames = {0};
	double weight = 0;

	if (!fg_is_text(data, size))
		return false;
	while (fg_lines_next(&lines, &line)) {
		line = trimmed(line);
		if (line.length > 0)
			return split(line, &frames, &weight);
	}
	return false;
}

static int frame_of(struct fg_import_sink *sink, struct fg_text name, uint32_t *index,
		    struct fg_error *err)
{
	const uint64_t *known = fg_map_get(&sink->known, name.text, name.length);
	const struct fg_import_frame frame = {.name = name};

	if (known) {
		*index = (uint32_t)*known;
		return FG_OK;
	}
	FG_TRY(fg_sink_frame(sink, &frame, index, err));
	(void)fg_map_add(&sink->known, name.text, name.length, *index, NULL);
	return FG_OK;
}

static int push_frames(struct fg_import_sink *sink, struct fg_text frames, struct fg_error *err)
{
	size_t start = 0;

	fg_sink_begin(sink);
	while (start <= frames.length) {
		const char *stop = memchr(frames.text + start, ';', frames.length - start);
		const size_t end = stop ? (size_t)(stop - frames.text) : frames.length;
		const struct fg_text name = {frames.text + start, end - start};
		uint32_t index = 0;

		FG_TRY(frame_of(sink, name, &index, err));
		FG_TRY(fg_sink_push(sink, index, err));
		start = end + 1;
	}
	return FG_OK;
}

static int read_line(struct fg_import_sink *sink, struct fg_text line, double period_ns,
		     struct fg_error *err)
{
	struct fg_text frames = {0};
	struct fg_text shorter = {0};
	double weight = 0;
	double other = 0;

	if (!split(line, &frames, &weight))
		return fg_error_set(err, FG_EPARSE,
				    "'%.*s' is not a line of frames joined by ';' and a weight",
				    (int)fg_min_size(line.length, 60), line.text);
	if (split(frames, &shorter, &other))
		return fg_error_set(err, FG_EPARSE,
				    "a line has two weights: differential profiles cannot be read");
	FG_TRY(push_frames(sink, frames, err));
	fg_sink_end(sink, 0, weight * period_ns, weight);
	return FG_OK;
}

int fg_import_folded_read(const char *data, size_t size, const struct fg_import_options *options,
			  struct fg_import_sink *sink, struct fg_error *err)
{
	const double period_ns =
		(double)(options->period_ns ? options->period_ns : DEFAULT_PERIOD_NS);
	struct fg_text_lines lines = {.at = data, .end = data + size};
	struct fg_text line = {0};
	int status = FG_OK;

	while (fg_lines_next(&lines, &line)) {
		line = trimmed(line);
		if (line.length == 0 || line.text[0] == '#')
			continue;
		status = read_line(sink, line, period_ns, err);
		if (status != FG_OK) {
			fg_error_prefix(err, "line %zu", lines.number);
			return status;
		}
	}
	if (options->period_ns == 0)
		fg_profile_add_note(
			sink->profile,
			"folded stacks carry no time: each count is taken as a sample of "
			"1 ms (--period changes it)");
	return FG_OK;
}
