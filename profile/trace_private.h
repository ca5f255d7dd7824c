/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that turn traces into a profile. Each file calls only the files below it:
 *
 *	trace_files.c     reads a file or a folder, sorts the samples
 *	trace_profile.c   adds one trace, with its totals and notes
 *	trace_samples.c   adds the samples and counts of a trace
 *	trace_units.c     adds the units of work and the spans of regions
 *	trace_threads.c   adds the processes, threads and regions
 *	trace_frames.c    turns addresses into frames, call paths into stacks
 */
#ifndef FG_PROFILE_TRACE_PRIVATE_H
#define FG_PROFILE_TRACE_PRIVATE_H

#include "profile/trace_profile.h"

enum {
	FG_TRACE_NO_STACK = 0
};

/* The frames of an address: a range of `frames`. */
struct fg_trace_frames {
	uint32_t first;
	uint32_t count; /* 0: not looked up yet */
};

/* The place of a trace's call path in the profile. */
struct fg_trace_place {
	uint32_t stack; /* index + 1; 0: not made yet */
	/* stack for a Python function called from here, without the interpreter */
	uint32_t base;
	bool in_python; /* the leaf of `stack` is a Python function that the interpreter executes */
};

struct fg_trace_joiner {
	struct fg_profile *profile;
	const struct fg_trace *trace;
	struct fg_symbolizer *symbolizer;
	uint64_t origin_ns;
	uint32_t process;
	uint32_t *thread_of; /* trace's id → profile's index + 1 */
	uint32_t unknown_thread;
	uint32_t *region_of;
	uint32_t *module_of; /* trace's id → profile's index */
	/* trace's id → first module of the profile with the same file, for frames */
	uint32_t *file_of;
	struct fg_symbol_module **modules;
	struct fg_trace_frames *frames_of; /* indexed by the trace's frame id */
	uint32_t *frames;                  /* frames of the profile */
	size_t frame_count, frame_capacity;
	struct fg_trace_place *places; /* indexed by the trace's path id */
	uint32_t kernel_frame;
	uint32_t base_stack; /* root of all stacks: the process, or 0 */
	uint64_t unknown_paths;
};

/* Adds the trace's modules to the profile and opens them for symbols. */
void fg_trace_add_modules(struct fg_trace_joiner *j);
/* Looks up every address of the trace, in order of address. */
void fg_trace_look_up(struct fg_trace_joiner *j);
bool fg_trace_is_of_kernel(const struct fg_trace *trace, uint32_t module);
void fg_trace_note_missing_units(const struct fg_trace_joiner *j);
/* Returns a frame for a mark that is not code: "[kernel]". */
uint32_t fg_trace_mark_frame(struct fg_trace_joiner *j, const char *text, uint32_t flags);
/* Returns the stack of a call path; `trail` is scratch with room for every path. */
uint32_t fg_trace_stack(struct fg_trace_joiner *j, uint32_t leaf, uint32_t *trail);

void fg_trace_add_process(struct fg_trace_joiner *j);
void fg_trace_add_threads(struct fg_trace_joiner *j);
void fg_trace_add_regions(struct fg_trace_joiner *j);
int64_t fg_trace_time_of(const struct fg_trace_joiner *j, uint64_t time_ns);
/* Returns a thread's index. All threads without a definition share one entry, made on first use. */
uint32_t fg_trace_thread_of(struct fg_trace_joiner *j, uint32_t thread);
/*
 * Returns the profile's region; adds its parents and then the region itself if they are missing.
 * A cycle, or a chain of more than 256 parents, is cut and starts at the outermost level.
 */
uint32_t fg_trace_region_of(struct fg_trace_joiner *j, uint32_t region, unsigned depth);
const char *fg_trace_name_or(const struct fg_trace *trace, uint32_t name, const char *otherwise);
void fg_trace_add_samples(struct fg_trace_joiner *j);
/*
 * Pairs begin and end marks per thread by kind and number, innermost first. An end without a begin
 * is ignored.
 */
void fg_trace_add_units(struct fg_trace_joiner *j);
void fg_trace_add_spans(struct fg_trace_joiner *j);

#endif
