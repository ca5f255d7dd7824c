/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large trace of a synthetic program: each sample shares the stack of the previous one up to some
 * point in its upper frames and seldom takes another branch, as real programs do. The same shape
 * gives the same bytes.
 */
#ifndef FG_TESTS_SUPPORT_TRACE_PROGRAM_H
#define FG_TESTS_SUPPORT_TRACE_PROGRAM_H

#include "tests/support/trace_writer.h"

struct fg_trace_program {
	size_t samples;
	uint32_t depth; /* depth of every stack */
	uint32_t functions, libraries;
	uint32_t upper;             /* frames of a stack that may change from sample to sample */
	uint32_t branching_percent; /* percentage of upper calls that take another branch */
	/* most samples change only the last frames; false: any upper frame may change */
	bool mostly_near;
};

/* `w` is initialised; returns the number of call paths. */
uint32_t fg_trace_program_write(const struct fg_trace_program *program, struct fg_trace_writer *w);

#endif
