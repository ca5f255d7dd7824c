/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns traces into a profile: addresses become frames (one per inlined level), call paths become
 * stacks, marks become units and region spans. Several traces, one per process, are joined in one
 * profile; their times count from the earliest start.
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
 * Reads a trace file, or every trace in a folder but not in its subfolders. An unreadable trace
 * becomes a note in the profile if another trace can be read. FG_ENOENT: no trace at all.
 */
int fg_profile_read_traces(const char *path, struct fg_symbolizer *symbolizer,
			   struct fg_profile *profile, struct fg_error *err) FG_NODISCARD;

/* Lists the path itself, or the traces in the folder. Free the list with fg_fs_list_free(). */
int fg_profile_list_traces(const char *path, char ***paths, size_t *count, struct fg_error *err)
	FG_NODISCARD;

#endif
