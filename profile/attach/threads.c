// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/threads.h"

#include "base/clock.h"
#include "base/fs.h"
#include "profile/attach/waiting_place.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PROC_FILE_MAX_BYTES = 1 << 20,
	EVENT_SHIFT = 8,   /* the bits above hold the number of a ptrace stop */
	SYSCALL_BYTES = 2, /* bytes of the instruction that entered the kernel */
};

/* Lists the entries of a folder of /proc whose names are numbers. */
static void list_numbers(const char *folder, struct fg_pids *found)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry = NULL;

	while (entries && (entry = readdir(entries)) != NULL) {
		const long number = strtol(entry->d_name, NULL, 10);

		if (number > 0)
			fg_pids_add(found, (pid_t)number);
	}
	if (entries)
		(void)closedir(entries);
}

/* Parses "PID (NAME) STATE FIELD..."; the name may contain anything. */
void fg_thread_read_state(pid_t pid, pid_t tid, struct fg_thread_state *state)
{
	char path[64];
	char *text = NULL;
	char *name = NULL;
	char *end = NULL;

	*state = (struct fg_thread_state){0};
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (fg_fs_read(path, PROC_FILE_MAX_BYTES, &text, NULL, NULL) != FG_OK)
		return;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (name && end && end[1] == ' ') {
		(void)snprintf(state->name, sizeof(state->name), "%.*s", (int)(end - name - 1),
			       name + 1);
		state->state = end[2];
	}
	free(text);
}

void fg_threads_of(pid_t pid, struct fg_pids *found)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	list_numbers(path, found);
}

bool fg_thread_seize(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
}

void fg_thread_interrupt(pid_t tid)
{
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
}

bool fg_thread_poll(pid_t tid, bool keep_exit, struct fg_thread_stop *stop)
{
	siginfo_t info = {0};
	const int wanted = WSTOPPED | WNOHANG | __WALL | (keep_exit ? 0 : WEXITED);
	const int got = waitid(P_PID, (id_t)tid, &info, wanted);

	*stop = (struct fg_thread_stop){.seen_ns = fg_clock_monotonic_ns()};
	if (got != 0) {
		stop->gone = errno != EINTR;
		return false;
	}
	if (info.si_pid != tid)
		return false;
	stop->gone = info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
	if (!stop->gone && !(info.si_status >> EVENT_SHIFT))
		stop->signal = info.si_status;
	return !stop->gone;
}

bool fg_thread_registers(pid_t tid, struct user_regs_struct *registers)
{
	struct iovec set = {.iov_base = registers, .iov_len = sizeof(*registers)};

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &set) == 0 &&
	       set.iov_len == sizeof(*registers);
}

/* Returns true if a signal is pending, for this thread or, by `flags`, for its whole process. */
static bool has_pending(pid_t tid, unsigned flags)
{
	struct __ptrace_peeksiginfo_args first = {.flags = flags, .nr = 1};
	siginfo_t info;

	return ptrace(PTRACE_PEEKSIGINFO, tid, &first, &info) != 0;
}

void fg_thread_make_call_again(pid_t tid, const struct user_regs_struct *registers)
{
	struct user_regs_struct again = *registers;
	struct iovec set = {.iov_base = &again, .iov_len = sizeof(again)};

	if (!fg_call_is_cut_by_stop(registers) || has_pending(tid, 0) ||
	    has_pending(tid, PTRACE_PEEKSIGINFO_SHARED))
		return;
	again.rip -= SYSCALL_BYTES;
	again.rax = again.orig_rax;
	(void)ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &set);
}

bool fg_thread_release(pid_t tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal) == 0;
}

static long read_setting(const char *path)
{
	char *text = NULL;
	long value = -1;

	if (fg_fs_read(path, PROC_FILE_MAX_BYTES, &text, NULL, NULL) == FG_OK)
		value = strtol(text, NULL, 10);
	free(text);
	return value;
}

