// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/text.h"
#include "profile/exchange/import_formats.h"

const char *fg_sink_text(struct fg_import_sink *sink, struct fg_text bytes)
{
	struct fg_strbuf text = {0};
	const char *kept = NULL;

	if (!bytes.text || bytes.length == 0)
		return NULL;
	fg_text_add_clean(&text, bytes.text, bytes.length, FG_IMPORT_MAX_NAME);
	kept = fg_profile_text(sink->profile, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	return kept;
}

int fg_sink_frame(struct fg_import_sink *sink, const struct fg_import_frame *frame, uint32_t *index,
		  struct fg_error *err)
{
	const char *name = fg_sink_text(sink, frame->name);
	const char *library = fg_sink_text(sink, frame->library);
	const char *slash = library ? strrchr(library, '/') : NULL;
	const struct fg_profile_function function = {
		.name = name ? name : "[unknown]",
		.linkage = fg_sink_text(sink, frame->linkage),
		.library = slash && slash[1] ? slash + 1 : (library ? library : ""),
	};
	struct fg_frame added = {0};

	if (sink->profile->function_count >= FG_IMPORT_MAX_FUNCTIONS ||
	    sink->profile->frame_count >= FG_IMPORT_MAX_FUNCTIONS)
		return fg_error_set(err, FG_ELIMIT,
				    "the profile has more than %d functions or lines",
				    FG_IMPORT_MAX_FUNCTIONS);
	if (frame->nameless || !name)
		added.flags |= FG_FRAME_NAMELESS;
	added.function = fg_profile_function(sink->profile, &function);
	*index = fg_profile_frame(sink->profile, &added);
	return FG_OK;
}

void fg_sink_begin(struct fg_import_sink *sink)
{
	sink->stack = 0;
	sink->depth = 0;
}

int fg_sink_push(struct fg_import_sink *sink, uint32_t frame, struct fg_error *err)
{
	if (++sink->depth > FG_IMPORT_MAX_DEPTH)
		return fg_error_set(err, FG_ELIMIT, "a stack has more than %d frames",
				    FG_IMPORT_MAX_DEPTH);
	if (sink->profile->stack_count >= FG_IMPORT_MAX_STACKS)
		return fg_error_set(err, FG_ELIMIT, "the profile has more than %d call paths",
				    FG_IMPORT_MAX_STACKS);
	sink->stack = fg_profile_stack(sink->profile, sink->stack, frame);
	return FG_OK;
}

void fg_sink_end(struct fg_import_sink *sink, uint16_t measure, double value, double samples)
{
	struct fg_sample *sample = NULL;

	if (!(value > 0))
		return;
	sample = fg_profile_add_sample(sink->profile);
	sample->stack = sink->stack;
	sample->value = value;
	sample->measure = measure;
	sample->count = samples >= UINT32_MAX ? UINT32_MAX : (uint32_t)samples;
	sample->kind = FG_TIME_BOTH;
	fg_profile_add_up(sink->profile, sample);
}

/* ---- lines ---- */

enum {
	LOOKED_AT = 4096,
	MAX_NUMBER = 40
};

bool fg_lines_next(struct fg_text_lines *lines, struct fg_text *line)
{
	const size_t left = (size_t)(lines->end - lines->at);
	const char *stop = left ? memchr(lines->at, '\n', left) : NULL;

	if (left == 0)
		return false;
	*line = (struct fg_text){lines->at, stop ? (size_t)(stop - lines->at) : left};
	lines->at = stop ? stop + 1 : lines->end;
	if (line->length > 0 && line->text[line->length - 1] == '\r')
		line->length--;
	lines->number++;
	return true;
}

bool fg_parse_weight(struct fg_text text, double *value)
{
	char copy[MAX_NUMBER];

	if (text.length == 0 || text.length >= sizeof(copy) || text.text[0] < '0' ||
	    text.text[0] > '9')
		return false;
	memcpy(copy, text.text, text.length);
	copy[text.length] = '\0';
	return strspn(copy, "0123456789.eE+-") == text.length &&
	       fg_parse_double(copy, value, NULL) == FG_OK && *value >= 0;
}

bool fg_is_text(const char *data, size_t size)
{
	const size_t looked = fg_min_size(size, LOOKED_AT);

	for (size_t i = 0; i < looked; i++) {
		const unsigned char c = (unsigned char)data[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
			return false;
	}
	return looked > 0;
}
