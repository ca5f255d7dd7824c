// SPDX-License-Identifier: Apache-2.0
/*
 * Run one command with the collector preloaded and leave the traces in a folder. The command keeps
 * our terminal, our streams and our process group, so that it behaves as it would without us. A key
 * that interrupts reaches both; a signal sent to us alone is forwarded to the command and to the
 * processes that it leaves running. Our exit code is the command's.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/framework/command.h"
#include "cli/record/attach.h"
#include "cli/record/counted_calls.h"
#include "cli/record/kernel_functions.h"
#include "cli/record/recorded_command.h"
#include "cli/session/traces.h"
#include "collector/trace_format.h"
#include "runner/control_file.h"
#include "runner/entry_plan.h"
#include "runner/preload.h"
#include "runner/sample_price.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN_NAME "entries.plan"

struct options {
	unsigned pid;
	bool system;
	unsigned rate_hz;
	double budget;
	int clock;
	int kernel;
	bool no_follow;
	int64_t delay_ns;
	int64_t duration_ns;
	const char *units;
	const char *control;
	int dump_signal;
	uint32_t temporary;
	bool paused;
	int python;
	const char *measures;
	const char *calls;
	const char *domains;
	bool entries;
	bool times;
	unsigned values;
	unsigned value_bits;
	const char *output;
	bool append;
	bool archive;
};

/* As enum fg_sample_clock numbers them. */
static const char *const clocks[] = {"cpu", "wall", "exact", NULL};
/* As enum fg_python_frames numbers them. */
static const char *const pythons[] = {"auto", "off", NULL};

/* As enum fg_kernel_functions numbers them. */
static const char *const kernel_modes[] = {"auto", "off", NULL};

/* Signals that ask for a dump, by their numbers; a program that uses one chooses another. */
static const char *const dump_signals[] = {"none", "hup",   "quit", "usr1", "usr2",
					   "urg",  "winch", "io",   "pwr",  NULL};
static const int dump_signal_numbers[] = {0,      SIGHUP,   SIGQUIT, SIGUSR1, SIGUSR2,
					  SIGURG, SIGWINCH, SIGIO,   SIGPWR};

