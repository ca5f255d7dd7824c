/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by the instruction that they ended at. */
#ifndef FG_PROFILE_INSTRUCTION_SAMPLES_H
#define FG_PROFILE_INSTRUCTION_SAMPLES_H

#include "profile/calltree.h"

struct fg_instruction_sample {
	/* has module and address; its function is the innermost of this instruction */
	const struct fg_frame *frame;
	struct fg_weight weight;
};

/*
 * The samples of one measure, by module and address; to be freed. Samples whose leaf has no address
 * (in the kernel, in code made at run time, of a stored run) are not among them.
 */
size_t fg_instruction_samples(const struct fg_profile *profile, uint16_t measure,
			      struct fg_instruction_sample **hits);

#endif
