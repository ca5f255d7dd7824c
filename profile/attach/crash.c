// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/crash.h"

#include "base/fs.h"
#include "profile/attach/following.h"
#include "profile/attach/look.h"

#include <signal.h>
#include <sys/ptrace.h>

enum {
	STATUS_MAX_BYTES = 1 << 16,
};

struct watching {
	int signal;
	struct fg_look *look;
	bool crashed;
};

static const struct {
	int signal;
	const char *name;
	bool has_address;
} crashes[] = {
	{.signal = SIGSEGV, .name = "SIGSEGV", .has_address = true},
	{.signal = SIGBUS, .name = "SIGBUS", .has_address = true},
	{.signal = SIGFPE, .name = "SIGFPE", .has_address = false},
	{.signal = SIGILL, .name = "SIGILL", .has_address = false},
	{.signal = SIGABRT, .name = "SIGABRT", .has_address = false},
};

static const struct {
	int signal;
	int code;
	const char *words;
} reasons[] = {
	{.signal = SIGSEGV, .code = SEGV_MAPERR, .words = "nothing is mapped there"},
	{.signal = SIGSEGV, .code = SEGV_ACCERR, .words = "this access is not permitted there"},
	{.signal = SIGBUS, .code = BUS_ADRALN, .words = "not aligned"},
	{.signal = SIGBUS, .code = BUS_ADRERR, .words = "beyond the end of a mapped file"},
	{.signal = SIGFPE, .code = FPE_INTDIV, .words = "integer division by zero"},
	{.signal = SIGFPE, .code = FPE_INTOVF, .words = "integer overflow"},
	{.signal = SIGFPE, .code = FPE_FLTDIV, .words = "division by zero"},
	{.signal = SIGFPE, .code = FPE_FLTINV, .words = "invalid floating-point operation"},
	{.signal = SIGILL, .code = ILL_ILLOPN, .words = "illegal instruction"},
};

bool fg_crash_is_signal(int signal)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(crashes); i++) {
		if (crashes[i].signal == signal)
			return true;
	}
	return false;
}

/* "SIGSEGV at address 0x8 (nothing is mapped there)" */
static char *describe_signal(const siginfo_t *info)
{
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(crashes); i++) {
		if (crashes[i].signal != info->si_signo)
			continue;
		fg_strbuf_add_text(&text, crashes[i].name);
		/* si_code is above 0 only where the kernel found the fault */
		if (crashes[i].has_address && info->si_code > 0 && info->si_code != SI_KERNEL)
			fg_strbuf_printf(&text, " at address 0x%lx",
					 (unsigned long)(uintptr_t)info->si_addr);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(reasons); i++) {
		if (reasons[i].signal == info->si_signo && reasons[i].code == info->si_code)
			fg_strbuf_printf(&text, " (%s)", reasons[i].words);
	}
	return fg_strbuf_detach(&text);
}

static bool has_bit(const char *status, const char *field, int signal)
{
	const char *line = strstr(status, field);

	return line && (strtoull(line + strlen(field), NULL, 16) >> (signal - 1) & 1);
}

/* A program may catch its own faults, and live. */
static bool would_end_it(pid_t tid, int signal)
{
	char path[64];
	char *status = NULL;
	bool lives = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (fg_fs_read(path, STATUS_MAX_BYTES, &status, NULL, NULL) == FG_OK)
		lives = has_bit(status, "\nSigCgt:", signal) ||
			has_bit(status, "\nSigIgn:", signal);
	free(status);
	return !lives;
}

static pid_t process_of(pid_t tid)
{
	char path[64];
	char *status = NULL;
	const char *line = NULL;
	pid_t pid = tid;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (fg_fs_read(path, STATUS_MAX_BYTES, &status, NULL, NULL) == FG_OK) {
		line = strstr(status, "\nTgid:");
		pid = line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : tid;
	}
	free(status);
	return pid;
}

/* The thread that is about to be ended, alone: the others are somewhere else by now. */
static void look_at_crash(struct watching *watching, pid_t tid)
{
	struct fg_look *look = watching->look;
	struct fg_look_process *process = &look->processes[0];
	struct fg_pids tids = {0};
	struct fg_memory memory;
	siginfo_t info = {0};

	watching->crashed = true;
	look->process_count = 1;
	process->pid = process_of(tid);
	process->command = fg_look_read_command(process->pid);
	process->thread_count = 1;
	process->threads = fg_xcalloc(1, sizeof(process->threads[0]));
	process->threads[0] = (struct fg_look_thread){.tid = tid, .seized = true, .stopped = true};
	fg_thread_read_state(process->pid, tid, &process->threads[0].state);
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) != 0)
		info.si_signo = watching->signal;
	process->threads[0].crash = describe_signal(&info);
	fg_memory_init(&memory, process->pid);
	fg_look_read_threads(look, process, &tids, &memory);
	fg_memory_release(&memory);
}

static bool on_stop(void *context, pid_t tid, int status, int signal)
{
	struct watching *watching = context;

	(void)status;
	if (signal == watching->signal && would_end_it(tid, signal))
		look_at_crash(watching, tid);
	return watching->crashed;
}

int fg_crash_find(const struct fg_crash_request *request, struct fg_whereabouts *where,
		  struct fg_error *err)
{
	struct watching watching = {.signal = request->signal};
	struct fg_following following = {
		.options = *request->options, .on_stop = on_stop, .context = &watching};
	int status = FG_OK;

	watching.look = fg_xcalloc(1, sizeof(*watching.look));
	watching.look->symbolizer = request->symbolizer;
	watching.look->no_python = request->no_python;
	status = fg_following_run(&following, err);
	if (watching.crashed) {
		fg_look_describe(watching.look, where);
		status = FG_OK;
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "it did not crash again");
	}
	fg_look_release(watching.look);
	return status;
}
