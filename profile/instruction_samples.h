/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by the instruction at their leaf. */
#ifndef FG_PROFILE_INSTRUCTION_SAMPLES_H
#define FG_PROFILE_INSTRUCTION_SAMPLES_H

#include "profile/calltree.h"

struct fg_instruction_sample {
	/* frame with the module, address and innermost function of the instruction */
	const struct fg_frame *frame;
	struct fg_weight weight;
};

/* Returns the samples of one measure by the stack that they ended in. The caller frees the list. */
struct fg_weight *fg_stack_weights(const struct fg_profile *profile, uint16_t measure);
/*
 * Sums up the samples of one measure by module and address. The caller frees the list. It excludes
 * samples whose leaf has no address (in the kernel, in generated code, in a stored run).
 */
size_t fg_instruction_samples(const struct fg_profile *profile, uint16_t measure,
			      struct fg_instruction_sample **hits);

#endif
