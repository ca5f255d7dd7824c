// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/opened.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/open_filter.h"
#include "profile/attach/memory.h"
#include "profile/attach/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	POLL_US = 100,
	EVENT_SHIFT = 16,
};

/* The arguments of a call that opens a file. */
struct call {
	int folder; /* the program's descriptor, or AT_FDCWD */
	uint64_t path;
	uint64_t flags;
};

static bool read_memory(pid_t tid, uint64_t address, void *data, size_t size)
{
	struct fg_memory memory;
	bool good = false;

	fg_memory_init(&memory, tid);
	good = fg_memory_read(&memory, address, data, size);
	fg_memory_release(&memory);
	return good;
}

/* Reads a path page by page up to its NUL: the page after it may not be mapped. */
static bool read_path(pid_t tid, uint64_t address, char path[PATH_MAX])
{
	size_t done = 0;

	while (done < PATH_MAX) {
		size_t step = FG_MEMORY_PAGE - (address + done) % FG_MEMORY_PAGE;

		if (step > PATH_MAX - done)
			step = PATH_MAX - done;
		if (!read_memory(tid, address + done, path + done, step))
			return false;
		if (memchr(path + done, '\0', step))
			return true;
		done += step;
	}
	return false;
}

#if defined(__x86_64__)

static bool read_call(pid_t tid, struct call *call)
{
	struct user_regs_struct regs;
	struct open_how how;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	*call = (struct call){.folder = AT_FDCWD, .path = regs.rdi, .flags = regs.rsi};
	switch (regs.orig_rax) {
	case SYS_open:
		return true;
	case SYS_creat:
		call->flags = O_CREAT | O_TRUNC | O_WRONLY;
		return true;
	case SYS_openat:
	case SYS_openat2:
		call->folder = (int)regs.rdi;
		call->path = regs.rsi;
		call->flags = regs.rdx;
		break;
	default:
		return false;
	}
	if (regs.orig_rax == SYS_openat2) {
		if (!read_memory(tid, regs.rdx, &how, sizeof(how)))
			return false;
		call->flags = how.flags;
	}
	return true;
}

#else

static bool read_call(pid_t tid, struct call *call)
{
	(void)tid;
	(void)call;
	return false;
}

#endif

static bool find_folder(pid_t tid, int folder, char text[PATH_MAX])
{
	char entry[64];
	ssize_t length = 0;

	if (folder == AT_FDCWD)
		(void)snprintf(entry, sizeof(entry), "/proc/%d/cwd", (int)tid);
	else
		(void)snprintf(entry, sizeof(entry), "/proc/%d/fd/%d", (int)tid, folder);
	length = readlink(entry, text, PATH_MAX - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return *text == '/';
}

/* Returns false if the opened file is unknown. */
static bool note_opening(struct fg_opened *opened, pid_t tid)
{
	struct call call;
	char path[PATH_MAX];
	char folder[PATH_MAX];
	uint64_t how = FG_OPENED_READ;
	char *whole = NULL;

	if (!read_call(tid, &call) || !read_path(tid, call.path, path))
		return false;
	if (call.flags & O_PATH || !*path)
		return true;
	if (*path != '/' && !find_folder(tid, call.folder, folder))
		return false;
	if ((call.flags & O_ACCMODE) == O_WRONLY || call.flags & (O_CREAT | O_TRUNC))
		how = FG_OPENED_MADE;
	whole = *path == '/' ? fg_xstrdup(path) : fg_fs_join(folder, path);
	(void)fg_map_add_text(&opened->paths, whole, how, NULL);
	free(whole);
	return true;
}

static void note_stop(struct fg_opened *opened, pid_t tid)
{
	unsigned long message = 0;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) != 0 || message != FG_OPEN_EVENT ||
	    !note_opening(opened, tid))
		opened->is_incomplete = true;
}

/* ---- the tracer ---- */

