/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recorded profile, symbolized: every sample with its time, thread, region and unit of work,
 * and its stack as a path in one tree. Trace files, stored runs and imported profiles are all
 * converted to it, and profile/calltree.h aggregates it.
 *
 *	traces ─ trace_read → symbolize ─┐
 *	stored run (fg_profile_set) ─────┼→ struct fg_profile → struct fg_calltree → views, graphs
 *	folded, callgrind ───────────────┘
 *
 * Index 0 of functions, frames, stacks, regions, units and modules means "none" (function 0 is the
 * program itself), so a zeroed reference is valid. A stack's parent has a smaller index than the
 * stack: one forward pass can push facts down from the root, one backward pass can sum them up. All
 * memory except the growing arrays lives in the profile's arena.
 */
#ifndef FG_PROFILE_PROFILE_H
#define FG_PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/pair_index.h"
#include "base/strbuf.h"
#include "binary/frame_flag.h"
#include "model/arguments.h"
#include "model/profile_set.h"
#include "trace/trace_format.h"

struct fg_frame {
	uint32_t function;
	/* current line in this frame (in a caller: the line of the call); 0: unknown */
	uint32_t line;
	const char *file; /* file of that line; NULL: unknown; equal strings have equal addresses */
	/*
	 * in the module's own address space; 0: none. An inlined frame has the address of the
	 * function that contains it
	 */
	uint64_t address;
	uint32_t module; /* index into modules; 0: none */
	uint32_t flags;  /* enum fg_frame_flag */
};

struct fg_stack {
	uint32_t parent;
	uint32_t frame;
};

enum fg_time_kind {
	FG_TIME_USER,
	FG_TIME_SYSTEM,
	FG_TIME_BOTH, /* CPU time that the clock does not split */
	FG_TIME_WALL,
	FG_TIME_KIND_COUNT,
};

struct fg_sample {
	uint32_t stack; /* leaf of the stack; 0: no stack could be taken */
	uint32_t thread;
	uint32_t region;
	uint32_t unit;
	uint32_t repetition; /* counted from 0 */
	/* samples that this sample represents: 1 in a trace, more in a stored run */
	uint32_t count;
	int64_t time_ns;  /* since the profile's start; 0 when `has_times` is false */
	double value;     /* in the unit of its measure */
	uint16_t measure; /* index into the profile's measures; 0: its first */
	uint8_t kind;     /* enum fg_time_kind; FG_TIME_BOTH for measures other than time */
	bool truncated;
};

/*
 * Returns true if both samples are parts of one sample of system time, divided among kernel
 * functions. Only for profiles with times: parts follow each other, and no two samples of a thread
 * have the same nanosecond.
 */
static inline bool fg_sample_is_part(const struct fg_sample *before, const struct fg_sample *sample)
{
	return before->thread == sample->thread && before->time_ns == sample->time_ns &&
	       before->repetition == sample->repetition && before->kind == FG_TIME_SYSTEM &&
	       sample->kind == FG_TIME_SYSTEM && before->measure == sample->measure;
}

/* One measure of a profile, and the total of all its samples. */
struct fg_profile_measure {
	struct fg_measure is;
	double total;
	double lost;      /* samples due but not taken */
	double truncated; /* total of the samples with an incomplete stack */
	/* number of executions that recorded the measure; 0: all executions of the profile */
	uint32_t repetitions;
};

struct fg_process_info {
	uint32_t pid;
	uint32_t image; /* number of the exec in this pid */
	const char *executable;
	const char *command;
	int64_t start_ns; /* since the profile's start */
	int64_t end_ns;   /* 0: the end was not seen */
};

struct fg_thread_info {
	uint32_t process;
	uint32_t tid;
	const char *name;
	int64_t start_ns;
	int64_t end_ns;
	double user_ns; /* according to the kernel; 0: the end was not seen */
	double system_ns;
};

struct fg_region_info {
	uint32_t parent; /* 0: outermost */
	const char *name;
	const char *path; /* "outer/inner" */
	uint64_t count;   /* times entered */
	double wall_ns;   /* including the regions inside */
	double cpu_ns;    /* CPU time, if samples do not record their region; else 0 */
};

/* One visit of a thread to a region. */
struct fg_region_span {
	uint32_t region;
	uint32_t thread;
	int64_t start_ns;
	int64_t end_ns;
};

/* A unit of work: an event, an image, a request. */
struct fg_unit_info {
	uint32_t thread;
	const char *kind;
	uint64_t number;
	int64_t start_ns;
	int64_t end_ns;
	bool ended; /* the end was seen */
};

/* An instruction as text. */
struct fg_listed {
	uint64_t address; /* in the module's own address space, as in a frame */
	const char *text;
	const char *file; /* NULL: unknown */
	unsigned line;
	const char *inlined; /* the inlined function; NULL: none */
};

