/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table in export.c, and what their files share. */
#ifndef FG_PROFILE_EXPORT_FORMATS_H
#define FG_PROFILE_EXPORT_FORMATS_H

#include "profile/export.h"

typedef int fg__export_write(const struct fg_profile *profile,
			     const struct fg_export_options *options, struct fg_strbuf *out,
			     struct fg_error *err);

fg__export_write fg__export_folded;
fg__export_write fg__export_pprof;
fg__export_write fg__export_speedscope;
fg__export_write fg__export_callgrind;
fg__export_write fg__export_chrome;
fg__export_write fg__export_json;
fg__export_write fg__export_csv;
fg__export_write fg__export_tables;

/* How "fastgate-profile/1" spells what a sample's time is, and what a frame is besides a function. */
enum {
	FG__FRAME_NATURES = 6
};
extern const char *const fg__time_kind_words[FG_TIME_KIND_COUNT];
extern const char *const fg__frame_nature_words[FG__FRAME_NATURES];
extern const uint32_t fg__frame_natures[FG__FRAME_NATURES]; /* enum fg_frame_flag */

/* Time and samples whose leaf is this stack, and the same with all stacks below it: one element a stack. */
struct fg__stack_sums {
	double *self_ns;
	uint64_t *self_samples;
	double *inclusive_ns;
	uint64_t *inclusive_samples;
};

void fg__stack_sums_init(struct fg__stack_sums *sums, const struct fg_profile *profile);
void fg__stack_sums_release(struct fg__stack_sums *sums);

/* The same by function; `inclusive` counts a sample once however often the function stands on its stack. */
struct fg__function_sums {
	double *self_ns;
	uint64_t *self_samples;
	double *inclusive_ns;
	uint64_t *inclusive_samples;
	uint64_t *leaf_paths; /* different stacks that end in it and have time of their own */
};

void fg__function_sums_init(struct fg__function_sums *sums, const struct fg_profile *profile,
			    const struct fg__stack_sums *stacks);
void fg__function_sums_release(struct fg__function_sums *sums);

/* Frames of a stack from the root to the leaf, into `frames` (grown as needed); returns their number. */
size_t fg__stack_frames(const struct fg_profile *profile, uint32_t stack, uint32_t **frames,
			size_t *capacity);

#endif