/* ptrace works per thread, so one thread traces everything. */
struct tracer {
	struct fg_process_options options;
	struct fg_opened *opened;
	int status;
	struct fg_error err;
};

/* Notes the file that a stopped tracee opens, if any, and lets the tracee continue. */
static void handle_stop(const struct tracer *tracer, pid_t tid, int status, struct fg_pids *known)
{
	int signal = WSTOPSIG(status);
	const bool is_new = !fg_pids_contain(known, tid);

	if (is_new)
		fg_pids_add(known, tid);
	if (status >> EVENT_SHIFT || signal == SIGTRAP || (is_new && signal == SIGSTOP))
		signal = 0;
	if (status >> EVENT_SHIFT == PTRACE_EVENT_SECCOMP)
		note_stop(tracer->opened, tid);
	(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal);
}

/*
 * Kills all threads and waits for them: a traced thread is gone only when its tracer has waited for
 * it.
 */
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
 * Returns true if the program itself has ended; its parent reaps it. A traced program also reports
 * its stops here.
 */
static bool has_ended(struct fg_opened *opened, pid_t root)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)root, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != root || info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	opened->exited = info.si_code == CLD_EXITED;
	opened->exit_code = info.si_status;
	return true;
}

static void follow(struct tracer *tracer, pid_t root)
{
	const struct fg_process_options *options = &tracer->options;
	const int64_t until_ns = fg_clock_monotonic_ns() + options->timeout_ns;
	struct fg_pids known = {0};
	bool ended = false;

	while (!ended && !has_ended(tracer->opened, root)) {
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
			tracer->opened->exited = WIFEXITED(status);
			tracer->opened->exit_code = WEXITSTATUS(status);
		}
		ended = tid == root || (tid < 0 && errno == ECHILD);
		if (!ended && options->timeout_ns > 0 && fg_clock_monotonic_ns() >= until_ns) {
			tracer->status = fg_error_set(&tracer->err, FG_ETIMEOUT,
						      "the program did not end in time");
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
	struct fg_process process = {0};
	int status = 0;

	tracer->status = fg_process_start(&tracer->options, &process, &tracer->err);
	if (tracer->status != FG_OK)
		return NULL;
	if (waitpid(process.pid, &status, __WALL) == process.pid && WIFSTOPPED(status)) {
		(void)ptrace(PTRACE_SETOPTIONS, process.pid, NULL,
			     (void *)(uintptr_t)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
						 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
						 PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP));
		(void)ptrace(PTRACE_CONT, process.pid, NULL, NULL);
		follow(tracer, process.pid);
	}
	fg_process_release(&process);
	return NULL;
}

int fg_opened_find(const struct fg_process_options *options, struct fg_opened *opened,
		   struct fg_error *err)
{
	struct tracer tracer = {.options = *options, .opened = opened};
	pthread_t thread;
	int status = FG_OK;

	*opened = (struct fg_opened){0};
	tracer.options.traced = true;
	tracer.options.shows_opens = true;
	tracer.options.launcher = NULL;
	tracer.options.stdout_to = FG_STREAM_DISCARD;
	tracer.options.stderr_to = FG_STREAM_DISCARD;
	if (pthread_create(&thread, NULL, trace, &tracer) != 0)
		return fg_error_set(err, FG_EIO, "cannot start a thread");
	(void)pthread_join(thread, NULL);
	(void)fg_process_end_strays();
	if (tracer.status != FG_OK)
		status = fg_error_set(err, tracer.err.code, "%s", tracer.err.message);
	else if (opened->paths.count == 0)
		status = fg_error_set(err, FG_EUNSUPPORTED,
				      "the program was not seen opening any file");
	if (status != FG_OK)
		fg_opened_release(opened);
	return status;
}

void fg_opened_release(struct fg_opened *opened)
{
	fg_map_release(&opened->paths);
	*opened = (struct fg_opened){0};
}
