// SPDX-License-Identifier: Apache-2.0
/* Refuses to attach: the rest of this folder reads the registers and system calls of x86-64. */
#include "profile/attach/machine.h"
#include "profile/attach/sampler.h"

int fg_outside_sample(const struct fg_outside_sampling *sampling, struct fg_outside_result *result,
		      struct fg_error *err)
{
	(void)sampling;
	(void)result;
	return fg_error_set(
		err, FG_EUNSUPPORTED,
		"sampling from outside works only on x86-64: here a program must be linked "
		"dynamically and started by fastgate");
}

int fg_machine_sample(const struct fg_machine_sampling *sampling, struct fg_machine_result *result,
		      struct fg_error *err)
{
	(void)sampling;
	(void)result;
	return fg_error_set(err, FG_EUNSUPPORTED, "sampling all processes works only on x86-64");
}