static const struct fg_option options[] = {
	{.name = "pid",
	 .letter = 'p',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, pid),
	 .argument = "PID",
	 .minimum = 1,
	 .maximum = INT32_MAX,
	 .help = "sample this process, which runs already, from outside; without CMD"},
	FG_ROW_FLAG(struct options, system, "system", 0,
		    "sample every process on the machine and the kernel; without CMD"),
	{.name = "rate",
	 .letter = 'r',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, rate_hz),
	 .argument = "HZ",
	 .minimum = 1,
	 .maximum = 50000,
	 .help = "samples per second of CPU time (default: as many as --budget allows), or of "
		 "elapsed time with --clock wall or from outside (default 100)"},
	{.name = "budget",
	 .kind = FG_OPTION_RATIO,
	 .offset = offsetof(struct options, budget),
	 .argument = "SHARE",
	 .initial = "3%",
	 .minimum = 0.0001,
	 .maximum = 0.5,
	 .help = "the share of the CPU time that sampling may cost, without --rate or from outside"},
	FG_ROW_CHOICE(
		struct options, clock, "clock", 'c', "CLOCK", clocks, "cpu",
		"what is sampled: time on a CPU; elapsed time, waiting included; or (exact) time on a CPU with system time where it is spent, though calls may be cut short"),
	FG_ROW_CHOICE(
		struct options, kernel, "kernel", 0, "MODE", kernel_modes, "auto",
		"name the kernel's functions where system time is spent, if the kernel may be sampled"),
	FG_ROW_FLAG(struct options, no_follow, "no-follow", 0, "leave child processes alone"),
	FG_ROW_DURATION(struct options, delay_ns, "delay", NULL,
			"take no sample before this time, from the start of each process"),
	FG_ROW_DURATION(struct options, duration_ns, "duration", NULL,
			"stop sampling after this time"),
	FG_ROW_TEXT(struct options, units, "units", 0, "FIRST-LAST",
		    "take samples from the begin of one unit of work to the end of another, by "
		    "their numbers"),
	FG_ROW_FILE(struct options, control, "control", 0,
		    "make this file; no samples are taken while its first byte is 0 (`echo 0 > "
		    "FILE`), and each line 'dump' appended to it asks for a dump of what is held "
		    "(--measure heap, fd)"),
	FG_ROW_CHOICE(struct options, dump_signal, "dump-signal", 0, "SIGNAL", dump_signals, "none",
		      "this signal, sent to the program, asks for a dump of what is held"),
	FG_ROW_FLAG(struct options, paused, "paused", 0,
		    "take no samples until the program asks for it (fg_resume, __itt_resume)"),
	FG_ROW_CHOICE(struct options, python, "python", 0, "WHICH", pythons, "auto",
		      "show the functions of Python programs (3.11 to 3.13) in place of the "
		      "interpreter's, or (off) the interpreter's own"),
	FG_ROW_TEXT(struct options, measures, "measure", 'm', "NAMES",
		    "count events by call path instead of sampling time: heap, allocations (the "
		    "heap without what is held), frees, sizes, lifetimes, fd, maps, io, throws, "
		    "locks; or several, between commas"),
	FG_ROW_COUNT(struct options, temporary, "temporary", 0, UINT32_MAX, NULL,
		     "with --measure heap: a block is temporary if it is given back before its "
		     "thread makes N more (default: before the thread does anything else)"),
	FG_ROW_TEXT(struct options, calls, "calls", 0, "PATTERNS",
		    "count the calls of these functions instead of sampling time: "
		    "'exp,log@libm,Parser::*'"),
	FG_ROW_TEXT(struct options, domains, "domains", 0, "PATTERNS",
		    "the same, and look at their arguments: 'libm' is all of the mathematical "
		    "library, 'fit=double(double,int)' a function of the program's libraries"),
	FG_ROW_FLAG(struct options, entries, "entries", 0,
		    "with --calls or --domains: calls within an object, too, by jumps that are "
		    "written at the entries of its functions where that is proved to be safe"),
	FG_ROW_FLAG(struct options, times, "times", 0,
		    "with --calls or --domains: how long each call takes, too"),
	FG_ROW_COUNT(struct options, values, "values", 0, 1000000000, NULL,
		     "with --domains: keep the arguments themselves of one of N calls, 1 for all; "
		     "fastgate export -F npz writes them"),
	FG_ROW_COUNT(struct options, value_bits, "precision", 0, 52, NULL,
		     "with --values: keep this many bits of a number's mantissa (default: all 52)"),
	FG_ROW_NAME(struct options, output, "output", 'o', "FOLDER", FG_COMPLETE_FOLDER,
		    "where the traces go; made if it is not there (default: fastgate-record)"),
	FG_ROW_FLAG(struct options, append, "append", 0,
		    "keep the traces of earlier recordings in the folder: all are one profile"),
	FG_ROW_FLAG(struct options, archive, "archive", 0,
		    "then write FOLDER.tar.zst, with all that another host needs to show it"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "CMD",
	 .help = "the command and its arguments; none with --pid",
	 .complete = FG_COMPLETE_PROGRAM},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate record -- ./reco --events 200 sample.bin",
	 "profile one command; then: fastgate view fastgate-record"},
	{"fastgate record --pid 4711 --duration 20s",
	 "what does that server do?  It goes on as if nothing had happened"},
	{"fastgate record --system --duration 20s && fastgate view -V top-down",
	 "what does this machine do?"},
	{"fastgate record --clock wall -- ./server --once", "where does it wait?"},
	{"fastgate record --measure heap -- ./reco",
	 "who allocates? then: fastgate view fastgate-record --measure heap.bytes"},
	{"fastgate record --measure heap,io -- ./reco",
	 "who reads and writes, too? then: fastgate view fastgate-record --measure io.calls"},
	{"fastgate record --calls 'exp,log,sin@libm' -- ./reco",
	 "how often, and from where? then: fastgate view fastgate-record --measure calls.exp"},
	{"fastgate record --calls 'Parser::*' --entries -- ./reco",
	 "calls within the program, too"},
	{"fastgate record --domains libm -- ./reco",
	 "with which arguments? then: fastgate view fastgate-record -V domains"},
	{"fastgate record --calls 'Parser::*' --times -- ./reco",
	 "how long do they take? then: fastgate view fastgate-record -V times"},
	{"fastgate record --units 5000-15000 -- ./reco",
	 "events 5000 to 15000 of a program marked with fg_unit_begin()"},
	{NULL, NULL},
};

