// SPDX-License-Identifier: Apache-2.0
/*
 * Comma-separated values after RFC 4180, one line a call path with a value of its own,
 * of the profile's first measure.
 */
#include "base/csv.h"
#include "profile/exchange/export_formats.h"

static void write_path(const struct fg_profile *profile, uint32_t stack, uint32_t **frames,
		       size_t *capacity, struct fg_csv *csv)
{
	struct fg_strbuf path = {0};
	const size_t depth = fg_stack_frames(profile, stack, frames, capacity);

	for (size_t i = 0; i < depth; i++) {
		if (i > 0)
			fg_strbuf_add_text(&path, " / ");
		fg_strbuf_add_text(&path,
				   profile->functions[profile->frames[(*frames)[i]].function].name);
	}
	fg_csv_text(csv, fg_strbuf_text(&path));
	fg_strbuf_release(&path);
}

int fg_export_csv(const struct fg_profile *profile, const struct fg_export_options *options,
		  struct fg_strbuf *out, struct fg_error *err)
{
	const struct fg_measure *measure = &profile->measures[0].is;
	const char *const columns[] = {
		fg_measure_has_time(measure) ? "self_ns" : measure->name,
		"samples",
		"function",
		"library",
		"file",
		"line",
		"path",
	};
	struct fg_csv csv = {.out = out};
	struct fg_stack_sums sums;
	uint32_t *frames = NULL;
	size_t capacity = 0;

	(void)options;
	(void)err;
	for (size_t i = 0; i < FG_ARRAY_SIZE(columns); i++)
		fg_csv_text(&csv, columns[i]);
	fg_csv_end(&csv);
	fg_stack_sums_init(&sums, profile, 0);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[i].frame];
		const struct fg_profile_function *function = &profile->functions[frame->function];

		if (!(sums.self[i] > 0))
			continue;
		fg_csv_number(&csv, sums.self[i]);
		fg_csv_number(&csv, (double)sums.self_samples[i]);
		fg_csv_text(&csv, function->name);
		fg_csv_text(&csv, function->library);
		fg_csv_text(&csv, frame->file ? frame->file : function->file);
		fg_csv_number(&csv, (double)frame->line);
		write_path(profile, i, &frames, &capacity, &csv);
		fg_csv_end(&csv);
	}
	fg_stack_sums_release(&sums);
	free(frames);
	return FG_OK;
}
