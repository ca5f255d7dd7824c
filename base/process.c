// SPDX-License-Identifier: Apache-2.0
/*
 * No process is left running, except children that we were asked to keep. Each program gets a
 * process group, which is signalled as a whole. A descendant that leaves the group (a daemon) is
 * reparented to us, because we are a subreaper. Any child that we neither started nor keep is
 * therefore a stray, and is ended after its program. If we die, PR_SET_PDEATHSIG kills the programs
 * that we started.
 */
#include "base/process.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/launch.h"
#include "base/open_filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEFAULT_GRACE_MS = 2000,
	MAX_RUNNING = 64,
	MAX_KEPT = 256,
	TICK_MS = 100,
};

/* Running programs, and children to keep. One thread starts and awaits processes. */
static pid_t running[MAX_RUNNING];
static size_t running_count;
static pid_t kept[MAX_KEPT];
static size_t kept_count;

/* ---- start ---- */

static bool is_captured(enum fg_process_stream kind)
{
	return kind == FG_STREAM_CAPTURE || kind == FG_STREAM_FILE;
}

static int open_stream(enum fg_process_stream kind, int capture_fd, int inherited_fd)
{
	if (is_captured(kind))
		return capture_fd;
	if (kind == FG_STREAM_INHERIT)
		return inherited_fd;
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)signal(sig, SIG_DFL);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* State of a start; prepared before the fork. */
struct start {
	struct fg_capture captures[2]; /* stdout, stderr */
	int outputs[2];                /* the program's ends; -1: not captured */
	int report[2];                 /* errno of a failed exec; closes itself on success */
	int launch[2];                 /* launcher's reports */
	char **launch_argv;            /* NULL: no launcher */
	char number[2][24];
	bool shares_memory; /* vfork: the child shares our memory until exec */
};

static const char *path_of(char *const *environment)
{
	for (char *const *variable = environment; *variable; variable++) {
		if (strncmp(*variable, "PATH=", 5) == 0)
			return *variable;
	}
	return "";
}

/*
 * Copying our memory, which the child discards at once, is most of the cost of a start. The child
 * needs a copy if it sets its own `environ` to search another PATH, or if it may have to wait for
 * us before exec.
 */
static bool can_share_memory(const struct fg_process_options *options)
{
	if (options->traced || options->shows_opens)
		return false;
	return options->launcher || !options->environment || strchr(options->argv[0], '/') ||
	       strcmp(path_of(options->environment), path_of(environ)) == 0;
}

/* Makes "fastgate-launch REPORT_FD COUNT VARIABLE... PROGRAM ARGUMENT...". */
static void make_launch_argv(const struct fg_process_options *options, struct start *start)
{
	char *const *environment = options->environment ? options->environment : environ;
	size_t variables = 0;
	size_t words = 0;

	while (environment[variables])
		variables++;
	while (options->argv[words])
		words++;
	(void)snprintf(start->number[0], sizeof(start->number[0]), "%d", start->launch[1]);
	(void)snprintf(start->number[1], sizeof(start->number[1]), "%zu", variables);
	start->launch_argv = fg_xcalloc(variables + words + 4, sizeof(char *));
	start->launch_argv[0] = (char *)(uintptr_t)options->launcher;
	start->launch_argv[1] = start->number[0];
	start->launch_argv[2] = start->number[1];
	memcpy(start->launch_argv + 3, environment, variables * sizeof(char *));
	memcpy(start->launch_argv + 3 + variables, options->argv, words * sizeof(char *));
}