static const char *folder_of(const struct options *given)
{
	return given->output ? given->output : FG_CLI_RECORD_FOLDER;
}

/* ---- before ---- */

/*
 * Only the traces of an earlier recording are removed from the folder, and those may stay: then all
 * are one profile.
 */
static int make_folder(const struct options *given, char **absolute, struct fg_error *err)
{
	const char *path = folder_of(given);
	char **names = NULL;
	size_t count = 0;
	int status = fg_fs_make_folders(path, 0755, err);

	if (status == FG_OK)
		status = fg_fs_list(path, &names, &count, err);
	for (size_t i = 0; status == FG_OK && !given->append && i < count; i++) {
		const size_t size = strlen(names[i]);
		const size_t suffix = strlen(FG_TRACE_SUFFIX);

		if (size <= suffix || strcmp(names[i] + size - suffix, FG_TRACE_SUFFIX) != 0)
			continue;
		char *old = fg_fs_join(path, names[i]);

		if (unlink(old) != 0)
			status = fg_error_errno(err, FG_EIO, "%s", old);
		free(old);
	}
	fg_fs_list_free(names, count);
	if (status != FG_OK)
		return status;
	if (!(*absolute = realpath(path, NULL)))
		status = fg_error_errno(err, FG_EIO, "%s", path);
	return status;
}

/* ---- the command ---- */

static int run_command(char *const *argv, const struct fg_preload *preload,
		       struct fg_control_file *control, int *exit_code, struct fg_error *err)
{
	struct fg_recorded recorded;
	char *variables[FG_PRELOAD_VARIABLES_MAX];
	const size_t count = fg_preload_variables(preload, environ, variables);
	const pid_t pid = fg_recorded_start(argv, variables, &recorded);

	for (size_t i = 0; i < count; i++)
		free(variables[i]);
	if (pid < 0)
		return fg_error_errno(err, FG_EIO, "cannot start %s", argv[0]);
	/* Not before: a child that is forked beside a thread may do little. */
	fg_control_file_watch(control);
	*exit_code = fg_recorded_await(pid, &recorded);
	return FG_OK;
}

static bool counts_calls(const struct options *given)
{
	return given->calls || given->domains;
}

static bool counts_events(const struct options *given)
{
	return given->measures || counts_calls(given);
}

/* The options that only the library inside a program can follow. */
static const char *only_inside(const struct options *given)
{
	if (given->clock == FG_SAMPLE_EXACT || (given->clock != 0 && given->system))
		return given->system ? "--clock" : "--clock exact";
	if (given->kernel != 0)
		return "--kernel";
	if (given->delay_ns > 0)
		return "--delay";
	if (given->units)
		return "--units";
	if (given->control)
		return "--control";
	if (given->dump_signal)
		return "--dump-signal";
	if (given->temporary > 0)
		return "--temporary";
	if (given->measures)
		return "--measure";
	if (given->calls)
		return "--calls";
	if (given->domains)
		return "--domains";
	if (given->entries)
		return "--entries";
	if (given->python && given->system)
		return "--python";
	return given->paused ? "--paused" : NULL;
}

