/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace reader for tests that is independent of profile/. It is written from
 * docs/formats/trace.md and strict about every rule there. Any violation fails the running test.
 */
#ifndef FG_TESTS_TARGETS_TRACE_H
#define FG_TESTS_TARGETS_TRACE_H

#include "trace/trace_format.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	TRACE_TEXT = 512,
	TRACE_RECORD_KINDS = 32
};

struct trace_sample {
	uint32_t thread;
	uint32_t region;
	uint64_t time_ns;
	uint32_t path;
	uint64_t weight_ns;
	uint8_t clock;
	uint8_t flags;
};

struct trace_module {
	uint64_t start;
	char path[TRACE_TEXT];
	struct elf_symbols *symbols;
	bool is_kernel;
};

struct trace_frame {
	uint32_t module;
	uint64_t offset;
	bool exact;
	const char *name; /* NULL: unknown */
};

struct trace_path {
	uint32_t parent;
	uint32_t frame;
	uint64_t removed;
};

struct trace {
	struct fg_trace_header header;
	char exe[TRACE_TEXT];
	struct trace_sample *samples;
	size_t sample_count;
	size_t sample_capacity;
	struct trace_module *modules; /* indexed by id */
	size_t module_count;
	struct trace_frame *frames;
	size_t frame_count;
	struct trace_path *paths;
	size_t path_count;
	uint32_t region_names[64];
	char names[8192][32];
	uint64_t region_entered[64];
	uint64_t region_ns[64];
	char thread_names[1024][16];
	uint64_t units_ns;                  /* sum of the units' lengths */
	uint32_t kinds[TRACE_RECORD_KINDS]; /* number of records of each kind */
	uint64_t sample_bytes;
	unsigned damaged; /* blocks with an unknown header, and chunks with a wrong checksum */
	struct trace *next;
};

/* Loads all traces in a folder, in any order; NULL for an empty folder. */
struct trace *trace_load(const char *folder);
void trace_free(struct trace *traces);

/*
 * Each returns the weight of the samples with the function at the leaf, or anywhere on the stack.
 * NULL stands for any function.
 */
double trace_self(const struct trace *traces, const char *function);
double trace_inclusive(const struct trace *traces, const char *function);
double trace_by_clock(const struct trace *traces, enum fg_trace_clock clock);
uint64_t trace_lost(const struct trace *traces, enum fg_trace_loss cause);
/* Returns the number of the path's frames in the program, including those left out. */
uint64_t trace_depth(const struct trace *trace, uint32_t path);
bool trace_on_path(const struct trace *trace, uint32_t path, const char *function);

#endif