/* Returns the number after "\nNAME:" in the status of a process; -1: unknown. */
static long read_status(pid_t pid, const char *name)
{
	char path[64];
	char *text = NULL;
	const char *line = NULL;
	long value = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fg_fs_read(path, PROC_FILE_MAX_BYTES, &text, NULL, NULL) != FG_OK)
		return value;
	line = strstr(text, name);
	if (line)
		value = strtol(line + strlen(name), NULL, 10);
	free(text);
	return value;
}

static bool has_tracer(pid_t pid)
{
	return read_status(pid, "\nTracerPid:") > 0;
}

/* Root owns the files in /proc of a process that may not be dumped. */
static bool is_undumpable(pid_t pid, long owner)
{
	struct stat facts;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return owner > 0 && stat(path, &facts) == 0 && facts.st_uid != (uid_t)owner;
}

char *fg_thread_reason_of_scope(long scope)
{
	enum {
		SCOPE_FOR_GOOD = 3
	};

	if (scope <= 0)
		return NULL;
	if (scope == SCOPE_FOR_GOOD)
		return fg_xasprintf(": kernel.yama.ptrace_scope is %ld, which only a reboot can "
				    "change",
				    scope);
	return fg_xasprintf(
		": kernel.yama.ptrace_scope is %ld; use `sysctl kernel.yama.ptrace_scope=0`, or "
		"run as root",
		scope);
}

/*
 * Explains why the kernel refuses this process, assuming that it has no tracer and that no filter
 * denies ptrace(). The caller frees the text.
 */
static char *reason_of_kernel(pid_t pid, int error)
{
	const long scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
	const long owner = read_status(pid, "\nUid:");

	if (geteuid() != 0 && owner >= 0 && (uid_t)owner != geteuid())
		return fg_xasprintf(": it belongs to another user (%ld); run as that user, or as "
				    "root",
				    owner);
	if (geteuid() != 0 && is_undumpable(pid, owner))
		return fg_xstrdup(
			": it has more privileges than its user, or denies access to its memory "
			"(PR_SET_DUMPABLE); run as root");
	if (scope > 0)
		return fg_thread_reason_of_scope(scope);
	return fg_xasprintf(" (%s): it is privileged, or this container lacks CAP_SYS_PTRACE "
			    "(docker run --cap-add=SYS_PTRACE)",
			    strerrordesc_np(error));
}

/*
 * Does a system call filter deny ptrace()? Unless a filter denies it, this call fails with ESRCH,
 * because fastgate does not trace itself.
 */
static bool is_filtered(void)
{
	return ptrace(PTRACE_PEEKUSER, getpid(), NULL, NULL) == -1 && errno != ESRCH;
}

/* Explains why the process may not be traced, and names the setting to change. */
static void explain_refusal(pid_t pid, int error, struct fg_error *err)
{
	char folder[32];
	char *reason = NULL;

	(void)snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	/*
	 * The process may have ended by now, so a filter, which affects every process, is checked
	 * first.
	 */
	if (is_filtered())
		(void)fg_error_set(
			err, FG_EUNSUPPORTED,
			"process %d may not be traced: a seccomp filter denies ptrace() to "
			"fastgate; start fastgate in a container or service whose filter allows "
			"ptrace() (docker run --cap-add=SYS_PTRACE)",
			(int)pid);
	else if (error == ESRCH || error == ENOENT || !fg_fs_exists(folder))
		(void)fg_error_set(err, FG_ENOENT, "process %d does not exist", (int)pid);
	else if (has_tracer(pid))
		(void)fg_error_set(err, FG_EBUSY,
				   "process %d is already traced, by a debugger or strace",
				   (int)pid);
	else
		reason = reason_of_kernel(pid, error);
	if (reason)
		(void)fg_error_set(err, FG_EUNSUPPORTED, "process %d may not be traced%s", (int)pid,
				   reason);
	free(reason);
}

int fg_thread_check_rights(pid_t pid, struct fg_error *err)
{
	char path[32];
	int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || has_tracer(pid) || is_filtered()) {
		explain_refusal(pid, errno, err);
		if (fd >= 0)
			(void)close(fd);
		return FG_EUNSUPPORTED;
	}
	(void)close(fd);
	return FG_OK;
}