/* ---- after ---- */

struct totals {
	unsigned files;
	uint64_t samples;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t wall_ns;
	uint64_t losses[FG_LOSS_COUNT];
	struct fg_sample_costs costs;
	bool without_perf;
	int kernel_refused;
};

/*
 * Read the counters of the header, and cut the file to what was written: it was created as large as
 * it could become.  A process that the command has left running would not survive that.
 */
static void finish_file(const char *path, struct totals *totals)
{
	struct fg_trace_header header;
	struct stat status;
	/* The command may have put links, pipes or devices there. */
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	    memcmp(header.magic, FG_TRACE_MAGIC, sizeof(header.magic)) == 0) {
		if (header.allocated >= FG_TRACE_HEADER_SIZE &&
		    (off_t)header.allocated < status.st_size && !fg_fs_is_in_use(fd))
			(void)!ftruncate(fd, (off_t)header.allocated);
		totals->files++;
		totals->samples += header.samples;
		totals->user_ns += header.user_ns;
		totals->system_ns += header.system_ns;
		totals->wall_ns += header.wall_ns;
		totals->without_perf |= header.perf_errno != 0;
		if (header.kernel_errno)
			totals->kernel_refused = (int)header.kernel_errno;
		for (unsigned i = 0; i < FG_LOSS_COUNT; i++)
			totals->losses[i] += header.losses[i];
	}
	(void)close(fd);
}

static int finish_files(const char *folder, struct totals *totals, struct fg_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = fg_fs_list(folder, &names, &count, err);

	for (size_t i = 0; status == FG_OK && i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);

		finish_file(path, totals);
		free(path);
	}
	fg_fs_list_free(names, count);
	fg_sample_costs_add(folder, &totals->costs);
	return status;
}

/* Losses that a reader of the profile should know about; `fastgate view` shows the others. */
static const struct {
	enum fg_trace_loss cause;
	const char *text;
} told[] = {
	{FG_LOSS_NO_ROOM, "samples lost because a trace was full, or the disk"},
	{FG_LOSS_PATHS_FULL, "samples without a stack: too many different call paths"},
	{FG_LOSS_NO_CLOCK, "threads could not be sampled"},
	{FG_LOSS_MODULES_FULL, "libraries beyond what can be told apart"},
};

static const char *why_no_samples(const struct options *given, const struct totals *totals)
{
	if (totals->losses[FG_LOSS_NO_CLOCK])
		return "no clock could be opened for any thread";
	if (totals->losses[FG_LOSS_NO_ROOM])
		return "there was no room for them";
	if (given->units)
		return "no unit of work with these numbers was begun, or it was too short";
	if (given->paused)
		return "the program did not ask for them (fg_resume, __itt_resume)";
	if (given->system)
		return "the machine was idle";
	if (given->pid)
		return "the process used no CPU time";
	if (given->control)
		return "the control file said so, or too little time was used";
	if (given->delay_ns > 0)
		return "the program ended before --delay";
	return "less time was used than passes between two samples";
}

/* Above this share it is the collector's start in a program of milliseconds, not the samples. */
static const double most_cost_to_tell = 0.3;

static const double start_to_tell = 0.001; /* share of the CPU time */

/* How short the program is, and how often it leaves its CPU, is only known now. */
static void say_lower_rate(const struct fg_cli *cli, const struct fg_sampling *seen)
{
	struct fg_sampling better = *seen;
	struct fg_strbuf parts = {0};

	fg_sampling_settle(&better, seen->budget);
	if (better.rate_hz < seen->rate_hz / 1.2 && better.expected_cost <= seen->budget) {
		if (seen->start_share >= start_to_tell)
			fg_strbuf_printf(&parts, "the collector's start takes %.1f %%; ",
					 100 * seen->start_share);
		if (fg_sampling_switch_ns(seen, seen->rate_hz) > 0 && seen->switches_hz >= 1)
			fg_strbuf_printf(&parts, "%.0f context switches a second take part of it; ",
					 seen->switches_hz);
		fg_cli_say(cli, "%s--rate %.0f stays within the budget", fg_strbuf_text(&parts),
			   better.rate_hz);
	}
	fg_strbuf_release(&parts);
}