FG_NORETURN static void exec_program(const struct fg_process_options *options,
				     const struct start *start)
{
	static char *nothing[] = {NULL};

	if (options->launcher && start->launch_argv) {
		(void)fcntl(start->launch[1], F_SETFD, 0);
		(void)execve(options->launcher, start->launch_argv, nothing);
	} else {
		if (options->traced)
			(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		if (options->shows_opens)
			(void)fg_open_filter_install();
		if (start->shares_memory) {
			(void)execvpe(options->argv[0], options->argv,
				      options->environment ? options->environment : environ);
		} else {
			if (options->environment)
				environ = (char **)(uintptr_t)options->environment;
			(void)execvp(options->argv[0], options->argv);
		}
	}
	(void)!write(start->report[1], &errno, sizeof(errno));
	_exit(127);
}

/* Lowers only the soft limit: a program that wants core files can raise it again. */
static void forbid_core(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) != 0)
		return;
	limit.rlim_cur = 0;
	(void)setrlimit(RLIMIT_CORE, &limit);
}

/* Runs in the child, up to exec. On failure errno goes back through the pipe. */
FG_NORETURN static void run_child(const struct fg_process_options *options,
				  const struct start *start, pid_t parent)
{
	const char *input = options->stdin_path ? options->stdin_path : "/dev/null";
	int in_fd = -1;
	int out_fd = -1;
	int err_fd = -1;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	reset_signals();
	if (options->no_core)
		forbid_core();
	if (options->pinned) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)options->cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) != 0)
			goto failed;
	}
	if (options->working_directory && chdir(options->working_directory) != 0)
		goto failed;
	in_fd = open(input, O_RDONLY | O_CLOEXEC);
	out_fd = open_stream(options->stdout_to, start->outputs[0], STDOUT_FILENO);
	err_fd = open_stream(options->stderr_to, start->outputs[1], STDERR_FILENO);
	if (in_fd < 0 || out_fd < 0 || err_fd < 0 || dup2(in_fd, STDIN_FILENO) < 0)
		goto failed;
	/* An inherited descriptor stays where it is. */
	if ((err_fd != STDERR_FILENO && dup2(err_fd, STDERR_FILENO) < 0) ||
	    (out_fd != STDOUT_FILENO && dup2(out_fd, STDOUT_FILENO) < 0))
		goto failed;
	exec_program(options, start);
failed:
	(void)!write(start->report[1], &errno, sizeof(errno));
	_exit(127);
}

/*
 * Signals are blocked during the start: the child may share our memory and must not run our
 * handlers.
 */
