// SPDX-License-Identifier: Apache-2.0
/* Refuses to attach: the rest of this folder reads the registers and system calls of x86-64. */
#include "profile/attach/machine.h"
#include "profile/attach/sampler.h"

static int refuse(struct fg_error *err)
{
	return fg_error_set(err, FG_EUNSUPPORTED,
			    "programs are sampled from outside on x86-64 only: link the program "
			    "dynamically, and record it from its start");
}

int fg_outside_sample(const struct fg_outside_sampling *sampling, struct fg_outside_result *result,
		      struct fg_error *err)
{
	(void)sampling;
	(void)result;
	return refuse(err);
}

int fg_machine_sample(const struct fg_machine_sampling *sampling, struct fg_machine_result *result,
		      struct fg_error *err)
{
	(void)sampling;
	(void)result;
	return refuse(err);
}
