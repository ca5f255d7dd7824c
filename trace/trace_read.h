/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace file of the collector, as plain arrays, checked against trace/trace_format.h.
 *
 * The file is untrusted: it may be cut, damaged or forged. Every length is checked against the
 * available bytes, every id against the file's bytes on the disk before memory is allocated for it,
 * and a reference that leads nowhere (or in a circle) is kept as unknown. Reading stops at the
 * first damaged chunk; the chunks before it are good and are kept, and `damage` says where and why.
 * A gap (a chunk that a killed process did not write) is normal and only counted.
 *
 * An id is an index into its table, whose element 0 is "none".  Elements whose `defined` is false
 * were referenced or skipped, but never defined.
 */
#ifndef FG_TRACE_READ_H
#define FG_TRACE_READ_H

#include "base/arena.h"
#include "base/error.h"
#include "trace/trace_format.h"

struct fg_trace_address {
	uint64_t offset;
	uint32_t module;
	uint32_t code; /* not 0: a Python frame; `offset` is the instruction, from 1 */
	bool exact;    /* interrupted there; else a return address */
	bool defined;
};

struct fg_trace_path {
	uint32_t parent;
	uint32_t frame;
	uint32_t left_out; /* a cut: number of frames missing here */
	bool defined;
};

struct fg_trace_module {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_size;
	uint64_t time_ns, start, end, bias;
	uint32_t flags; /* enum fg_module_flags */
	bool is_python; /* an interpreter whose frames were read */
	bool defined;
};

/* A Python function. */
struct fg_trace_code {
	const char *name; /* NULL: not defined */
	const char *file;
	uint32_t line;        /* its first line */
	const uint8_t *lines; /* for fg_python_line(); may be cut */
	size_t lines_size;
};

struct fg_trace_code_lines {
	uint64_t position;
	uint32_t code;
	const uint8_t *bytes;
	size_t size;
};

struct fg_trace_thread {
	const char *name; /* NULL: unknown */
	uint32_t tid;
	uint32_t kind;  /* enum fg_thread_kind */
	uint32_t clock; /* enum fg_trace_clock */
	uint64_t start_ns;
	uint64_t end_ns; /* 0: not seen */
	uint64_t user_ns, system_ns;
	bool defined;
};

struct fg_trace_region {
	uint32_t parent;
	uint32_t name;
	bool defined;
};

struct fg_trace_region_times {
	uint32_t thread, region;
	uint64_t count, wall_ns;
};

/* One visit of a thread to a region; inner regions come before outer regions. */
struct fg_trace_region_span {
	uint32_t thread, region;
	uint64_t begin_ns, end_ns;
};

struct fg_trace_unit_mark {
	uint32_t thread, name;
	uint64_t number, time_ns;
	bool begin;
};

struct fg_trace_sample {
	uint64_t time_ns;
	uint64_t weight_ns;
	uint32_t path;
	uint32_t thread;
	uint32_t region;
	uint8_t clock; /* enum fg_trace_clock */
	uint8_t flags; /* FG_SAMPLE_TRUNCATED, FG_SAMPLE_SYSCALL, FG_SAMPLE_STOPPED */
};

/* A count on a call path. */
struct fg_trace_value {
	uint64_t value;
	uint32_t thread; /* 0: not known */
	uint32_t region;
	uint32_t path;
	uint32_t measure;
	uint32_t state; /* number of the snapshot of held memory or descriptors; 0: a count */
};

/* A pattern of functions to count, and its outcome. */
struct fg_trace_pattern {
	const char *text;
	const char *library; /* library that should define the functions; "": any */
	bool is_reached;
	uint64_t unresolved; /* imports whose function was not certain */
	/* an object that exports a matching function that nothing imports; NULL: none known */
	const char *exported_by;
	bool is_unsigned;   /* arguments were requested, and a signature is unknown */
	bool is_overloaded; /* overloads with other parameters are only counted */
	bool is_untimed;    /* durations were requested of calls that cannot be timed */
};

/* Statistics of one argument of a function. */
struct fg_trace_domain {
	uint32_t thread, region, path, measure, argument;
	bool is_so_far; /* statistics before the end, from FG_RECORD_DOMAIN_SO_FAR */
	uint64_t values, zeros, negatives, denormals, infinities, nans, repeats;
	double least, most, sum;
	uint64_t bins[FG_DOMAIN_BINS];
};

/* Functions that should be counted at their entries, with the same result. */
struct fg_trace_refusal {
	uint64_t reason; /* enum fg_entry_refusal; "accepted": the functions are counted */
	uint64_t functions;
	const char *names; /* names of some of the functions, "a, b" */
};

/* Durations of a function's calls that returned. */
struct fg_trace_call_times {
	uint32_t thread, region, path, measure;
	uint64_t returned, total_ns, own_ns, min_ns, max_ns;
	uint64_t bins[FG_CALL_TIME_BINS];
};

