// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks: `main;loop;fit 42`. The weight has no unit, so it is taken as a number of samples,
 * each worth the requested period, and a note says so.
 */
#include "profile/exchange/import_formats.h"
#include "profile/exchange/import_lines.h"
#include "profile/exchange/import_sink.h"

enum {
	DEFAULT_PERIOD_NS = 1000000
};

/* Splits "frames weight" at the last blank. */
static bool split(const char *line, size_t length, size_t *frames_length, double *weight)
{
	size_t at = length;

	while (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t')
		at--;
	if (at < 2 || !fg_parse_weight(line + at, length - at, weight))
		return false;
	at--;
	while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t'))
		at--;
	*frames_length = at;
	return at > 0;
}

static size_t trimmed(const char *line, size_t length)
{
	while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	return length;
}

bool fg_import_folded_is(const char *data, size_t size)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	const char *line = NULL;
	size_t length = 0;
	size_t frames = 0;
	double weight = 0;

	if (!fg_is_text(data, size))
		return false;
	while (fg_lines_next(&lines, &line, &length)) {
		length = trimmed(line, length);
		if (length > 0)
			return split(line, length, &frames, &weight);
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

static int push_frames(struct fg_import_sink *sink, const char *frames, size_t length,
		       struct fg_error *err)
{
	size_t start = 0;

	fg_sink_begin(sink);
	while (start <= length) {
		const char *stop = memchr(frames + start, ';', length - start);
		const size_t end = stop ? (size_t)(stop - frames) : length;
		const struct fg_text name = {frames + start, end - start};
		uint32_t index = 0;

		FG_TRY(frame_of(sink, name, &index, err));
		FG_TRY(fg_sink_push(sink, index, err));
		start = end + 1;
	}
	return FG_OK;
}

static int read_line(struct fg_import_sink *sink, const char *line, size_t length, double period_ns,
		     struct fg_error *err)
{
	size_t frames = 0;
	size_t shorter = 0;
	double weight = 0;
	double other = 0;

	if (!split(line, length, &frames, &weight))
		return fg_error_set(err, FG_EPARSE,
				    "'%.*s' is not frames joined by ';' and a weight",
				    (int)fg_min_size(length, 60), line);
	if (split(line, frames, &shorter, &other))
		return fg_error_set(err, FG_EPARSE,
				    "two weights on a line: a differential profile cannot be read");
	FG_TRY(push_frames(sink, line, frames, err));
	fg_sink_end(sink, 0, weight * period_ns, weight);
	return FG_OK;
}

int fg_import_folded_read(const char *data, size_t size, const struct fg_import_options *options,
			  struct fg_import_sink *sink, struct fg_error *err)
{
	const double period_ns =
		(double)(options->period_ns ? options->period_ns : DEFAULT_PERIOD_NS);
	struct fg_text_lines lines = {.at = data, .end = data + size};
	const char *line = NULL;
	size_t length = 0;

	while (fg_lines_next(&lines, &line, &length)) {
		int status = FG_OK;

		length = trimmed(line, length);
		if (length == 0 || line[0] == '#')
			continue;
		status = read_line(sink, line, length, period_ns, err);
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