/* The machine code of a function, as the linker placed it. */
struct fg_listing {
	uint32_t module;
	const char *name;
	uint64_t start, end;
	struct fg_listed *lines;
	size_t line_count;
};

struct fg_module_info {
	const char *path;
	const char *name;     /* base name */
	const char *build_id; /* hexadecimal; "": none */
	uint64_t start;
	uint64_t end;
	uint32_t process;
	bool is_kernel; /* the kernel or one of its modules: samples hit it only by chance */
	/* origin of its names, for people (see fg_symbol_module_source()) */
	const char *symbols_from;
};

enum {
	FG_PROFILE_LOSSES = 16 /* number of kinds of losses: enum fg_trace_loss */
};

/* Cost of sampling, summed over the traces. */
struct fg_profile_cost {
	double samples;
	double sampled_ns;  /* CPU time that the samples represent */
	double handler_ns;  /* the collector's time in signal handlers */
	double start_ns;    /* the collector's time before main() and at the end */
	double signals_ns;  /* the kernel's time for interrupts and signals; 0: not measured */
	double switches_ns; /* cost of the clock at context switches */
	double expected;    /* for a stored run: share of the CPU time computed from known costs */
	int perf_errno;     /* reason (errno) why perf events were refused; 0: they were granted */
	double system_ns;   /* system time in sampled_ns, if the clock distinguishes it */
	double kernel_ns;   /* part of system_ns sampled independently of the kernel's ticks */
	int kernel_errno;   /* reason (errno) why kernel functions were not visible; 0: they were */
	uint64_t losses[FG_PROFILE_LOSSES];
};

/* The values of a function's argument on one call path. */
struct fg_domain {
	const char *function;
	const char *signature; /* "double(double,int)" */
	uint32_t argument;     /* index among the numeric arguments */
	uint32_t stack;        /* stack of the caller */
	struct fg_argument_figures seen;
};

/* Completed calls of a function on one call path. */
struct fg_call_durations {
	const char *function;
	uint32_t stack; /* stack of the caller */
	double returned;
	double total_ns;
	double own_ns; /* without nested timed calls */
	double min_ns, max_ns;
	double bins[FG_CALL_TIME_BINS];
};

/* A packed piece of the arguments that a function was called with. */
struct fg_argument_values {
	const char *function;
	uint32_t stack; /* stack of the caller */
	uint32_t thread;
	uint32_t columns, rows;
	const uint8_t *bytes;
	size_t size;
};

/* Resident memory of a process's mappings of one name, near the peak of the heap and at the end. */
struct fg_resident {
	const char *name;
	uint32_t process;
	double at_peak, at_end;
	double held; /* heap bytes held when at_peak was read */
};

struct fg_profile {
	struct fg_arena arena;
	struct fg_profile_function *functions; /* [0]: the program */
	size_t function_count, function_capacity;
	struct fg_frame *frames; /* [0]: function 0 */
	size_t frame_count, frame_capacity;
	struct fg_stack *stacks; /* [0]: the root */
	size_t stack_count, stack_capacity;
	/* samples of all measures; within a measure by thread, then by time */
	struct fg_sample *samples;
	size_t sample_count, sample_capacity;
	struct fg_profile_measure *measures; /* [0]: the default */
	size_t measure_count, measure_capacity;
	struct fg_process_info *processes; /* [0]: the first process */
	size_t process_count, process_capacity;
	struct fg_thread_info *threads; /* [0]: the first thread */
	size_t thread_count, thread_capacity;
	struct fg_region_info *regions; /* [0]: outside any region */
	size_t region_count, region_capacity;
	/* process by process, sorted by start; empty if the trace lacks their times */
	struct fg_region_span *spans;
	size_t span_count, span_capacity;
	struct fg_unit_info *units; /* [0]: outside any unit */
	size_t unit_count, unit_capacity;
	struct fg_module_info *modules; /* [0]: none */
	size_t module_count, module_capacity;
	/* executions that were sampled; figures per execution are divided by this */
	uint32_t repetition_count;

	struct fg_listing *listings; /* sorted by module and address; see profile/listing.h */
	size_t listing_count, listing_capacity;

	const char *title;  /* title for people: the command, or the run and its benchmark */
	const char *clock;  /* the clock, for people; NULL: unknown */
	const char *unseen; /* blind spots of the clock, for people; NULL: none, or unknown */
	struct fg_profile_cost cost;
	uint64_t period_ns; /* time between samples; 0: unknown or mixed */
	bool has_times;
	int64_t started_wall_ns; /* 0: unknown */
	int64_t duration_ns;     /* 0: unknown */
	double cpu_ns;           /* CPU time according to the kernel; 0: unknown */
	struct fg_domain *domains;
	size_t domain_count, domain_capacity;
	struct fg_call_durations *durations;
	size_t duration_count, duration_capacity;
	struct fg_resident *residents; /* sorted by process */
	size_t resident_count, resident_capacity;
	struct fg_argument_values *values;
	size_t value_count, value_capacity;
	const char **notes; /* lines for people about anything odd, cut or refused */
	size_t note_count, note_capacity;

