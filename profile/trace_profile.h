/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as a profile: addresses become frames (one per inlined level), call paths become stacks,
 * marks become units and region spans.  Several traces, one per process, join in one profile; their
 * times count from the earliest start.
 */
#ifndef FG_PROFILE_TRACE_PROFILE_H
#define FG_PROFILE_TRACE_PROFILE_H

#include "binary/symbolizer.h"
#include "profile/profile.h"
#include "trace/trace_read.h"

/* Adds one trace.  `origin_ns` is the CLOCK_MONOTONIC time that the profile's times count from. */
void fg_profile_add_trace(struct fg_profile *profile, const struct fg_trace *trace,
			  struct fg_symbolizer *symbolizer, uint64_t origin_ns);

/*
 * A trace file, or every trace of a folder (not of its subfolders). A trace that cannot be read
 * becomes a note of the profile if another one can be; FG_ENOENT: no trace at all.
 */
int fg_profile_read_traces(const char *path, struct fg_symbolizer *symbolizer,
			   struct fg_profile *profile, struct fg_error *err) FG_NODISCARD;

/* The path itself, or the traces of the folder; for fg_fs_list_free(). */
int fg_profile_list_traces(const char *path, char ***paths, size_t *count, struct fg_error *err)
	FG_NODISCARD;

#endif
