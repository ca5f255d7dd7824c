/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Getting a program to start with the collector in it: where the library is, whether this program
 * can take it, and the environment that makes it so (collector/sampler/collector_env.h).
 */
#ifndef FG_RUNNER_PRELOAD_H
#define FG_RUNNER_PRELOAD_H

#include "base/base.h"
#include "base/error.h"
#include "model/plan.h"

enum {
	FG_PRELOAD_VARIABLES_MAX = 31
};

struct fg_preload {
	const char *library;      /* the collector; fg_preload_library() finds it */
	const char *trace_folder; /* exists; an absolute path */
	enum fg_sample_clock clock;
	enum fg_kernel_functions kernel;
	uint64_t period_ns; /* between samples; 0: the default rate */
	uint64_t signal_ns; /* what one costs on this host; 0: not measured */
	uint64_t switch_ns; /* what the clock adds to a context switch; 0: not measured */
	bool follow_children;
	uint64_t delay_ms;    /* before the first sample */
	uint64_t duration_ms; /* that is sampled; 0: to the end */
	const char *counters; /* "heap,io": what the counting library counts; or NULL */
	const char *units;    /* "FIRST-LAST", or NULL */
	const char *control;  /* fg_control_file_page(), or NULL */
	int dump_signal;      /* that asks for a dump of what is held; 0: none does */
	uint32_t temporary;   /* blocks end before this many allocations more; 0: at once */
	bool paused;          /* until the program resumes by itself */
	bool no_python;       /* leave the frames of Python functions out */
	const char *calls;    /* patterns of functions whose calls are counted, or NULL */
	const char *domains;  /* those whose arguments are looked at as well, or NULL */
	const char *entries;  /* absolute path of a plan for jumps at entries, or NULL */
	bool call_times;      /* how long these calls take, too */
	uint64_t values;      /* one call in this many keeps its arguments; 0: none */
	uint64_t value_bits;  /* of their mantissa; 0: all */
};

/*
 * Can this program be sampled?  FG_EUNSUPPORTED says why not: linked statically, set-user-id, built
 * with a sanitizer that must come first, for another machine; FG_ENOENT: not there, FG_EINVAL: not
 * executable.  Of a script the interpreter is looked at.
 */
int fg_preload_check(const char *program, const char *library, struct fg_error *err) FG_NODISCARD;
/* Is it an ELF program that is linked statically, and may be looked at? */
bool fg_preload_is_static(const char *program);

/*
 * Path of the collector library, to be freed: $FASTGATE_COLLECTOR, beside the running program, or
 * where it is installed.
 */
int fg_preload_library(char **library, struct fg_error *err) FG_NODISCARD;
/* The one beside `library` that counts events as well, to be freed. */
int fg_preload_counting_library(const char *library, char **counting, struct fg_error *err)
	FG_NODISCARD;

/* The one beside `library` that counts calls of named functions, to be freed. */
int fg_preload_calls_library(const char *library, char **calls, struct fg_error *err) FG_NODISCARD;

/* Is this "FIRST-LAST", two numbers in order? */
bool fg_preload_units_valid(const char *units);

/*
 * The "NAME=value" strings that start the collector, each to be freed, terminated by NULL; returns
 * how many. They are added to `environment`: a LD_PRELOAD in it is kept after ours. The caller is
 * the parent of the sampled program, which distinguishes the program from its children. (The
 * launcher puts itself there.)
 */
size_t fg_preload_variables(const struct fg_preload *preload, char *const *environment,
			    char *variables[FG_PRELOAD_VARIABLES_MAX]);

/*
 * The first perf event on an idle system makes its opener wait for all processors (10 to 20 ms).
 * This opens one and keeps it, so that the programs we start do not wait.  Where perf is refused it
 * does nothing.
 */
void fg_preload_warm(void);

#endif