/* What sampling took of the CPU time that was measured: chosen beforehand, known now. */
static void say_cost(const struct fg_cli *cli, const struct totals *totals,
		     const struct fg_sampling *chosen)
{
	struct fg_sampling seen = *chosen;
	char signal[FG_NUMBER_TEXT_SIZE];
	char handler[FG_NUMBER_TEXT_SIZE];
	double cost = 0;

	if (!(chosen->budget > 0) || totals->samples == 0 || totals->wall_ns)
		return;
	fg_sample_costs_learn(&totals->costs, &seen);
	cost = fg_sampling_cost(&seen, seen.rate_hz);
	(void)fg_format_duration(seen.signal_ns, signal);
	(void)fg_format_duration(seen.handler_ns, handler);
	if (cost >= most_cost_to_tell) {
		fg_cli_say(cli,
			   "%.0f samples a second: the program is too short to say what they cost; "
			   "a signal takes %s here, the collector %s",
			   chosen->rate_hz, signal, handler);
		return;
	}
	fg_cli_say(cli,
		   "%.0f samples a second cost about %.1f %% of that (budget %.3g %%): a signal "
		   "takes %s here, the collector %s",
		   chosen->rate_hz, 100 * cost, 100 * chosen->budget, signal, handler);
	say_lower_rate(cli, &seen);
}

static void say_totals(const struct fg_cli *cli, const struct totals *totals,
		       const struct options *given, const struct fg_sampling *chosen)
{
	const char *folder = folder_of(given);
	char time[FG_NUMBER_TEXT_SIZE];
	const uint64_t ns = totals->wall_ns ? totals->wall_ns : totals->user_ns + totals->system_ns;

	if (given->measures) {
		fg_cli_say(cli, "counted %s in %u process image%s: %s", given->measures,
			   totals->files, totals->files == 1 ? "" : "s", folder);
		return;
	}
	if (counts_calls(given)) {
		fg_cli_say_calls(cli, folder);
		return;
	}
	fg_cli_say(cli, "%" PRIu64 " sample%s of %s %s in %u process image%s: %s", totals->samples,
		   totals->samples == 1 ? "" : "s", fg_format_duration((double)ns, time),
		   totals->wall_ns ? "elapsed time" : "CPU time", totals->files,
		   totals->files == 1 ? "" : "s", folder);
	say_cost(cli, totals, chosen);
	fg_cli_say_kernel_refused(
		cli, &(struct fg_cli_kernel_time){
			     .share = ns > 0 ? (double)totals->system_ns / (double)ns : 0,
			     .refused = totals->kernel_refused});
	if (totals->samples == 0)
		fg_cli_say(cli, "no samples: %s", why_no_samples(given, totals));
	if (totals->without_perf)
		fg_cli_warn(cli, "the kernel refuses perf events here; a coarser timer was used");
	for (size_t i = 0; i < FG_ARRAY_SIZE(told); i++)
		if (totals->losses[told[i].cause])
			fg_cli_warn(cli, "%" PRIu64 " %s", totals->losses[told[i].cause],
				    told[i].text);
}

/* Never rounded down to zero, which would mean no limit. */
static uint64_t whole_ms(int64_t ns)
{
	return (uint64_t)((ns + FG_NS_PER_MS - 1) / FG_NS_PER_MS);
}

/* How often to sample; zero is the collector's own default. */
static void choose_rate(const struct options *given, struct fg_sampling *sampling)
{
	*sampling = (struct fg_sampling){.rate_hz = given->rate_hz};
	if (given->rate_hz || given->clock == FG_SAMPLE_WALL || counts_events(given))
		return;
	fg_sampling_price(sampling);
	fg_sampling_settle(sampling, given->budget);
}

