/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program with the collector in it: finds the library, checks that the program can load
 * it, and makes the environment that loads it (collector/sampler/collector_env.h).
 */
#ifndef FG_RUNNER_PRELOAD_H
#define FG_RUNNER_PRELOAD_H

#include "base/base.h"
#include "base/error.h"
#include "model/plan.h"

struct fg_preload {
	const char *library;      /* path of the collector; fg_preload_library() finds it */
	const char *trace_folder; /* must exist; an absolute path */
	enum fg_sample_clock clock;
	enum fg_kernel_functions kernel;
	uint64_t period_ns; /* time between samples; 0: the default rate */
	double budget;      /* sampling may cost this share of the CPU time; 0: the rate is fixed */
	const char *slowdown; /* a number of millionths of the CPU time to add; NULL: none */
	bool follow_children;
	uint64_t delay_ms;    /* time before the first sample */
	uint64_t duration_ms; /* time to sample for; 0: to the end */
	const char *counters; /* "heap,io": events for the counting library to count; or NULL */
	const char *units;    /* "FIRST-LAST", or NULL */
	const char *control;  /* fg_control_file_page(), or NULL */
	int dump_signal;      /* requests a dump of the collected data; 0: no signal does */
	bool paused;          /* start paused, until the program resumes sampling */
	bool no_python;       /* leave out the frames of Python functions */
	const char *calls;    /* patterns of functions whose calls are counted, or NULL */
	/* patterns of functions whose arguments are recorded as well, or NULL */
	const char *domains;
	const char *entries; /* absolute path of an entry plan, or NULL */
	bool call_times;     /* also measure the duration of counted calls */
	uint64_t values;     /* one in this many calls keeps its argument values; 0: none */
	uint64_t value_bits; /* mantissa bits kept of a value; 0: all */
};

/*
 * Can this program be sampled? FG_EUNSUPPORTED gives the reason, such as static linking,
 * set-user-id, a sanitizer that must be loaded first, or another machine. FG_ENOENT: not found;
 * FG_EINVAL: not executable. For a script the interpreter is checked.
 */
int fg_preload_check(const char *program, const char *library, struct fg_error *err) FG_NODISCARD;
/* Is this a readable ELF program linked statically, which must be sampled from outside? */
bool fg_preload_is_outside(const char *program);

/*
 * Finds the path of the collector library, which the caller frees: $FASTGATE_COLLECTOR, next to the
 * running program, or in the installation.
 */
int fg_preload_library(char **library, struct fg_error *err) FG_NODISCARD;
/*
 * Finds the path of the library, next to `library`, that also counts events. The caller frees it.
 */
int fg_preload_counting_library(const char *library, char **counting, struct fg_error *err)
	FG_NODISCARD;

/*
 * Finds the path of the library, next to `library`, that counts calls of named functions. The
 * caller frees it.
 */
int fg_preload_calls_library(const char *library, char **calls, struct fg_error *err) FG_NODISCARD;

/* Is this "FIRST-LAST", two numbers in order? */
bool fg_preload_units_valid(const char *units);

/*
 * Returns the "NAME=value" strings that start the collector; the caller frees them with
 * fg_free_words(). They extend `environment`: if it has an LD_PRELOAD, ours comes first. The caller
 * must be the parent of the sampled program, which distinguishes the program from its children.
 * (The launcher sets itself as the parent.)
 */
char **fg_preload_variables(const struct fg_preload *preload, char *const *environment);

/*
 * Opens a perf event and keeps it, because the first event on an idle system makes its opener wait
 * for all CPUs (10 to 20 ms). Programs started later then do not wait. Does nothing if perf is
 * refused.
 */
void fg_preload_warm(void);

#endif
