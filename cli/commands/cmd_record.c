// SPDX-License-Identifier: Apache-2.0
/*
 * Runs one command with the collector preloaded and leaves the traces in a folder. The command
 * keeps our terminal, streams and process group, so that it behaves as it would without us. An
 * interrupt key reaches the command and us; a signal sent to us alone is forwarded to the command
 * and to the processes it leaves running. We exit with the command's exit code.
 */
#include "cli/framework/command.h"
#include "cli/record/options.h"

#include <signal.h>
#include <stdlib.h>

/* In the order of enum fg_sample_clock. */
static const char *const clocks[] = {"cpu", "wall", NULL};
/* In the order of enum fg_python_frames. */
static const char *const pythons[] = {"auto", "off", NULL};

/* In the order of enum fg_kernel_functions. */
static const char *const kernel_modes[] = {"auto", "off", NULL};

/* Signals that can request a dump; the user chooses a signal that the program does not use. */
static const char *const dump_signals[] = {"none", "hup",   "quit", "usr1", "usr2",
					   "urg",  "winch", "io",   "pwr",  NULL};
static const int dump_signal_numbers[] = {0,      SIGHUP,   SIGQUIT, SIGUSR1, SIGUSR2,
					  SIGURG, SIGWINCH, SIGIO,   SIGPWR};