static bool is_countable(const char *name, size_t length)
{
	for (const char *const *word = fg_recordable; *word; word++)
		if (strlen(*word) == length && strncmp(*word, name, length) == 0)
			return true;
	return false;
}

static int check_measures(const char *measures, struct fg_error *err)
{
	while (measures && *measures) {
		const size_t length = strcspn(measures, ",");

		if (!is_countable(measures, length)) {
			char *words = fg_text_join(fg_recordable, ", ");

			(void)fg_error_set(err, FG_EINVAL,
					   "--measure: '%.*s' cannot be counted: expected %s",
					   (int)length, measures, words);
			free(words);
			return FG_EINVAL;
		}
		measures += length + (measures[length] == ',');
	}
	return FG_OK;
}

/* In place of the plain library, the one that counts. */
static int take_counting(const struct options *given, char **library, struct fg_error *err)
{
	char *counting = NULL;
	const int status = counts_calls(given)
				   ? fg_preload_calls_library(*library, &counting, err)
				   : fg_preload_counting_library(*library, &counting, err);

	if (status != FG_OK)
		return status;
	free(*library);
	*library = counting;
	return FG_OK;
}

/* Which entries of functions can have jumps, in a file among the traces. */
static int make_plan(const struct options *given, const char *command, const char *folder,
		     char **path, struct fg_error *err)
{
	const struct fg_entry_plan plan = {.program = command};

	if (!given->entries)
		return FG_OK;
	*path = fg_fs_join(folder, PLAN_NAME);
	return fg_entry_plan_write(&plan, *path, err);
}

static int prepare(const struct options *given, const char *command,
		   const struct fg_sampling *sampling, struct fg_preload *preload, char *owned[3],
		   struct fg_error *err)
{
	/* For a program named by its path, the check says what is wrong with it. */
	char *program = strchr(command, '/') ? fg_xstrdup(command) : fg_fs_find_program(command);
	int status = FG_OK;

	if (!program)
		return fg_error_set(err, FG_ENOENT, "there is no program '%s'", command);
	status = fg_preload_library(&owned[0], err);
	if (status != FG_OK)
		goto out;
	status = fg_preload_check(program, owned[0], err);
	if (status != FG_OK)
		goto out;
	if (counts_events(given))
		status = take_counting(given, &owned[0], err);
	if (status != FG_OK)
		goto out;
	status = make_folder(given, &owned[1], err);
	if (status != FG_OK)
		goto out;
	status = make_plan(given, command, owned[1], &owned[2], err);
	if (status != FG_OK)
		goto out;
	*preload = (struct fg_preload){
		.library = owned[0],
		.trace_folder = owned[1],
		.clock = counts_events(given) ? FG_SAMPLE_NOTHING
					      : (enum fg_sample_clock)given->clock,
		.kernel = (enum fg_kernel_functions)given->kernel,
		.period_ns = sampling->rate_hz > 0
				     ? (uint64_t)((double)FG_NS_PER_S / sampling->rate_hz)
				     : 0,
		.signal_ns = (uint64_t)sampling->signal_ns,
		.switch_ns = (uint64_t)fg_sampling_switch_ns(sampling, sampling->rate_hz),
		.follow_children = !given->no_follow,
		.delay_ms = whole_ms(given->delay_ns),
		.duration_ms = whole_ms(given->duration_ns),
		.counters = given->measures,
		.units = given->units,
		.dump_signal = dump_signal_numbers[given->dump_signal],
		.temporary = given->temporary,
		.paused = given->paused,
		.no_python = given->python == FG_PYTHON_OFF,
		.calls = given->calls,
		.domains = given->domains,
		.entries = owned[2],
		.call_times = given->times,
		.values = given->values,
		.value_bits = given->value_bits,
	};
out:
	free(program);
	return status;
}