static pid_t start_child(const struct fg_process_options *options, const struct start *start)
{
	const pid_t parent = getpid();
	sigset_t all;
	sigset_t before;
	pid_t pid = -1;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	/* The child leaves our memory alone and never returns. NOLINTNEXTLINE(*vfork,*Vfork) */
	pid = start->shares_memory ? vfork() : fork();
	if (pid == 0)
		run_child(options, start, parent);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int explain_start(const struct fg_process_options *options, int error, struct fg_error *err)
{
	const char *program = options->argv[0];

	if (options->working_directory && !fg_fs_is_folder(options->working_directory))
		return fg_error_set(err, FG_ENOENT, "cannot run '%s': folder '%s' does not exist",
				    program, options->working_directory);
	if (options->stdin_path && access(options->stdin_path, R_OK) != 0 &&
	    *options->stdin_path == '/')
		return fg_error_errno(err, FG_ENOENT, "cannot run '%s': standard input '%s'",
				      program, options->stdin_path);
	errno = error;
	if (error == ENOENT && !strchr(program, '/'))
		return fg_error_set(err, FG_ENOENT, "cannot run '%s': no such program in PATH",
				    program);
	return fg_error_errno(err, error == ENOENT ? FG_ENOENT : FG_ECHILD, "cannot run '%s'",
			      program);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void start_init(struct start *start)
{
	for (size_t i = 0; i < 2; i++) {
		start->captures[i] = (struct fg_capture){.fd = -1};
		start->outputs[i] = -1;
		start->report[i] = -1;
		start->launch[i] = -1;
	}
}

static int open_pipes(const struct fg_process_options *options, struct start *start,
		      struct fg_error *err)
{
	const enum fg_process_stream kinds[2] = {options->stdout_to, options->stderr_to};
	int status = FG_OK;

	start_init(start);
	for (size_t i = 0; i < 2 && status == FG_OK; i++) {
		if (is_captured(kinds[i]))
			status = fg_capture_open(&start->captures[i], kinds[i] == FG_STREAM_FILE,
						 options->capture_limit_bytes, &start->outputs[i],
						 err);
		start->captures[i].copy_fd = options->copy_fd;
	}
	if (status != FG_OK)
		return status;
	if (pipe2(start->report, O_CLOEXEC) != 0 ||
	    (options->launcher && pipe2(start->launch, O_CLOEXEC) != 0))
		return fg_error_errno(err, FG_EIO, "cannot create a pipe");
	if (options->launcher)
		make_launch_argv(options, start);
	return FG_OK;
}

static void start_release(struct start *start)
{
	for (size_t i = 0; i < 2; i++) {
		fg_capture_release(&start->captures[i]);
		close_fd(&start->outputs[i]);
		close_fd(&start->report[i]);
		close_fd(&start->launch[i]);
	}
	free(start->launch_argv);
}

/* Reads `size` bytes, or up to the end of the stream. */
static size_t read_all(int fd, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = read(fd, (char *)data + done, size - done);

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	return done;
}

/*
 * The child reports whether it reached exec, through a pipe that closes itself on exec; the
 * launcher then reports the same about the program.
 */
static int await_exec(struct start *start, pid_t pid, const struct fg_process_options *options,
		      struct fg_process *process, struct fg_error *err)
{
	struct fg_launch_started started = {0};
	int error = 0;

	close_fd(&start->report[1]);
	close_fd(&start->launch[1]);
	if (read_all(start->report[0], &error, sizeof(error)) == sizeof(error)) {
		(void)waitpid(pid, NULL, 0);
		return explain_start(options, error, err);
	}
	if (!options->launcher)
		return FG_OK;
	if (read_all(start->launch[0], &started, sizeof(started)) != sizeof(started)) {
		(void)waitpid(pid, NULL, 0);
		return fg_error_set(err, FG_EIO, "cannot run '%s': '%s' failed", options->argv[0],
				    options->launcher);
	}
	process->started_ns = started.started_ns;
	if (started.error) {
		(void)waitpid(pid, NULL, 0);
		return explain_start(options, (int)started.error, err);
	}
	return FG_OK;
}

static void become_running(const struct fg_process_options *options, struct start *start, pid_t pid,
			   struct fg_process *process)
{
	*process = (struct fg_process){.pid = pid,
				       .started_ns = process->started_ns,
				       .options = *options,
				       .counted = true};
	/* glibc has pidfd_open() only since 2.36 */
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	process->report_fd = start->launch[0];
	start->launch[0] = -1;
	running[running_count++] = pid;
	for (size_t i = 0; i < 2; i++) {
		process->captures[i] = start->captures[i];
		start->captures[i] = (struct fg_capture){.fd = -1};
	}
}

int fg_process_start(const struct fg_process_options *options, struct fg_process *process,
		     struct fg_error *err)
{
	struct start start = {0};
	pid_t pid = -1;
	int status = FG_OK;

	FG_ASSERT(options->argv && options->argv[0]);
	if (running_count == MAX_RUNNING)
		return fg_error_set(err, FG_ELIMIT, "cannot run more than %d programs at once",
				    MAX_RUNNING);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	FG_TRY_OUT(open_pipes(options, &start, err));
	start.shares_memory = can_share_memory(options);
	process->started_ns = fg_clock_monotonic_ns();
	pid = start_child(options, &start);
	if (pid < 0) {
		status = fg_error_errno(err, FG_ECHILD, "cannot start '%s'", options->argv[0]);
		goto out;
	}
	FG_TRY_OUT(await_exec(&start, pid, options, process, err));
	become_running(options, &start, pid, process);
out:
	start_release(&start);
	return status;
}

/* ---- strays ---- */

static bool is_known(pid_t pid)
{
	for (size_t i = 0; i < running_count; i++) {
		if (running[i] == pid)
			return true;
	}
	for (size_t i = 0; i < kept_count; i++) {
		if (kept[i] == pid)
			return true;
	}
	return false;
}

/* Finds children that we neither started nor keep; `found` has room for `room`. */
static size_t find_strays(pid_t *found, size_t room)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry = NULL;
	size_t count = 0;

	while (tasks && (entry = readdir(tasks)) != NULL) {
		char path[64 + sizeof(entry->d_name)];
		char *text = NULL;
		char *next = NULL;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry->d_name);
		if (fg_fs_read(path, 1 << 20, &text, NULL, NULL) != FG_OK)
			continue;
		next = text;
		for (long pid = strtol(next, &next, 10); pid > 0; pid = strtol(next, &next, 10)) {
			if (count < room && !is_known((pid_t)pid))
				found[count++] = (pid_t)pid;
		}
		free(text);
	}
	if (tasks)
		(void)closedir(tasks);
	return count;
}

