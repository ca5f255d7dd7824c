/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `fastgate record`, in the groups of its help, and what contradicts what. */
#ifndef FG_CLI_RECORD_OPTIONS_H
#define FG_CLI_RECORD_OPTIONS_H

#include "base/base.h"

/* Time is sampled, unless something is counted. */
struct fg_record_sample {
	unsigned rate_hz; /* 0: as `budget` allows */
	double budget;
	int clock;  /* enum fg_sample_clock */
	int kernel; /* enum fg_kernel_functions */
	int python; /* enum fg_python_frames */
	int64_t delay_ns;
	int64_t duration_ns;
};

/* Events or calls are counted instead; all zero: time is sampled. */
struct fg_record_count {
	const char *measures;
	uint32_t temporary;
	int dump_signal; /* by its row in the table of choices */
	const char *calls;
	const char *domains;
	bool entries;
	bool times;
	unsigned values;
	unsigned value_bits;
};

/* Something that runs already, from outside; all zero: a command is started. */
struct fg_record_attach {
	unsigned pid;
	bool system;
};

struct fg_recording {
	const char *output; /* NULL: FG_CLI_RECORD_FOLDER */
	bool append;
	bool archive;
	bool no_follow;
	const char *units;
	const char *control;
	bool paused;
	struct fg_record_sample sample;
	struct fg_record_count count;
	struct fg_record_attach attach;
};

bool fg_record_counts_calls(const struct fg_recording *given);
bool fg_record_counts_events(const struct fg_recording *given); /* calls are events, too */
/* The first option given that only the library inside a program can follow; NULL: none. */
const char *fg_record_only_inside(const struct fg_recording *given);
/* What is wrong with the options, to be freed; NULL: nothing.  `words`: of the command. */
char *fg_record_mistake(const struct fg_recording *given, size_t words);
/* Likewise where it is recorded from within. */
char *fg_record_mistake_within(const struct fg_recording *given);

#endif