static int end(struct fg_cli *cli, const char *folder, const struct totals *totals,
	       const struct options *given, const struct fg_sampling *chosen, struct fg_error *err)
{
	const struct fg_option_list elsewhere = {0};

	if (totals->files == 0) {
		fg_cli_warn(cli, "no process left a trace in %s", folder);
		return FG_OK;
	}
	say_totals(cli, totals, given, chosen);
	if (!given->archive)
		return FG_OK;
	return fg_cli_archive_traces(cli, &elsewhere, folder_of(given), NULL, err);
}

/* --pid, --system, or a command that is linked statically. */
static int run_outside(struct fg_cli *cli, const struct options *given)
{
	struct fg_error err = {0};
	struct totals totals = {0};
	const struct fg_sampling unchosen = {0};
	char *folder = NULL;
	int exit_code = FG_EXIT_PASS;
	int status = FG_OK;

	if (only_inside(given) && !given->pid && !given->system)
		return fg_cli_usage(cli,
				    "'%s' is linked statically: it can only be sampled from "
				    "outside, where %s is not possible",
				    cli->arguments[0], only_inside(given));
	if (only_inside(given))
		return fg_cli_usage(cli, "%s is not possible from outside of a program",
				    only_inside(given));
	if (given->pid || given->system)
		fg_cli_catch_stops();
	status = make_folder(given, &folder, &err);
	if (status != FG_OK)
		goto out;
	status = fg_record_outside(
		cli,
		&(struct fg_record_outside){.is_machine = given->system,
					    .pid = (pid_t)given->pid,
					    .rate_hz = given->rate_hz,
					    .elapsed = given->clock == FG_SAMPLE_WALL,
					    .no_python = given->python == FG_PYTHON_OFF,
					    .duration_ns = given->duration_ns,
					    .budget = given->budget,
					    .folder = folder},
		&exit_code, &err);
	if (status != FG_OK)
		goto out;
	status = finish_files(folder, &totals, &err);
	if (status != FG_OK)
		goto out;
	status = end(cli, folder, &totals, given, &unchosen, &err);
out:
	if (status != FG_OK)
		exit_code = fg_cli_fail(cli, &err);
	free(folder);
	return exit_code;
}

/* What is to be recorded is one of three: a command, --pid, --system. */
static const char *contradiction(const struct options *given, size_t words)
{
	if (given->pid && given->system)
		return "--pid and --system exclude each other";
	if (given->pid && words > 0)
		return "--pid and a command exclude each other";
	if (given->system && words > 0)
		return "--system and a command exclude each other";
	return given->pid || given->system || words > 0 ? NULL : "the command to record is missing";
}

static const char *counting_contradiction(const struct options *given)
{
	if (given->entries && !counts_calls(given))
		return "--entries needs --calls or --domains: the functions whose calls are counted";
	if (given->entries && given->times)
		return "--entries cannot see the end of a call, which --times needs: record one "
		       "after the other";
	if (given->times && !counts_calls(given))
		return "--times needs --calls or --domains: the functions whose calls are timed";
	if (given->values > 0 && !given->domains)
		return "--values needs --domains: the functions whose arguments are kept";
	if (given->value_bits > 0 && given->values == 0)
		return "--precision needs --values";
	if (given->measures && counts_calls(given))
		return "--measure counts by other means than --calls and --domains: record them "
		       "one after the other";
	if (given->dump_signal && !given->measures)
		return "--dump-signal needs --measure heap or fd: what is held is counted there";
	if (given->temporary > 0 && !given->measures)
		return "--temporary needs --measure heap";
	return NULL;
}

/* What is wrong with the options; NULL: nothing. */
static char *mistake(const struct fg_cli *cli, const struct options *given)
{
	const char *wrong = contradiction(given, cli->argument_count);

	if (given->units && !fg_preload_units_valid(given->units))
		return fg_xasprintf(
			"--units wants FIRST-LAST, two numbers, the second not smaller; got '%s'",
			given->units);
	return wrong ? fg_xstrdup(wrong) : NULL;
}

