/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between a launcher and the collector: environment variables, read once before main.
 * The launcher puts the library in front of LD_PRELOAD and sets FG_ENV_OUTPUT; without that
 * variable the library does nothing at all. Children inherit both variables and are sampled as
 * well. A value that does not parse is ignored and noted in the trace.
 */
#ifndef FG_COLLECTOR_COLLECTOR_ENV_H
#define FG_COLLECTOR_COLLECTOR_ENV_H

#include <stdint.h>

/* The names of all the collector's libraries begin with this. */
#define FG_COLLECTOR_NAME    "libfastgate_collector"
#define FG_COLLECTOR_LIBRARY FG_COLLECTOR_NAME ".so"
/* The collector that also interposes malloc, read and everything else that is counted. */
#define FG_COLLECTOR_COUNTING_LIBRARY FG_COLLECTOR_NAME "_counting.so"
/* The collector that also counts calls of named functions; it counts nothing else. */
#define FG_COLLECTOR_CALLS_LIBRARY FG_COLLECTOR_NAME "_calls.so"

/* Absolute path of an existing folder for the trace files. */
#define FG_ENV_OUTPUT "FASTGATE_COLLECTOR_OUTPUT"
/* Nanoseconds between samples, 20,000 to 10^9; default 1 ms, with the wall clock 10 ms. */
#define FG_ENV_PERIOD "FASTGATE_COLLECTOR_PERIOD"
/*
 * Millionths of the CPU time that sampling may cost; ignored with the clocks "wall" and "none". If
 * set, FG_ENV_PERIOD is ignored, and the period of perf clocks is adapted while the program runs.
 */
#define FG_ENV_BUDGET "FASTGATE_COLLECTOR_BUDGET"
/*
 * The clock: "cpu" (default) or "wall".  "jitter" and "tick" force the fallbacks of "cpu"; "none"
 * turns sampling off, so that only events are counted.
 */
#define FG_ENV_CLOCK "FASTGATE_COLLECTOR_CLOCK"
/* "auto" (default) or "off": name the kernel's functions, if the kernel may be sampled. */
#define FG_ENV_KERNEL "FASTGATE_COLLECTOR_KERNEL"
/*
 * A slowdown with which `fastgate prove` tests the gate: after each sample the thread spins for
 * this many millionths of the CPU time since the last sample.
 */
#define FG_ENV_SLOWDOWN "FASTGATE_COLLECTOR_SLOWDOWN"
/* A pid: only children of that process are sampled, not their children. */
#define FG_ENV_ONLY "FASTGATE_COLLECTOR_ONLY"
/* Milliseconds from the start of a process to its first sample. */
#define FG_ENV_DELAY "FASTGATE_COLLECTOR_DELAY"
/* Milliseconds of sampling after the delay. */
#define FG_ENV_DURATION "FASTGATE_COLLECTOR_DURATION"
/* "FIRST-LAST": sample from the start of unit FIRST to the end of unit LAST, both included. */
#define FG_ENV_UNITS "FASTGATE_COLLECTOR_UNITS"
/*
 * Absolute path of a struct fg_control_page. While `off` is not 0, nothing is sampled or counted;
 * for each dump that it requests, the counting library writes the memory and descriptors held. The
 * file is mapped, so it must not become shorter: it must be a memfd sealed with F_SEAL_SHRINK.
 */
#define FG_ENV_CONTROL "FASTGATE_COLLECTOR_CONTROL"
/* "1": no samples until the program calls fg_resume() or __itt_resume(). */
#define FG_ENV_PAUSED "FASTGATE_COLLECTOR_PAUSED"
/* "off": the frames of Python functions are left out; "auto" (default): they are read. */
#define FG_ENV_PYTHON "FASTGATE_COLLECTOR_PYTHON"
/*
 * "own": look objects up in our own index, as with a libc that lacks _dl_find_object() (musl, glibc
 * before 2.35); "auto" (default): only with such a libc.
 */
#define FG_ENV_INDEX "FASTGATE_COLLECTOR_INDEX"
/* Comma-separated names of the counters of the counting library; unset: it counts nothing. */
#define FG_ENV_COUNT "FASTGATE_COLLECTOR_COUNT"
/* Number of a signal that requests a dump from the counting library. */
#define FG_ENV_DUMP_SIGNAL "FASTGATE_COLLECTOR_DUMP_SIGNAL"
/* Size limit of one trace file in bytes; default 268435456. */
#define FG_ENV_MAX_BYTES "FASTGATE_COLLECTOR_MAX_BYTES"

#define FG_CONTROL_MAGIC     UINT32_C(0x434f4746) /* "FGOC" */
#define FG_CONTROL_PAGE_SIZE 4096

struct fg_control_page {
	uint32_t magic;
	uint32_t off;
	uint32_t dumps; /* dumps requested so far */
};

/* The words of FG_ENV_COUNT (docs/adding.md). */
enum fg_counter {
	FG_COUNTER_HEAP,
	FG_COUNTER_ALLOCATIONS, /* calls and bytes of the heap, but no live blocks */
	FG_COUNTER_FREES,
	FG_COUNTER_IO,
	FG_COUNTER_FD,
	FG_COUNTER_THROWS,
	FG_COUNTER_LOCKS,
	FG_COUNTER_COUNT,
};
/* clang-format off */
#define FG_COUNTER_WORDS                    \
 {                                          \
  [FG_COUNTER_HEAP] = "heap",               \
  [FG_COUNTER_ALLOCATIONS] = "allocations", \
  [FG_COUNTER_FREES] = "frees",             \
  [FG_COUNTER_IO] = "io",                   \
  [FG_COUNTER_FD] = "fd",                   \
  [FG_COUNTER_THROWS] = "throws",           \
  [FG_COUNTER_LOCKS] = "locks",             \
 }
/* clang-format on */
/* Functions whose calls the call-counting library counts: "exp,log@libm,Parser::*". */
#define FG_ENV_CALLS "FASTGATE_COLLECTOR_CALLS"
/*
 * Functions whose arguments are recorded as well: "libm", or names as in FG_ENV_CALLS, with a
 * signature for functions outside libm: "log,my_kernel=double(double,int)".
 */
#define FG_ENV_DOMAINS "FASTGATE_COLLECTOR_DOMAINS"
/* "1": also time calls. Functions without hooks are timed only if a stub can safely call them. */
#define FG_ENV_CALL_TIMES "FASTGATE_COLLECTOR_CALL_TIMES"
/*
 * With FG_ENV_DOMAINS, "N" keeps the arguments of one call in N, and FG_ENV_VALUES_BITS is the
 * number of mantissa bits kept (1 to 52, the default).
 */
#define FG_ENV_VALUES      "FASTGATE_COLLECTOR_VALUES"
#define FG_ENV_VALUES_BITS "FASTGATE_COLLECTOR_VALUES_BITS"

/* Absolute path of a plan (entry_plan.h): functions whose calls are counted at their entries. */
#define FG_ENV_ENTRIES "FASTGATE_COLLECTOR_ENTRIES"

#define FG_RATE_DEFAULT_HZ      1000
#define FG_RATE_WALL_DEFAULT_HZ 100
#define FG_RATE_MAX_HZ          50000
#define FG_MAX_BYTES_DEFAULT    (UINT64_C(256) << 20)

#endif