size_t fg_process_signal_strays(int signal)
{
	enum {
		ROOM = 256
	};
	pid_t strays[ROOM];
	const size_t count = find_strays(strays, ROOM);

	for (size_t i = 0; i < count; i++)
		(void)kill(strays[i], signal);
	return count;
}

/* The strays' children become ours in turn, so repeat until no stray is left. */
bool fg_process_end_strays(void)
{
	enum {
		ROUNDS = 1000,
		ROOM = 256
	};
	pid_t strays[ROOM];
	bool any = false;

	for (int round = 0; round < ROUNDS; round++) {
		const size_t count = find_strays(strays, ROOM);

		if (count == 0)
			break;
		for (size_t i = 0; i < count; i++) {
			siginfo_t info = {0};

			/* A child that has died was not a daemon; nobody else reaps it. */
			if (waitid(P_PID, (id_t)strays[i], &info, WEXITED | WNOHANG) == 0 &&
			    info.si_pid == 0) {
				any = true;
				(void)kill(strays[i], SIGKILL);
				(void)waitpid(strays[i], NULL, 0);
			}
		}
	}
	return any;
}

static void keep_strays(void)
{
	kept_count += find_strays(kept + kept_count, MAX_KEPT - kept_count);
}

bool fg_process_has_kept(void)
{
	for (size_t i = 0; i < kept_count; i++) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)kept[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid == 0)
			return true;
	}
	return false;
}

void fg_process_end_kept(void)
{
	for (size_t i = 0; i < kept_count; i++) {
		(void)kill(kept[i], SIGKILL);
		(void)waitpid(kept[i], NULL, 0);
	}
	kept_count = 0;
	(void)fg_process_end_strays();
}

/* ---- wait ---- */

static void forget(struct fg_process *process)
{
	for (size_t i = 0; process->counted && i < running_count; i++) {
		if (running[i] == process->pid) {
			running[i] = running[--running_count];
			break;
		}
	}
	process->counted = false;
}

static void end_group(struct fg_process *process)
{
	const int64_t grace_ms =
		process->options.grace_ms ? process->options.grace_ms : DEFAULT_GRACE_MS;

	if (process->reaped || process->pid <= 0 || process->kill_at_ns)
		return;
	process->kill_at_ns = fg_clock_monotonic_ns() + grace_ms * FG_NS_PER_MS;
	(void)kill(-process->pid, SIGTERM);
	(void)kill(-process->pid, SIGCONT);
}

static void check_limits(struct fg_process *process, int64_t now, bool interrupted)
{
	const int64_t timeout_ns = process->options.timeout_ns;

	if (!process->kill_at_ns && timeout_ns > 0 && now - process->started_ns >= timeout_ns) {
		process->timed_out = true;
		end_group(process);
	}
	if (!process->kill_at_ns && interrupted)
		end_group(process);
	if (process->kill_at_ns && now >= process->kill_at_ns)
		(void)kill(-process->pid, SIGKILL);
}

