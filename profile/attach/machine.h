/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples every process on the machine through the kernel's perf events: each CPU that is not idle
 * is interrupted at a constant rate, and the kernel hands us its own call chain, the registers of
 * the program and the top of its stack, which is walked as in profile/attach/stacks.h. One trace
 * per process, as from the collector.
 *
 *	machine.c           what is sampled, for how long
 *	machine_events.c    perf events: one per CPU, their rings and records
 *	machine_process.c   processes with their threads and samples, and their traces
 */
#ifndef FG_OUTSIDE_MACHINE_H
#define FG_OUTSIDE_MACHINE_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_machine_sampling {
	const char *folder; /* the traces go there */
	int64_t period_ns;
	int64_t duration_ns;                      /* 0: until interrupted */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

struct fg_machine_result {
	uint64_t samples;
	uint64_t lost;         /* samples that the kernel dropped for lack of room */
	bool has_kernel_names; /* false: its addresses are hidden from us */
};

/* FG_EUNSUPPORTED: the kernel does not permit it; the message names the setting. */
int fg_machine_sample(const struct fg_machine_sampling *sampling, struct fg_machine_result *result,
		      struct fg_error *err) FG_NODISCARD;

#endif
