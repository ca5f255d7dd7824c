/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `fastgate record`, grouped as in its help, and their contradictions. */
#ifndef FG_CLI_RECORD_OPTIONS_H
#define FG_CLI_RECORD_OPTIONS_H

#include "base/base.h"
#include "cli/framework/command.h"

/* The options for sampling time. */
struct fg_record_sample {
	unsigned rate_hz; /* 0: the rate that `budget` allows */
	double budget;
	int clock;  /* enum fg_sample_clock */
	int kernel; /* enum fg_kernel_functions */
	int python; /* enum fg_python_frames */
	int64_t delay_ns;
	int64_t duration_ns;
};

/* Events or calls to count instead of sampling time; all zero for sampling. */
struct fg_record_count {
	bool exact; /* all instructions and calls, by callgrind */
	const char *measures;
	int dump_signal; /* index into the choices of --dump-signal */
	const char *calls;
	const char *domains;
	bool entries;
	bool times;
	unsigned values;
	unsigned value_bits;
};

/* A running process or machine to sample from outside; all zero to start a command. */
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
bool fg_record_counts_events(const struct fg_recording *given); /* also true if calls are counted */
/* Returns the first given option that needs the library inside the program, or NULL. */
const char *fg_record_only_inside(const struct fg_recording *given);
/*
 * Returns the reason why the options are wrong, which the caller frees; NULL if the options are
 * right. `words` is the number of words in the command.
 */
char *fg_record_mistake(const struct fg_recording *given, size_t words);
/* Like fg_record_mistake(), for --exact. */
char *fg_record_mistake_exact(const struct fg_recording *given);
/* Like fg_record_mistake(), for recording from within. */
char *fg_record_mistake_within(const struct fg_recording *given);

/* ---- attach.c ---- */

/* Is this command's program static, so that no library can be preloaded? */
bool fg_record_is_outside(const char *command);
/* Samples from outside the program. Sets `exit_code` to the started command's exit code, if any. */
int fg_record_outside(struct fg_cli *cli, const struct fg_recording *options, int *exit_code,
		      struct fg_error *err) FG_NODISCARD;

/* ---- exact.c ---- */

int fg_record_exact(struct fg_cli *cli, const struct fg_recording *given, int *exit_code,
		    struct fg_error *err) FG_NODISCARD;

/* ---- inside.c ---- */

/*
 * Starts the command in cli->arguments and waits for it. `signal` requests a dump of the collected
 * data; 0: no signal does. Sets `exit_code` to the command's exit code.
 */
int fg_record_inside(struct fg_cli *cli, const struct fg_recording *given, int signal,
		     int *exit_code, struct fg_error *err) FG_NODISCARD;

#endif