/*
 * Uses the launcher's report about the program, after the launcher has ended. A launcher that was
 * killed with its program has not reported.
 */
static void read_report(const struct fg_process *process, struct fg_process_result *result,
			int *status)
{
	struct fg_launch_ended ended;

	if (process->report_fd < 0 ||
	    read_all(process->report_fd, &ended, sizeof(ended)) != sizeof(ended))
		return;
	result->ended_ns = ended.ended_ns;
	result->leader_cpu_ns = ended.leader_cpu_ns;
	result->leader_wait_ns = ended.leader_wait_ns;
	result->usage = ended.usage;
	*status = (int)ended.status;
}

/* Reaps the process if it has ended. */
static void try_reap(struct fg_process *process, struct fg_process_result *result)
{
	int status = 0;
	pid_t pid = -1;

	pid = wait4(process->pid, &status, WNOHANG, &result->usage);
	if (pid != process->pid)
		return;
	result->started_ns = process->started_ns;
	result->ended_ns = fg_clock_monotonic_ns();
	read_report(process, result, &status);
	result->wall_ns = result->ended_ns - result->started_ns;
	result->exited = WIFEXITED(status);
	result->exit_code = result->exited ? WEXITSTATUS(status) : 0;
	result->signal = result->exited ? 0 : WTERMSIG(status);
	result->timed_out = process->timed_out;
	process->reaped = true;
	forget(process);
	/* Ends the other processes of the group, unless the program may leave processes running. */
	if (!process->options.keep_children && kill(-process->pid, SIGKILL) == 0)
		/* after our own SIGTERM, survivors do not count */
		result->left_children = !process->kill_at_ns;
}

static int poll_timeout_ms(const struct fg_process *processes, size_t count, int64_t now)
{
	int64_t wait_ns = TICK_MS * FG_NS_PER_MS;

	for (size_t i = 0; i < count; i++) {
		const struct fg_process *p = &processes[i];
		const int64_t due = p->kill_at_ns ? p->kill_at_ns - now
				    : p->options.timeout_ns
					    ? p->started_ns + p->options.timeout_ns - now
					    : wait_ns;

		if (!p->reaped && due < wait_ns)
			wait_ns = due;
	}
	return wait_ns <= 0 ? 1 : (int)((wait_ns + FG_NS_PER_MS - 1) / FG_NS_PER_MS);
}

/*
 * Sleeps until output is available, a process has ended or a limit is due; then takes the output.
 */
static void wait_for_events(struct fg_process *processes, size_t count)
{
	struct pollfd fds[3 * MAX_RUNNING];
	nfds_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct fg_process *p = &processes[i];

		if (!p->reaped && p->pidfd >= 0)
			fds[used++] = (struct pollfd){.fd = p->pidfd, .events = POLLIN};
		for (size_t k = 0; k < 2; k++) {
			const int fd = fg_capture_poll_fd(&p->captures[k]);

			if (fd >= 0)
				fds[used++] = (struct pollfd){.fd = fd, .events = POLLIN};
		}
	}
	(void)poll(fds, used, poll_timeout_ms(processes, count, fg_clock_monotonic_ns()));
	for (size_t i = 0; i < count; i++) {
		fg_capture_read(&processes[i].captures[0]);
		fg_capture_read(&processes[i].captures[1]);
	}
}

static bool was_interrupted(const struct fg_process *processes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (processes[i].options.interrupted && *processes[i].options.interrupted)
			return true;
	}
	return false;
}