static const struct fg_option options[] = {
	FG_ROW_NAME(struct fg_recording, output, "output", 'o', "FOLDER", FG_COMPLETE_FOLDER,
		    "the folder for the traces, created if missing (default: fastgate-record); the "
		    "traces of the previous recording move to FOLDER.old"),
	FG_ROW_FLAG(struct fg_recording, append, "append", 0,
		    "keep the traces of earlier recordings in the folder: together they form one "
		    "profile"),
	FG_ROW_FLAG(
		struct fg_recording, archive, "archive", 0,
		"also write FOLDER.tar.zst, with everything that another host needs to show the "
		"recording"),
	FG_ROW_FLAG(struct fg_recording, no_follow, "no-follow", 0,
		    "do not sample child "
		    "processes"),
	FG_ROW_TEXT(
		struct fg_recording, units, "units", 0, "FIRST-LAST",
		"take samples from the start of one unit of work to the end of another, given by "
		"their numbers"),
	FG_ROW_FILE(struct fg_recording, control, "control", 0,
		    "create this file; no samples are taken while it begins with 0 (`echo 0 > "
		    "FILE`), and each line 'dump' appended to it requests a dump of the held "
		    "memory or descriptors (--measure heap, fd)"),
	FG_ROW_FLAG(struct fg_recording, paused, "paused", 0,
		    "take no samples until the program asks for them (fg_resume, __itt_resume)"),
	{.heading = "Sampling time",
	 .name = "rate",
	 .letter = 'r',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct fg_recording, sample.rate_hz),
	 .argument = "HZ",
	 .minimum = 1,
	 .maximum = 50000,
	 .help = "samples per second of CPU time; of elapsed time with --clock wall, --pid, "
		 "--system or a static program (default: as many as --budget allows; 100 for a "
		 "preloaded program with --clock wall; 99 with --system)"},
	{.name = "budget",
	 .kind = FG_OPTION_RATIO,
	 .offset = offsetof(struct fg_recording, sample.budget),
	 .argument = "SHARE",
	 .initial = "3%",
	 .minimum = 0.0001,
	 .maximum = 0.5,
	 .help = "the share of CPU time that sampling may cost; with --rate it applies only when "
		 "sampling from outside"},
	FG_ROW_CHOICE(struct fg_recording, sample.clock, "clock", 'c', "CLOCK", clocks, "cpu",
		      "the clock to sample: CPU time, or elapsed time including waits"),
	FG_ROW_CHOICE(
		struct fg_recording, sample.kernel, "kernel", 0, "MODE", kernel_modes, "auto",
		"name the kernel's functions where system time is spent, if the kernel may be sampled"),
	FG_ROW_CHOICE(struct fg_recording, sample.python, "python", 0, "WHICH", pythons, "auto",
		      "auto: show the functions of Python programs (3.11 to 3.13) instead of the "
		      "interpreter's functions; off: show the interpreter's functions"),
	FG_ROW_DURATION(struct fg_recording, sample.delay_ns, "delay", NULL,
			"take no samples for this long after each process starts"),
	FG_ROW_DURATION(struct fg_recording, sample.duration_ns, "duration", NULL,
			"stop sampling after this time"),
	{.heading = "Counting events or calls, instead of sampling time",
	 .name = "measure",
	 .letter = 'm',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_recording, count.measures),
	 .argument = "NAMES",
	 .help = "count events by call path instead of sampling time: heap, allocations (the heap "
		 "without held memory), frees, fd, io, throws, locks; separate several with commas"},
	FG_ROW_FLAG(
		struct fg_recording, count.exact, "exact", 0,
		"count every instruction and every call instead, under valgrind's callgrind: 30 "
		"to 60 times slower, but with the same figures each time"),
	FG_ROW_CHOICE(struct fg_recording, count.dump_signal, "dump-signal", 0, "SIGNAL",
		      dump_signals, "none",
		      "this signal, sent to the program, requests a dump of the held memory or "
		      "descriptors"),
	FG_ROW_TEXT(struct fg_recording, count.calls, "calls", 0, "PATTERNS",
		    "count the calls of these functions instead of sampling time: "
		    "'exp,log@libm,Parser::*'"),
	{.name = "domains",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_recording, count.domains),
	 .argument = "PATTERNS",
	 .alone = "libm",
	 .help = "count calls as with --calls, and record their arguments: 'libm' (the default) "
		 "is the whole mathematical library, and 'fit=double(double,int)' names a "
		 "function in the program's libraries with its signature"},
	FG_ROW_FLAG(struct fg_recording, count.entries, "entries", 0,
		    "with --calls or --domains: also count calls within an object, by jumps "
		    "written at function entries where that is provably safe"),
	FG_ROW_FLAG(struct fg_recording, count.times, "times", 0,
		    "with --calls or --domains: also time each call"),
	FG_ROW_COUNT(struct fg_recording, count.values, "values", 0, 1000000000, NULL,
		     "with --domains: keep the arguments of one call in N (1: of every call); "
		     "fastgate export -F npz writes them"),
	FG_ROW_COUNT(struct fg_recording, count.value_bits, "precision", 0, 52, NULL,
		     "with --values: keep this many bits of a number's mantissa (default: all 52)"),
	{.heading = "From outside, without CMD",
	 .name = "pid",
	 .letter = 'p',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct fg_recording, attach.pid),
	 .argument = "PID",
	 .minimum = 1,
	 .maximum = INT32_MAX,
	 .help = "sample this running process from outside; without CMD"},
	FG_ROW_FLAG(struct fg_recording, attach.system, "system", 0,
		    "sample every process on the machine and the kernel; without CMD"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "CMD",
	 .help = "the command and its arguments; none with --pid or --system",
	 .complete = FG_COMPLETE_PROGRAM},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate record -- ./reco --events 200 sample.bin",
	 "profile one command; then: fastgate view fastgate-record"},
	{"fastgate record --pid 4711 --duration 20s",
	 "what is that server doing? (no restart needed)"},
	{"fastgate record --system --duration 20s && fastgate view -V top-down",
	 "what is this machine doing?"},
	{"fastgate record --clock wall -- ./server --once", "where does the server wait?"},
	{"fastgate record --measure heap -- ./reco",
	 "who allocates? then: fastgate view fastgate-record --measure heap.bytes"},
	{"fastgate record --measure heap,io -- ./reco",
	 "who allocates, reads and writes? then: fastgate view fastgate-record --measure io.calls"},
	{"fastgate record --calls 'exp,log,sin@libm' -- ./reco",
	 "how often is each of these functions called, and from where? then: fastgate view "
	 "fastgate-record --measure calls.exp"},
	{"fastgate record --calls 'Parser::*' --entries -- ./reco",
	 "count calls within the program as well"},
	{"fastgate record --exact -- ./reco",
	 "count all calls, and the instructions of each; then: fastgate view fastgate-record"},
	{"fastgate record --domains -- ./reco",
	 "with which arguments is the mathematical library called? then: fastgate view "
	 "fastgate-record -V domains"},
	{"fastgate record --calls 'Parser::*' --times -- ./reco",
	 "how long does each call take? then: fastgate view fastgate-record -V times"},
	{"fastgate record --units 5000-15000 -- ./reco",
	 "events 5000 to 15000 of a program marked with fg_unit_begin()"},
	{NULL, NULL},
};

