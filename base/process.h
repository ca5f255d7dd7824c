/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that we run, each in its own process group.
 *
 * fg_process_start() → fg_process_wait() → fg_process_release();
 * fg_process_run() combines all three.
 * - No shell is involved: argv[0] is looked up in PATH of the given environment.
 * - A failing exec is reported by fg_process_start() with errno's text and the program's name.
 * - Output is captured into bounded buffers (head and tail of longer output), inherited, or
 *   dropped.  Reading happens inside fg_process_wait().
 * - At the time limit, or when interrupted, the whole group gets SIGTERM, and SIGKILL after
 *   `grace_ms`.  Descendants that left the group are found as well (we are their subreaper) and
 *   killed.
 * - `interrupted` (may be NULL) is checked while waiting: true ends the program with
 *   FG_EINTERRUPTED.  A program that ended by itself before that keeps its result.
 */
#ifndef FG_BASE_PROCESS_H
#define FG_BASE_PROCESS_H

#include "base/base.h"
#include "base/capture.h"
#include "base/error.h"
#include "base/strbuf.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

enum fg_process_stream {
	FG_STREAM_DISCARD = 0,
	FG_STREAM_INHERIT,
	FG_STREAM_CAPTURE, /* through a pipe */
	FG_STREAM_FILE,    /* captured in a file in memory: printing never waits for us */
};

struct fg_process_options {
	char *const *argv;
	char *const *environment; /* "NAME=value", NULL at the end; NULL: ours */
	const char *working_directory;
	const char *stdin_path; /* NULL: /dev/null */
	enum fg_process_stream stdout_to;
	enum fg_process_stream stderr_to;
	size_t capture_limit_bytes; /* per stream; 0: 1 MiB */
	/* FG_STREAM_CAPTURE also writes here as it reads, 64 MiB at most; 0: nowhere */
	int copy_fd;
	int64_t timeout_ns; /* 0: none */
	int64_t grace_ms;   /* between SIGTERM and SIGKILL; 0: 2000 */
	/* the calling thread traces the program, which stops after exec; `launcher` must be NULL */
	bool traced;
	bool shows_opens; /* traced: stops at each file it opens (open_filter.h) */
	bool pinned;      /* pinned to `cpu` before exec */
	int cpu;
	bool no_core; /* soft core limit 0: no core file unless the program raises it */
	/* leave the program's background processes running (a server that `setup` starts) */
	bool keep_children;
	const volatile sig_atomic_t *interrupted;
	/*
	 * Path of fastgate-launch (base/launch.h): keeps our memory before exec out of the
	 * program's peak. NULL: the program is started directly.
	 */
	const char *launcher;
};

struct fg_process_result {
	bool exited;   /* false: ended by a signal */
	int exit_code; /* if `exited` */
	int signal;    /* if not `exited` */
	bool timed_out;
	bool left_children; /* descendants outlived the program and were ended */
	int64_t started_ns; /* monotonic */
	int64_t ended_ns;
	int64_t wall_ns;
	int64_t leader_cpu_ns;  /* main thread's time on a CPU; 0 without a launcher */
	int64_t leader_wait_ns; /* main thread's time runnable, waiting for a CPU */
	struct rusage usage;    /* resources of the program and its waited-for children */
	char *stdout_text;      /* captured; NUL-terminated, never NULL after a wait with capture */
	size_t stdout_size;
	char *stderr_text;
	size_t stderr_size;
	uint64_t printed[2]; /* bytes on stdout and stderr, kept or not */
	bool output_cut;
};

/* Returns the CPU time of the program and its waited-for children. */
int64_t fg_process_cpu_ns(const struct fg_process_result *result);

struct fg_process {
	pid_t pid;
	int pidfd;
	int64_t started_ns;
	struct fg_process_options options;
	struct fg_capture captures[2]; /* stdout, stderr */
	/* time when SIGKILL is due, after SIGTERM; 0: not yet terminated */
	int64_t kill_at_ns;
	bool timed_out;
	bool reaped;
	int report_fd; /* the launcher's reports; -1: none */
	bool counted;  /* counted among this process's running programs */
};

int fg_process_start(const struct fg_process_options *options, struct fg_process *process,
		     struct fg_error *err) FG_NODISCARD;
/*
 * Waits for all of `count` started programs at once (a duet), collecting output and enforcing
 * limits. Results are in the same order.
 */
int fg_process_wait(struct fg_process *processes, size_t count, struct fg_process_result *results,
		    struct fg_error *err) FG_NODISCARD;
/* Sends a signal to the strays: children that we neither started nor keep. Returns their number. */
size_t fg_process_signal_strays(int signal);
/* Kills the strays and, in turn, their children. Returns whether any was still running. */
bool fg_process_end_strays(void);
/* Is a process that a program with keep_children left behind still running? */
bool fg_process_has_kept(void);
/* Ends the processes that programs started with keep_children left running. */
void fg_process_end_kept(void);
void fg_process_release(struct fg_process *process);
void fg_process_result_release(struct fg_process_result *result);

int fg_process_run(const struct fg_process_options *options, struct fg_process_result *result,
		   struct fg_error *err) FG_NODISCARD;
/*
 * Appends "exited with code 3", "was killed by signal 11 (Segmentation fault)" or "exceeded its
 * time limit (stopped after 60.0 s)".
 */
void fg_process_describe(const struct fg_process_result *result, struct fg_strbuf *text);

#endif
