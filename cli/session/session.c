// SPDX-License-Identifier: Apache-2.0
#include "cli/session/session.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/version.h"
#include "binary/symbolizer.h"
#include "profile/attach/kernel_traces.h"
#include "runner/facts/affected.h"
#include "runner/facts/host.h"
#include "runner/guard.h"

int fg_session_init(struct fg_session *session, struct fg_cli *cli, const struct fg_plan *plan,
		    struct fg_error *err)
{
	int status = FG_OK;

	*session = (struct fg_session){.cli = cli, .plan = plan, .progress = {.cli = cli}};
	fg_run_init(&session->run);
	status = fg_random_uuid(session->run.id, err);
	if (status != FG_OK)
		return status;
	status = fg_random_bytes(&session->run.seed, sizeof(session->run.seed), err);
	if (status != FG_OK)
		return status;
	/* JSON carries whole numbers up to 2^53. */
	session->run.seed &= (UINT64_C(1) << 53) - 1;
	session->run.project = fg_xstrdup(plan->project ? plan->project : "");
	session->run.tool_version = fg_xstrdup(fg_version());
	session->run.started_ns = fg_clock_wall_ns();
	fg_host_capture("", &session->run.host);
	return FG_OK;
}

int fg_session_open_store(struct fg_session *session, struct fg_error *err)
{
	char *path = fg_fs_join(session->plan->root, session->plan->store_path);
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status == FG_OK)
		status = fg_store_open(path, 0, &session->store, err);
	session->store_path = path;
	free(folder);
	return status;
}

static void release_profiles(struct fg_session *session)
{
	for (size_t i = 0; i < session->profile_count; i++) {
		if (session->profiles[i])
			fg_profile_set_release(session->profiles[i]);
		free(session->profiles[i]);
	}
	free(session->profiles);
	session->profiles = NULL;
	session->profile_count = 0;
}

void fg_session_release(struct fg_session *session)
{
	fg_progress_clear(&session->progress);
	release_profiles(session);
	fg_affected_free(session->affected);
	fg_symbolizer_free(session->symbolizer);
	if (session->kernel)
		fg_kernel_naming_release(session->kernel);
	free(session->kernel);
	free(session->cache_folder);
	fg_verdict_release(&session->verdict);
	fg_run_release(&session->run);
	fg_store_close(session->store);
	free(session->store_path);
	*session = (struct fg_session){0};
}

void fg_session_take_profiles(struct fg_session *session, struct fg_stored_run *stored)
{
	release_profiles(session);
	session->profiles = stored->profiles;
	session->profile_count = stored->profiles ? stored->run.series_count : 0;
	stored->profiles = NULL;
}

void fg_session_take_run(struct fg_session *session, struct fg_stored_run *stored)
{
	fg_session_take_profiles(session, stored);
	fg_run_release(&session->run);
	session->run = stored->run;
	stored->run = (struct fg_run){0};
}

bool fg_session_guard(const struct fg_cli *cli, int *exit_code)
{
	struct fg_guard_end end = {0};
	struct fg_error err = {0};
	bool is_worker = true;

	if (fg_guard_split(&is_worker, &end, &err) != FG_OK) {
		fg_cli_warn(cli, "this run has no guard process: %s", err.message);
		return true;
	}
	if (is_worker)
		return true;
	if (end.exited) {
		*exit_code = end.exit_code;
	} else {
		fg_cli_warn(cli,
			    "ended by signal %d (%s); finished repetitions are kept, --resume goes "
			    "on with them",
			    end.signal,
			    sigabbrev_np(end.signal) ? sigabbrev_np(end.signal) : "unknown");
		*exit_code = FG_EXIT_INTERNAL;
	}
	return false;
}