	struct fg_map function_index; /* name NUL library → index */
	struct fg_map texts;          /* interned */
	struct fg_map frame_index;
	struct fg_map domain_index;
	struct fg_map duration_index;
	struct fg_map file_index; /* path NUL build-id → module */
	struct fg_map note_index;
	struct fg_pair_index stack_index; /* parent, frame → index */
};

void fg_profile_init(struct fg_profile *profile);
void fg_profile_release(struct fg_profile *profile);

/*
 * The next functions find or add an entry. Strings are copied as valid UTF-8; U+FFFD replaces
 * control characters. NULL stays NULL.
 */
const char *fg_profile_text(struct fg_profile *profile, const char *text);
uint32_t fg_profile_function(struct fg_profile *profile,
			     const struct fg_profile_function *function);
uint32_t fg_profile_frame(struct fg_profile *profile, const struct fg_frame *frame);
uint32_t fg_profile_stack(struct fg_profile *profile, uint32_t parent, uint32_t frame);
uint32_t fg_profile_region(struct fg_profile *profile, uint32_t parent, const char *name);
/* Finds a measure by name, or adds it. */
uint16_t fg_profile_measure(struct fg_profile *profile, const struct fg_measure *measure);
/* Replaces CPU time as the first measure, before other measures are added. */
void fg_profile_set_first_measure(struct fg_profile *profile, const struct fg_measure *measure);
/*
 * Finds a measure; a `name` of NULL means the first. FG_ENOENT: the message lists the existing
 * measures.
 */
int fg_profile_find_measure(const struct fg_profile *profile, const char *name, uint16_t *index,
			    struct fg_error *err) FG_NODISCARD;
/*
 * Returns the number of executions in which the measure was recorded; figures per execution are
 * divided by it.
 */
uint32_t fg_profile_repetitions(const struct fg_profile *profile, uint16_t measure);
/* Adds a sample to the totals of its measure. */
void fg_profile_add_up(struct fg_profile *profile, const struct fg_sample *sample);
/* Returns the first measure that is CPU or wall time; UINT16_MAX: none. */
uint16_t fg_profile_time_measure(const struct fg_profile *profile);
/* The next functions append a zeroed element, valid until another element is added. */
struct fg_sample *fg_profile_add_sample(struct fg_profile *profile);
struct fg_process_info *fg_profile_add_process(struct fg_profile *profile);
struct fg_thread_info *fg_profile_add_thread(struct fg_profile *profile);
struct fg_region_span *fg_profile_add_span(struct fg_profile *profile);
struct fg_unit_info *fg_profile_add_unit(struct fg_profile *profile);
struct fg_module_info *fg_profile_add_module(struct fg_profile *profile);
/*
 * Returns the first module with the same path and build-id, or the module itself. This makes frames
 * of several processes equal.
 */
uint32_t fg_profile_module_file(struct fg_profile *profile, uint32_t module);
void fg_profile_add_note(struct fg_profile *profile, const char *format, ...) FG_PRINTF(2, 3);

/*
 * Returns true if samples record their region. Samples of a stored run do not, although its regions
 * have times.
 */
bool fg_profile_knows_regions(const struct fg_profile *profile);

/* A set has one region for all units of a kind: this prefix, then the kind. */
#define FG_PROFILE_UNITS "unit of work: "
/*
 * Makes a profile of a stored run from the rows of one arm that count; each row of a measure is one
 * repetition. Regions keep their time, but samples do not record their region: a stored run has
 * call paths and regions separately.
 */
void fg_profile_from_set(struct fg_profile *profile, const struct fg_profile_set *set, uint8_t arm);

/* Returns the names of the functions on a stack, outermost first. The caller frees the list. */
const char **fg_stack_names(const struct fg_profile *profile, uint32_t stack, size_t *count);
/* Appends the innermost functions of a stack: "fit ← loop ← main". */
void fg_profile_add_path(struct fg_strbuf *text, const struct fg_profile *profile, uint32_t stack);

/* ---- argument_values.c ---- */

/*
 * Unpacks one piece, row after row, into `to`, which has room for all. Returns the number of rows,
 * which is smaller than the piece claims if it is damaged.
 */
uint32_t fg_argument_values_unpack(const struct fg_argument_values *values, double *to);

#endif
