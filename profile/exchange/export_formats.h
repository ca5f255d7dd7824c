/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table in export.c, and what their files share. */
#ifndef FG_EXCHANGE_EXPORT_FORMATS_H
#define FG_EXCHANGE_EXPORT_FORMATS_H

#include "profile/exchange/export.h"

typedef int fg_export_writer(const struct fg_profile *profile,
			     const struct fg_export_options *options, struct fg_strbuf *out,
			     struct fg_error *err);

fg_export_writer fg_export_folded;
fg_export_writer fg_export_pprof;
fg_export_writer fg_export_chrome;
fg_export_writer fg_export_json;
fg_export_writer fg_export_tables;
fg_export_writer fg_export_npz;
fg_export_writer fg_export_html;

/*
 * Values and samples whose leaf is this stack, and with all stacks below it: one element a stack.
 */
struct fg_stack_sums {
	double *self;
	uint64_t *self_samples;
	double *inclusive;
	uint64_t *inclusive_samples;
};

/* Sums of one measure. */
void fg_stack_sums_init(struct fg_stack_sums *sums, const struct fg_profile *profile,
			uint16_t measure);
void fg_stack_sums_release(struct fg_stack_sums *sums);

/* As above, per function; `inclusive` counts a sample once per function on its stack. */
struct fg_function_sums {
	double *self;
	uint64_t *self_samples;
	double *inclusive;
	uint64_t *inclusive_samples;
	uint64_t *leaf_paths; /* different stacks that end in it and have a value of their own */
};

void fg_function_sums_init(struct fg_function_sums *sums, const struct fg_profile *profile,
			   const struct fg_stack_sums *stacks);
void fg_function_sums_release(struct fg_function_sums *sums);

/*
 * Frames of a stack from the root to the leaf, into `frames` (grown as needed); returns their
 * number.
 */
size_t fg_stack_frames(const struct fg_profile *profile, uint32_t stack, uint32_t **frames,
		       size_t *capacity);

#endif
