/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large trace of a program that never was: each sample leaves the stack of the one before it
 * somewhere in its upper frames and seldom takes another turn, as programs do.  The same shape
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
	uint32_t branching_percent; /* percentage of upper calls that go another way */
	/* most samples differ in the last frames only; else any of the upper ones */
	bool mostly_near;
};

/* `w` is initialised; returns the number of call paths. */
uint32_t fg_trace_program_write(const struct fg_trace_program *program, struct fg_trace_writer *w);

#endif
