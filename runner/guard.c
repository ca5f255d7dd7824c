// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/process.h"
#include "runner/runner.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Signals passed on to the worker, including SIGQUIT, because terminal keys reach the worker only
 * through the guard.
 */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

static volatile sig_atomic_t worker_pid;

static void pass_on(int signal_number)
{
	const int error = errno;

	if (worker_pid > 0)
		(void)kill((pid_t)worker_pid, signal_number);
	errno = error;
}

/* Ctrl-Z stops both processes, and SIGCONT resumes both. */
static void stop_both(int signal_number)
{
	pass_on(signal_number);
	(void)raise(SIGSTOP);
}

static void block_passed_on(sigset_t *before)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < FG_ARRAY_SIZE(passed_on); i++)
		(void)sigaddset(&set, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, before);
}

static void install(void)
{
	struct sigaction action = {.sa_flags = SA_RESTART};

	action.sa_handler = pass_on;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FG_ARRAY_SIZE(passed_on); i++)
		(void)sigaction(passed_on[i], &action, NULL);
	action.sa_handler = stop_both;
	(void)sigaction(SIGTSTP, &action, NULL);
}

/*
 * When the guard dies the worker gets SIGTERM, as if the user had asked it to stop. If the guard
 * died before prctl() was called, the parent has changed already.
 */
static void become_worker(pid_t guard, const sigset_t *mask)
{
	(void)setpgid(0, 0);
	/* Allow a worker in the background to write to the terminal despite `stty tostop`. */
	(void)signal(SIGTTOU, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	if (getppid() != guard)
		(void)raise(SIGTERM);
}

static void await_worker(pid_t worker, struct fg_guard_end *end)
{
	int status = 0;
	pid_t pid = 0;

	do {
		pid = waitpid(worker, &status, 0);
	} while (pid < 0 && errno == EINTR);
	worker_pid = 0;
	end->exited = pid == worker && WIFEXITED(status);
	end->exit_code = end->exited ? WEXITSTATUS(status) : 0;
	end->signal = pid == worker && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int fg_guard_split(bool *is_worker, struct fg_guard_end *end, struct fg_error *err)
{
	const pid_t guard = getpid();
	sigset_t before;
	pid_t pid = 0;

	(void)fflush(NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return fg_error_errno(err, FG_EUNSUPPORTED, "cannot become a subreaper");
	block_passed_on(&before);
	pid = fork();
	if (pid < 0) {
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		return fg_error_errno(err, FG_EIO, "cannot start the worker");
	}
	if (pid == 0) {
		become_worker(guard, &before);
		*is_worker = true;
		return FG_OK;
	}
	worker_pid = pid;
	install();
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	*end = (struct fg_guard_end){0};
	await_worker(pid, end);
	end->left_children = fg_process_end_strays();
	*is_worker = false;
	return FG_OK;
}