/* And where it is recorded from within. */
static char *mistake_within(const struct options *given)
{
	const char *wrong = counting_contradiction(given);

	if (!wrong && counts_events(given) &&
	    (given->clock || given->delay_ns || given->duration_ns || given->rate_hz))
		return fg_xasprintf("%s counts every event: --rate, --clock, --delay and "
				    "--duration do not apply",
				    given->calls     ? "--calls"
				    : given->domains ? "--domains"
						     : "--measure");
	return wrong ? fg_xstrdup(wrong) : NULL;
}

static int refuse(struct fg_cli *cli, char *wrong)
{
	const int exit_code = fg_cli_usage(cli, "%s", wrong);

	free(wrong);
	return exit_code;
}

static int open_control(const struct options *given, struct fg_control_file **control,
			struct fg_preload *preload, struct fg_error *err)
{
	int status = FG_OK;

	if (!given->control)
		return FG_OK;
	status = fg_control_file_open(given->control, control, err);
	if (status != FG_OK)
		return status;
	preload->control = fg_control_file_page(*control);
	return FG_OK;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	char *wrong = mistake(cli, given);
	struct fg_preload preload = {0};
	struct fg_error err = {0};
	struct totals totals = {0};
	struct fg_sampling sampling;
	struct fg_control_file *control = NULL;
	char *owned[3] = {NULL, NULL, NULL};
	int exit_code = FG_EXIT_INTERNAL;
	int status;

	if (wrong)
		return refuse(cli, wrong);
	if (given->pid || given->system || fg_record_is_static(cli->arguments[0]))
		return run_outside(cli, given);
	wrong = mistake_within(given);
	if (wrong)
		return refuse(cli, wrong);
	status = check_measures(given->measures, &err);
	if (status != FG_OK)
		goto out;
	fg_preload_warm();
	choose_rate(given, &sampling);
	status = prepare(given, cli->arguments[0], &sampling, &preload, owned, &err);
	if (status != FG_OK)
		goto out;
	status = open_control(given, &control, &preload, &err);
	if (status != FG_OK)
		goto out;
	status = run_command(cli->arguments, &preload, control, &exit_code, &err);
	if (owned[2])
		(void)unlink(owned[2]);
	if (status != FG_OK)
		goto out;
	fg_cli_name_kernel_functions(cli, owned[1]);
	status = finish_files(owned[1], &totals, &err);
	if (status != FG_OK)
		goto out;
	status = end(cli, owned[1], &totals, given, &sampling, &err);
out:
	if (status != FG_OK)
		exit_code = fg_cli_fail(cli, &err);
	fg_control_file_close(control);
	for (size_t i = 0; i < FG_ARRAY_SIZE(owned); i++)
		free(owned[i]);
	return exit_code;
}

const struct fg_cli_command fg_cmd_record = {
	.name = "record",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "profile one command, or a process that runs",
	.description =
		"Runs the command with the collector preloaded and leaves one trace per process "
		"image in a folder, which fastgate view, graph and export read. Needs no "
		"configuration, no special build and no root.\n\n"
		"The exit code is the command's; 128 + N if signal N ended it. A program that "
		"cannot be sampled (set-user-id, built with a sanitizer) is refused before it "
		"starts.\n\n"
		"With --system every process on the machine and the kernel are sampled for "
		"--duration or until Ctrl-C; programs are the outermost level of the profile. It "
		"takes root, CAP_PERFMON or kernel.perf_event_paranoid below 1.\n\n"
		"With --pid a process that runs already is sampled from outside for --duration, "
		"or until it ends or Ctrl-C; so is a command that is linked statically. Threads "
		"that wait are left alone (with --clock wall they are looked at, too), child "
		"processes as well, and sampling slows down rather than cost more than --budget.",
	FG_CLI_TABLES,
	.takes_command = true,
	.run = run,
};
