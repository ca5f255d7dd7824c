// SPDX-License-Identifier: Apache-2.0
#include "cli/record/outcome.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "cli/profile/run_argument.h"
#include "cli/session/plan.h"
#include "profile/trace_profile.h"
#include "trace/trace_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

const char *fg_record_folder(const struct fg_recording *given)
{
	return given->output ? given->output : FG_CLI_RECORD_FOLDER;
}

/* ---- before the recording ---- */

/* Moves a file of a recording into the folder `to`, or removes it if `to` is NULL. */
static int clear_file(const char *path, const char *to, struct fg_error *err)
{
	char *kept = to ? fg_fs_join(to, fg_fs_base_name(path)) : NULL;
	int status = FG_OK;

	if (kept ? rename(path, kept) != 0 : unlink(path) != 0)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	free(kept);
	return status;
}

/* Moves or removes the traces of a recording and the file of --exact. */
static int clear_recording(const char *from, const char *to, struct fg_error *err)
{
	char *exact = fg_fs_join(from, FG_CLI_EXACT_FILE);
	char **paths = NULL;
	size_t count = 0;
	int status = fg_profile_list_traces(from, &paths, &count, err);

	for (size_t i = 0; status == FG_OK && i < count; i++)
		status = clear_file(paths[i], to, err);
	if (status == FG_OK && fg_fs_exists(exact))
		status = clear_file(exact, to, err);
	fg_fs_list_free(paths, count);
	free(exact);
	return status;
}

static bool has_recording(const char *folder)
{
	const bool is_exact = fg_fs_has(folder, FG_CLI_EXACT_FILE);
	char **paths = NULL;
	size_t count = 0;

	if (is_exact || fg_profile_list_traces(folder, &paths, &count, NULL) != FG_OK)
		return is_exact;
	fg_fs_list_free(paths, count);
	return count > 0;
}

/* Keeps the previous recording in FOLDER.old. */
static int put_aside(const char *folder, bool is_ours, struct fg_error *err)
{
	char *old = NULL;
	int status = FG_OK;

	if (!has_recording(folder))
		return FG_OK;
	old = fg_xasprintf("%s.old", folder);
	FG_TRY_OUT(fg_fs_make_folders(old, 0755, err));
	if (is_ours)
		fg_state_folder_make(old);
	status = clear_recording(old, NULL, err);
	if (status == FG_OK)
		status = clear_recording(folder, old, err);
out:
	free(old);
	return status;
}

/* Traces and callgrind's counts do not form one profile, so a folder never holds both kinds. */
static int refuse_exact(const char *folder, struct fg_error *err)
{
	return fg_fs_has(folder, FG_CLI_EXACT_FILE)
		       ? fg_error_set(
				 err, FG_EINVAL,
				 "%s holds a recording made with --exact, to which nothing can be "
				 "appended",
				 folder)
		       : FG_OK;
}

int fg_record_make_folder(const struct fg_recording *given, char **absolute, struct fg_error *err)
{
	const char *path = fg_record_folder(given);
	char *folder = NULL;
	int status = FG_OK;

	FG_TRY(fg_fs_make_folders(path, 0755, err));
	folder = realpath(path, NULL);
	if (!folder)
		return fg_error_errno(err, FG_EIO, "%s", path);
	if (!given->output)
		fg_state_folder_make(folder);
	if (given->append)
		status = refuse_exact(folder, err);
	else
		status = put_aside(folder, !given->output, err);
	if (status == FG_OK)
		*absolute = folder;
	else
		free(folder);
	return status;
}

/* ---- after the recording ---- */

struct totals {
	unsigned files;
	uint64_t samples;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t wall_ns;
	uint64_t losses[FG_LOSS_COUNT];
	struct fg_sample_cost cost;
	uint64_t budget;
	bool without_perf;
	int kernel_refused;
};

/*
 * Reads the header's counters, and truncates the file from its initial maximum size to its written
 * part. A file that is still in use keeps its size, because its process would not survive the
 * change.
 */