static void take_output(struct fg_process *process, struct fg_process_result *result)
{
	const struct fg_captured out = fg_capture_take(&process->captures[0]);
	const struct fg_captured err = fg_capture_take(&process->captures[1]);

	result->stdout_text = out.text;
	result->stdout_size = out.size;
	result->printed[0] = out.printed;
	result->stderr_text = err.text;
	result->stderr_size = err.size;
	result->printed[1] = err.printed;
	result->output_cut = out.cut || err.cut;
}

/* Returns whether the process is still running. */
static bool serve(struct fg_process *process, struct fg_process_result *result, bool stop)
{
	if (!process->reaped)
		try_reap(process, result);
	if (process->reaped)
		return false;
	check_limits(process, fg_clock_monotonic_ns(), stop);
	return true;
}

static int64_t timeval_ns(struct timeval time)
{
	return time.tv_sec * FG_NS_PER_S + time.tv_usec * FG_NS_PER_US;
}

int64_t fg_process_cpu_ns(const struct fg_process_result *result)
{
	return timeval_ns(result->usage.ru_utime) + timeval_ns(result->usage.ru_stime);
}

int fg_process_wait(struct fg_process *processes, size_t count, struct fg_process_result *results,
		    struct fg_error *err)
{
	bool keep = false;
	size_t left = count;

	FG_ASSERT(count > 0 && count <= MAX_RUNNING);
	for (size_t i = 0; i < count; i++)
		results[i] = (struct fg_process_result){0};
	while (left > 0) {
		const bool stop = was_interrupted(processes, count);

		wait_for_events(processes, count);
		left = 0;
		for (size_t i = 0; i < count; i++)
			left += serve(&processes[i], &results[i], stop) ? 1 : 0;
	}
	for (size_t i = 0; i < count; i++)
		keep = keep || processes[i].options.keep_children;
	if (keep)
		keep_strays();
	else if (fg_process_end_strays())
		results[count - 1].left_children = true;
	for (size_t i = 0; i < count; i++) {
		fg_capture_read(&processes[i].captures[0]);
		fg_capture_read(&processes[i].captures[1]);
		take_output(&processes[i], &results[i]);
	}
	/* A program that ended before it could be stopped keeps its result. */
	for (size_t i = 0; i < count; i++) {
		if (processes[i].kill_at_ns && was_interrupted(&processes[i], 1))
			return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	}
	return FG_OK;
}

void fg_process_release(struct fg_process *process)
{
	if (process->pid > 0 && !process->reaped) {
		(void)kill(-process->pid, SIGKILL);
		(void)waitpid(process->pid, NULL, 0);
		forget(process);
	}
	if (process->pid > 0 && process->pidfd >= 0)
		(void)close(process->pidfd);
	if (process->pid > 0)
		close_fd(&process->report_fd);
	for (size_t k = 0; k < 2; k++) {
		if (process->pid > 0)
			fg_capture_release(&process->captures[k]);
	}
	*process = (struct fg_process){0};
}

void fg_process_result_release(struct fg_process_result *result)
{
	free(result->stdout_text);
	free(result->stderr_text);
	*result = (struct fg_process_result){0};
}

int fg_process_run(const struct fg_process_options *options, struct fg_process_result *result,
		   struct fg_error *err)
{
	struct fg_process process = {0};
	int status = FG_OK;

	FG_TRY(fg_process_start(options, &process, err));
	status = fg_process_wait(&process, 1, result, err);
	fg_process_release(&process);
	if (status != FG_OK)
		fg_process_result_release(result);
	return status;
}

void fg_process_describe(const struct fg_process_result *result, struct fg_strbuf *text)
{
	if (result->timed_out)
		fg_strbuf_printf(text, "exceeded its time limit (stopped after %.1f s)",
				 (double)result->wall_ns / 1e9);
	else if (result->exited)
		fg_strbuf_printf(text, "exited with code %d", result->exit_code);
	else
		fg_strbuf_printf(text, "was killed by signal %d (%s)", result->signal,
				 sigdescr_np(result->signal) ? sigdescr_np(result->signal)
							     : "unknown");
}
