/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples every process on the machine through the kernel's perf events: each CPU that is not idle
 * is interrupted at a constant rate, and the kernel delivers its own call chain, the program's
 * registers and the top of its stack, which is walked as in profile/attach/stacks.h. Each program
 * that a process runs gets one trace, in the collector's format.
 *
 *	machine.c           the loop: starts, ends and writes the traces
 *	machine_events.c    perf events: one per CPU, their rings and records
 *	machine_process.c   processes with their threads and samples, and their traces
 */
#ifndef FG_ATTACH_MACHINE_H
#define FG_ATTACH_MACHINE_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_machine_sampling {
	const char *folder; /* folder for the traces */
	int64_t period_ns;
	int64_t duration_ns;                      /* 0: until interrupted */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

struct fg_machine_result {
	uint64_t samples;
	uint64_t lost;         /* samples dropped: a full ring, or too many processes */
	bool has_kernel_names; /* false: the kernel hides its addresses from this user */
};

/* FG_EUNSUPPORTED: the kernel does not permit sampling; the message names the setting. */
int fg_machine_sample(const struct fg_machine_sampling *sampling, struct fg_machine_result *result,
		      struct fg_error *err) FG_NODISCARD;

#endif