static void finish_file(void *context, const char *path)
{
	struct totals *totals = context;
	struct fg_trace_header header;
	struct stat status;
	const int fd = fg_trace_open(path, O_RDWR, &header);

	if (fd < 0)
		return;
	if (header.allocated >= FG_TRACE_HEADER_SIZE && fstat(fd, &status) == 0 &&
	    (off_t)header.allocated < status.st_size && !fg_fs_is_in_use(fd))
		(void)!ftruncate(fd, (off_t)header.allocated);
	(void)close(fd);
	fg_sample_cost_add(&totals->cost, &header);
	totals->budget = header.budget ? header.budget : totals->budget;
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

/* Losses that a reader of the profile should know about; `fastgate view` shows all losses. */
static const struct {
	enum fg_trace_loss cause;
	const char *text;
} loss_texts[] = {
	{FG_LOSS_NO_ROOM, "samples were lost because a trace or the disk was full"},
	{FG_LOSS_PATHS_FULL,
	 "samples have no call path, because there were too many different call paths"},
	{FG_LOSS_NO_CLOCK, "threads could not be sampled"},
	{FG_LOSS_MODULES_FULL, "libraries could not be distinguished, because there were too many"},
};

static const char *why_no_samples(const struct fg_recording *given, const struct totals *totals)
{
	if (totals->losses[FG_LOSS_NO_CLOCK])
		return "no clock could be opened for any thread";
	if (totals->losses[FG_LOSS_NO_ROOM])
		return "a trace or the disk was full";
	if (given->units)
		return "no unit of work with these numbers was started, or it was too short";
	if (given->paused)
		return "the program did not start sampling (fg_resume, __itt_resume)";
	if (given->attach.system)
		return "the machine was idle";
	if (given->attach.pid)
		return "the process used no CPU time";
	if (given->control)
		return "the control file turned sampling off, or the program used too little time";
	if (given->sample.delay_ns > 0)
		return "the program ended before --delay";
	return "the program used less time than one sampling period";
}

/* If starting the collector took at least this share of the CPU time, the cost is not reported. */
static const double start_to_report = 0.3;

/* Reports the share of CPU time spent on sampling, if the rate followed a budget. */
static void say_cost(const struct fg_cli *cli, const struct totals *totals)
{
	const struct fg_sample_cost *cost = &totals->cost;
	struct fg_sampling seen = {0};
	char signal[FG_NUMBER_TEXT_SIZE];
	char handler[FG_NUMBER_TEXT_SIZE];

	if (totals->budget == 0 || cost->signals_ns == 0 || cost->cpu_ns == 0)
		return;
	const double share = (double)fg_sample_cost_ns(cost) / (double)cost->cpu_ns;

	fg_sampling_learn(cost, &seen);
	(void)fg_format_duration(seen.signal_ns, signal);
	(void)fg_format_duration(seen.handler_ns, handler);
	if (seen.start_share >= start_to_report) {
		fg_cli_say(cli, "the program ran too briefly to measure the cost of its samples");
		return;
	}
	fg_cli_say(cli,
		   "%.0f samples a second cost about %.1f %% of the CPU time (budget %.3g %%): "
		   "on this host each signal costs %s, plus %s for the collector; starting the "
		   "collector cost %.1f %%",
		   (double)cost->samples * (double)FG_NS_PER_S / (double)cost->cpu_ns, 100 * share,
		   100.0 * (double)totals->budget / FG_BUDGET_WHOLE, signal, handler,
		   100 * seen.start_share);
}

/* If a smaller share of the time was spent in the kernel, nothing is printed about it. */
static const double kernel_share_to_report = 0.1;

/* Prints a line if much time was spent in the kernel but its functions cannot be seen. */
static void say_kernel_refused(const struct fg_cli *cli, const struct totals *totals, uint64_t ns)
{
	const double share = ns > 0 ? (double)totals->system_ns / (double)ns : 0;

	if ((totals->kernel_refused == EACCES || totals->kernel_refused == EPERM) &&
	    share >= kernel_share_to_report)
		fg_cli_say(cli,
			   "%.0f %% of the time was spent in the kernel: naming its functions "
			   "requires root, CAP_PERFMON, or kernel.perf_event_paranoid below 2",
			   100 * share);
}

static void say_totals(const struct fg_cli *cli, const struct totals *totals,
		       const struct fg_recording *given)
{
	const char *folder = fg_record_folder(given);
	char time[FG_NUMBER_TEXT_SIZE];
	const uint64_t ns = totals->wall_ns ? totals->wall_ns : totals->user_ns + totals->system_ns;

	if (given->count.measures) {
		fg_cli_say(cli, "counted %s in %u process image%s: %s", given->count.measures,
			   totals->files, totals->files == 1 ? "" : "s", folder);
		return;
	}
	if (fg_record_counts_calls(given)) {
		fg_record_say_calls(cli, folder);
		return;
	}
	fg_cli_say(cli, "%" PRIu64 " sample%s of %s %s in %u process image%s: %s", totals->samples,
		   totals->samples == 1 ? "" : "s", fg_format_duration((double)ns, time),
		   totals->wall_ns ? "elapsed time" : "CPU time", totals->files,
		   totals->files == 1 ? "" : "s", folder);
	say_cost(cli, totals);
	say_kernel_refused(cli, totals, ns);
	if (totals->samples == 0)
		fg_cli_say(cli, "no samples: %s", why_no_samples(given, totals));
	if (totals->without_perf)
		fg_cli_warn(cli, "the kernel refuses perf events here; a coarser timer was used");
	for (size_t i = 0; i < FG_ARRAY_SIZE(loss_texts); i++)
		if (totals->losses[loss_texts[i].cause])
			fg_cli_warn(cli, "%" PRIu64 " %s", totals->losses[loss_texts[i].cause],
				    loss_texts[i].text);
}

int fg_record_finish(struct fg_cli *cli, const struct fg_recording *given, const char *folder,
		     struct fg_error *err)
{
	const struct fg_option_list elsewhere = {0};
	struct totals totals = {0};

	FG_TRY(fg_fs_each(folder, finish_file, &totals, err));
	if (totals.files == 0) {
		fg_cli_warn(cli,
			    "no process left a trace in %s: if a program's dynamic linker ignores "
			    "LD_PRELOAD, 'fastgate record --pid' samples it from outside",
			    folder);
		return FG_OK;
	}
	say_totals(cli, &totals, given);
	return given->archive
		       ? fg_cli_archive_traces(cli, &elsewhere, fg_record_folder(given), NULL, err)
		       : FG_OK;
}