/* Arguments of calls, packed (FG_RECORD_CALL_VALUES). */
struct fg_trace_call_values {
	uint32_t thread, path, measure, columns, rows;
	const uint8_t *bytes;
	size_t size;
};

/* The name of some addresses of a module without a file. */
struct fg_trace_symbol {
	uint32_t module;
	uint64_t start, size;
	const char *name;
};

/* Resident memory of all mappings with one name. */
struct fg_trace_resident {
	const char *name;
	uint64_t time_ns, held, bytes;
	uint32_t state;
	bool is_at_end; /* false: near the peak of the heap */
};

struct fg_trace {
	struct fg_arena arena;
	struct fg_trace_header header;
	struct fg_trace_address *frames;
	size_t frame_count, frame_capacity;
	struct fg_trace_path *paths;
	size_t path_count, path_capacity;
	struct fg_trace_module *modules;
	size_t module_count, module_capacity;
	struct fg_trace_thread *threads;
	size_t thread_count, thread_capacity;
	const char **names; /* NULL: not defined */
	size_t name_count, name_capacity;
	struct fg_trace_region *regions;
	size_t region_count, region_capacity;
	struct fg_trace_sample *samples; /* in the order of the file: by time within a chunk */
	size_t sample_count, sample_capacity;
	struct fg_trace_region_times *times;
	size_t time_count, time_capacity;
	struct fg_trace_region_span *spans;
	size_t span_count, span_capacity;
	struct fg_trace_unit_mark *marks;
	size_t mark_count, mark_capacity;
	const char **measures; /* NULL: not defined; "": unknown */
	size_t measure_count, measure_capacity;
	struct fg_trace_value *values;
	size_t value_count, value_capacity;
	uint32_t last_state;   /* the last complete state: ignore values of other states */
	uint32_t held_measure; /* first measure in tables of sites; 0: none */
	uint32_t held_epochs[FG_TRACE_HELD_WHAT];
	struct fg_trace_pattern *patterns;
	size_t pattern_count, pattern_capacity;
	const char **signatures; /* indexed by measure */
	size_t signature_count, signature_capacity;
	/* indexed by measure: how the calls of its function are counted (enum fg_call_way) */
	uint32_t *ways;
	/* functions requested at their entries, with the reason if they are not counted */
	struct fg_trace_refusal *refusals;
	size_t refusal_count, refusal_capacity;
	size_t way_count, way_capacity;
	struct fg_trace_domain *domains;
	size_t domain_count, domain_capacity;
	struct fg_trace_call_times *call_times;
	size_t call_time_count, call_time_capacity;
	struct fg_trace_call_values *call_values;
	size_t call_value_count, call_value_capacity;
	struct fg_trace_symbol *symbols; /* sorted by module and start */
	size_t symbol_count, symbol_capacity;
	struct fg_trace_code *codes;
	size_t code_count, code_capacity;
	/* parts of the codes' line tables, by code and position */
	struct fg_trace_code_lines *code_lines;
	size_t code_line_count, code_line_capacity;
	uint64_t python_version; /* PY_VERSION_HEX; 0: no interpreter, or its frames are not read */
	struct fg_trace_resident *residents;
	size_t resident_count, resident_capacity;
	const char **notes; /* notes of the collector */
	size_t note_count, note_capacity;
	const char *executable; /* "": unknown */
	const char *command;    /* arguments joined by blanks */
	size_t chunk_count;     /* chunks that were read */
	size_t gap_count; /* blocks of FG_TRACE_ALIGN bytes that were allocated but never written */
	uint64_t unknown_records;
	uint64_t missing_bytes; /* allocated, but not in the file */
	char damage[160];       /* "": the file was read to its end */
};

/*
 * FG_EPARSE: not a trace, or its first page is damaged; FG_EUNSUPPORTED: a newer version; FG_EIO,
 * FG_ENOENT: cannot be read; FG_ELIMIT: larger than FG_TRACE_MAX_BYTES.
 */
#define FG_TRACE_MAX_BYTES (UINT64_C(4) << 30)
int fg_trace_read(const char *path, struct fg_trace *trace, struct fg_error *err) FG_NODISCARD;
/* Like fg_trace_read(), from memory; `name` is used in messages. */
int fg_trace_parse(const void *data, size_t size, const char *name, struct fg_trace *trace,
		   struct fg_error *err) FG_NODISCARD;
void fg_trace_release(struct fg_trace *trace);
/* Returns the name of this address in FG_RECORD_SYMBOL, or NULL. */
const char *fg_trace_symbol_at(const struct fg_trace *trace, uint32_t module, uint64_t offset);

/*
 * Opens a file that begins like a trace and reads its header. Follows no link, and waits for no
 * pipe or device: the measured program may have put such a file there. Returns a descriptor, or -1.
 */
int fg_trace_open(const char *path, int flags, struct fg_trace_header *header);
/* Does the file begin like a trace? */
bool fg_trace_is_trace(const char *path);

#endif
