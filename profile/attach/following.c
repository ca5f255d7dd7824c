// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/following.h"

#include "base/clock.h"
#include "profile/attach/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	POLL_US = 100,
	EVENT_SHIFT = 16,
};

/* All that is traced is traced by one thread. */
struct tracer {
	struct fg_following *following;
	bool is_enough;
	int status;
	struct fg_error err;
};

/* A tracee has stopped: it goes on, unless enough was seen. */
static void handle_stop(struct tracer *tracer, pid_t tid, int status, struct fg_pids *known)
{
	const struct fg_following *following = tracer->following;
	int signal = WSTOPSIG(status);
	const bool is_new = !fg_pids_contain(known, tid);

	if (is_new)
		fg_pids_add(known, tid);
	if (status >> EVENT_SHIFT || signal == SIGTRAP || (is_new && signal == SIGSTOP))
		signal = 0;
	tracer->is_enough = following->on_stop(following->context, tid, status, signal);
	if (!tracer->is_enough)
		(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal);
}

/* A traced thread is gone only when its tracer has waited for it. */
static void end_all(pid_t root, const struct fg_pids *known)
{
	pid_t tid = -1;
	int status = 0;

	(void)kill(-root, SIGKILL);
	for (size_t i = 0; i < known->count; i++)
		(void)kill(known->items[i], SIGKILL);
	while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD)) > 0 ||
	       (tid < 0 && errno == EINTR)) {
		if (tid > 0 && WIFSTOPPED(status))
			(void)kill(tid, SIGKILL);
	}
}

/*
 * Has the program itself ended?  It is left to be reaped by whoever started it.  A traced one
 * reports its stops here, too.
 */
static bool has_ended(struct fg_following *following, pid_t root)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)root, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != root || info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	following->exited = info.si_code == CLD_EXITED;
	following->exit_code = info.si_status;
	return true;
}

static void follow(struct tracer *tracer, pid_t root)
{
	struct fg_following *following = tracer->following;
	const struct fg_process_options *options = &following->options;
	const int64_t until_ns = fg_clock_monotonic_ns() + options->timeout_ns;
	struct fg_pids known = {0};
	bool ended = false;

	while (!tracer->is_enough && !ended && !has_ended(following, root)) {
		int status = 0;
		pid_t tid = -1;

		if (options->interrupted && *options->interrupted) {
			tracer->status = fg_error_set(&tracer->err, FG_EINTERRUPTED, "interrupted");
			break;
		}
		tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG);
		if (tid > 0 && WIFSTOPPED(status)) {
			handle_stop(tracer, tid, status, &known);
			continue;
		}
		if (tid == root) {
			following->exited = WIFEXITED(status);
			following->exit_code = WEXITSTATUS(status);
		}
		ended = tid == root || (tid < 0 && errno == ECHILD);
		if (!ended && options->timeout_ns > 0 && fg_clock_monotonic_ns() >= until_ns) {
			tracer->status =
				fg_error_set(&tracer->err, FG_ETIMEOUT, "it did not end in time");
			break;
		}
		if (tid <= 0)
			(void)usleep(POLL_US);
	}
	end_all(root, &known);
	fg_pids_release(&known);
}

static void *trace(void *context)
{
	struct tracer *tracer = context;
	const struct fg_following *following = tracer->following;
	struct fg_process process = {0};
	int status = 0;

	tracer->status = fg_process_start(&following->options, &process, &tracer->err);
	if (tracer->status != FG_OK)
		return NULL;
	if (waitpid(process.pid, &status, __WALL) == process.pid && WIFSTOPPED(status)) {
		(void)ptrace(PTRACE_SETOPTIONS, process.pid, NULL,
			     (void *)(uintptr_t)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
						 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
						 PTRACE_O_EXITKILL | following->events));
		(void)ptrace(PTRACE_CONT, process.pid, NULL, NULL);
		follow(tracer, process.pid);
	}
	fg_process_release(&process);
	return NULL;
}

int fg_following_run(struct fg_following *following, struct fg_error *err)
{
	struct tracer tracer = {.following = following};
	pthread_t thread;

	following->options.traced = true;
	following->options.launcher = NULL;
	following->options.stdout_to = FG_STREAM_DISCARD;
	following->options.stderr_to = FG_STREAM_DISCARD;
	if (pthread_create(&thread, NULL, trace, &tracer) != 0)
		return fg_error_set(err, FG_EIO, "cannot start a thread");
	(void)pthread_join(thread, NULL);
	(void)fg_process_end_strays();
	if (tracer.status != FG_OK)
		return fg_error_set(err, tracer.err.code, "%s", tracer.err.message);
	return FG_OK;
}
