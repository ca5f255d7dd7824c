// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "cli/record/options.h"
#include "cli/record/outcome.h"
#include "cli/record/recorded_command.h"
#include "profile/attach/machine.h"
#include "profile/attach/sampler.h"
#include "runner/execute/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	RATE_HZ = 100,        /* initial rate without --rate */
	RATE_MAX_HZ = 1000,   /* maximum rate without --rate */
	MACHINE_RATE_HZ = 99, /* not a multiple of 100 Hz, to avoid lockstep with 10 ms timers */
};

struct outside {
	const struct fg_record_sample *options;
	pid_t pid; /* 0: start the command, or sample the whole machine */
	const char *folder;
};

static int sample(const struct fg_cli *cli, const struct outside *given, pid_t pid,
		  struct fg_error *err)
{
	const struct fg_outside_sampling sampling = {
		.pid = pid,
		.folder = given->folder,
		.elapsed = given->options->clock == FG_SAMPLE_WALL,
		.period_ns =
			FG_NS_PER_S / (given->options->rate_hz ? given->options->rate_hz : RATE_HZ),
		.min_ns = given->options->rate_hz ? 0 : FG_NS_PER_S / RATE_MAX_HZ,
		.duration_ns = given->options->duration_ns,
		.budget = given->options->budget,
		.interrupted = given->pid ? cli->interrupted : NULL,
	};
	struct fg_outside_result result = {0};
	char pause[FG_NUMBER_TEXT_SIZE];

	FG_TRY(fg_outside_sample(&sampling, &result, err));
	if (result.stops)
		fg_cli_say(cli, "stopped threads %llu time%s; 99 %% of the stops lasted at most %s",
			   (unsigned long long)result.stops, result.stops == 1 ? "" : "s",
			   fg_format_duration((double)result.pause_p99_ns, pause));
	if (sampling.min_ns || result.period_ns > sampling.period_ns)
		fg_cli_say(cli,
			   "at the end, samples were taken every %.3g ms, as often as a budget of "
			   "%.3g %% allows",
			   (double)result.period_ns / (double)FG_NS_PER_MS,
			   100 * given->options->budget);
	return FG_OK;
}

/*
 * Starts a static program unmodified. Its exec closes the pipe, which marks the start of sampling.
 */
static int run_static(const struct fg_cli *cli, const struct outside *given, int *exit_code,
		      struct fg_error *err)
{
	struct fg_recorded recorded;
	int started[2];
	char nothing = 0;
	pid_t pid = -1;
	int status = FG_OK;

	if (pipe2(started, O_CLOEXEC) != 0)
		return fg_error_errno(err, FG_EIO, "cannot create a pipe");
	pid = fg_recorded_start(cli->arguments, NULL, &recorded);
	(void)close(started[1]);
	while (pid > 0 && read(started[0], &nothing, 1) < 0 && errno == EINTR)
		;
	(void)close(started[0]);
	if (pid < 0)
		return fg_error_errno(err, FG_EIO, "cannot start %s", cli->arguments[0]);
	status = sample(cli, given, pid, err);
	*exit_code = fg_recorded_await(pid, &recorded);
	return status;
}

bool fg_record_is_outside(const char *command)
{
	char *program = fg_fs_find_program(command);
	const bool found = program && fg_preload_is_outside(program);

	free(program);
	return found;
}

static int sample_machine(const struct fg_cli *cli, const struct outside *given,
			  struct fg_error *err)
{
	const struct fg_machine_sampling sampling = {
		.folder = given->folder,
		.period_ns = FG_NS_PER_S /
			     (given->options->rate_hz ? given->options->rate_hz : MACHINE_RATE_HZ),
		.duration_ns = given->options->duration_ns,
		.interrupted = cli->interrupted,
	};
	struct fg_machine_result result;

	FG_TRY(fg_machine_sample(&sampling, &result, err));
	if (!result.has_kernel_names)
		fg_cli_warn(cli, "functions of the kernel have no names: their addresses are "
				 "hidden from this user (kernel.kptr_restrict)");
	if (result.lost > 0)
		fg_cli_warn(cli, "%llu sample%s lost because the kernel's buffer was full",
			    (unsigned long long)result.lost, result.lost == 1 ? " was" : "s were");
	return FG_OK;
}

int fg_record_outside(struct fg_cli *cli, const struct fg_recording *options, int *exit_code,
		      struct fg_error *err)
{
	char *folder = NULL;
	int status = fg_record_make_folder(options, &folder, err);
	const struct outside given = {
		.options = &options->sample, .pid = (pid_t)options->attach.pid, .folder = folder};

	if (status != FG_OK)
		return status;
	if (options->attach.system)
		status = sample_machine(cli, &given, err);
	else if (options->attach.pid)
		status = sample(cli, &given, given.pid, err);
	else
		status = run_static(cli, &given, exit_code, err);
	if (status == FG_OK)
		status = fg_record_finish(cli, options, folder, err);
	free(folder);
	return status;
}