static int refuse(struct fg_cli *cli, char *wrong)
{
	const int exit_code = fg_cli_usage(cli, "%s", wrong);

	free(wrong);
	return exit_code;
}

/* Records for --pid, for --system, or for a command that is linked statically. */
static int run_outside(struct fg_cli *cli, const struct fg_recording *given)
{
	const bool is_attached = given->attach.pid || given->attach.system;
	const char *impossible = fg_record_only_inside(given);
	struct fg_error err = {0};
	int exit_code = FG_EXIT_PASS;

	if (impossible && !is_attached)
		return fg_cli_usage(cli,
				    "'%s' is linked statically: it can only be sampled from "
				    "outside, where %s is not possible",
				    cli->arguments[0], impossible);
	if (impossible)
		return fg_cli_usage(cli, "%s is not possible when sampling from outside",
				    impossible);
	if (is_attached)
		fg_cli_catch_stops();
	return fg_record_outside(cli, given, &exit_code, &err) == FG_OK ? exit_code
									: fg_cli_fail(cli, &err);
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct fg_recording *given = values;
	char *wrong = fg_record_mistake(given, cli->argument_count);
	struct fg_error err = {0};
	int exit_code = FG_EXIT_INTERNAL;

	if (wrong)
		return refuse(cli, wrong);
	if (given->count.exact) {
		wrong = fg_record_mistake_exact(given);
		if (wrong)
			return refuse(cli, wrong);
		return fg_record_exact(cli, given, &exit_code, &err) == FG_OK
			       ? exit_code
			       : fg_cli_fail(cli, &err);
	}
	if (given->attach.pid || given->attach.system || fg_record_is_outside(cli->arguments[0]))
		return run_outside(cli, given);
	wrong = fg_record_mistake_within(given);
	if (wrong)
		return refuse(cli, wrong);
	return fg_record_inside(cli, given, dump_signal_numbers[given->count.dump_signal],
				&exit_code, &err) == FG_OK
		       ? exit_code
		       : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_record = {
	.name = "record",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "profile one command, or a running process",
	.description =
		"Runs the command with the collector preloaded and leaves one trace per process "
		"image in a folder, which fastgate view, graph and export read. Needs no "
		"configuration, no special build and no root privileges.\n"
		"\n"
		"The exit code is the command's; 128 + N if signal N ended it. A program that "
		"cannot be sampled (set-user-id, built with a sanitizer) is refused before it "
		"starts.\n"
		"\n"
		"With --system every process on the machine and the kernel are sampled for "
		"--duration or until Ctrl-C; programs are the outermost level of the profile. "
		"This needs root, CAP_PERFMON or kernel.perf_event_paranoid below 1.\n"
		"\n"
		"With --pid a running process is sampled from outside for --duration, until "
		"Ctrl-C, or until the process ends. A statically linked command is sampled in the "
		"same way. Child processes are not sampled, and waiting threads only with --clock "
		"wall; samples become rarer if they would cost more than --budget.",
	.options = options,
	.options_size = sizeof(struct fg_recording),
	.arguments = arguments,
	.examples = examples,
	.takes_command = true,
	.run = run,
};
