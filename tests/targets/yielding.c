// SPDX-License-Identifier: Apache-2.0
/*
 * A waiting call is interrupted by a signal of the program, and a sample arrives at the same
 * moment. Samples are sent to a thread and delivered first, but the program's handler must still
 * decide whether the call ends or continues.  The process is stopped in the middle of the call, so
 * that both signals are pending when it continues.  If SIGPROF is ignored, the sample is sent by
 * hand.
 *
 * ticks    the sample arrives between the end of the handler and the return of the call that the
 *          handler ended: the handler blocks SIGPROF past every wrapper until a sample is pending,
 *          so that the sample arrives when the handler returns
 * own      the program's signal is also SIGPROF
 * both     the program's signal is also SIGPROF, and is sent while a sample of the wall clock is
 *          pending
 * behind   the program's signal is also SIGPROF, and its handler returns once a sample is pending
 * masked   the call's mask blocks the program's signal: the call continues
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SYS_poll
# define SYS_OF_POLL SYS_poll
#else
# define SYS_OF_POLL SYS_ppoll /* on newer architectures, libc implements poll() with this call */
#endif

enum {
	KERNEL_SIGSET = 8,
	ROUNDS = 10
};

static int pipes[2];
static volatile sig_atomic_t continues;
static int holds;
static int both;
static int by_hand; /* the sample is sent by hand */
static int sent = SIGUSR1;

static void hold_a_sample(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPROF);
	check(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, KERNEL_SIGSET) == 0, "mask");
	do {
		spin(1000);
		(void)sigemptyset(&set);
		check(syscall(SYS_rt_sigpending, &set, KERNEL_SIGSET) == 0, "rt_sigpending");
	} while (sigismember(&set, SIGPROF) != 1);
}

static void on_signal(int number)
{
	const int saved_errno = errno;

	(void)number;
	if (holds)
		hold_a_sample();
	if (continues)
		check(write(pipes[1], "", 1) == 1, "write");
	errno = saved_errno;
}

static long by_read(void)
{
	char byte;

	return read(pipes[0], &byte, 1);
}

static long by_poll(void)
{
	struct pollfd what = {pipes[0], POLLIN, 0};

	return poll(&what, 1, -1);
}

static long by_ppoll(void)
{
	struct pollfd what = {pipes[0], POLLIN, 0};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	const int status = ppoll(&what, 1, NULL, &set);

	return status == 1 ? by_read() : status;
}

/*
 * Is the process in this system call, or stopped in it, or restarting it after a stop? A read
 * counts only if it reads the pipe, because libraries may also read. For an arm64 process stopped
 * in a call, the kernel reports no number, and the address of the instruction that repeats the
 * call.
 */
static int is_in(pid_t process, long number)
{
	static unsigned long behind; /* the instruction after the call */
	char path[64];
	char text[256] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/syscall", (int)process);
	const int fd = open(path, O_RDONLY);

	check(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && close(fd) == 0, path);
	char *end = text;
	const long now = strtol(text, &end, 10);
	const long argument = strtol(end, NULL, 16);
	const char *const last = strrchr(text, ' ');
	const unsigned long pc = last ? strtoul(last, NULL, 16) : 0;

	if (text[0] == 'r')
		return 0;
	if (now == number && (number != SYS_read || argument == pipes[0])) {
		behind = pc;
		return 1;
	}
	return now == SYS_restart_syscall || (now == -1 && pc == behind - 4);
}

/* Is a sample pending? Timers continue while the process is stopped. */
static int has_sample(pid_t process)
{
	static const char title[] = "SigPnd:";
	char path[64];
	char text[4096];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
	const int fd = open(path, O_RDONLY);
	const ssize_t size = read(fd, text, sizeof(text) - 1);

	check(fd >= 0 && size > 0 && close(fd) == 0, path);
	text[size] = '\0';
	const char *const line = strstr(text, title);

	check(line != NULL, path);
	return (strtoull(line + sizeof(title) - 1, NULL, 16) >> (SIGPROF - 1)) & 1u;
}

static int interrupt(pid_t process, long number)
{
	int status;

	do {
		(void)kill(process, SIGCONT);
		while (!is_in(process, number))
			(void)sched_yield();
		(void)kill(process, SIGSTOP);
		check(waitpid(process, &status, WUNTRACED) == process && WIFSTOPPED(status),
		      "the process has stopped");
	} while (!is_in(process, number));
	while (both && !has_sample(process))
		(void)sched_yield();
	check(kill(process, sent) == 0 &&
		      (!by_hand || syscall(SYS_tgkill, process, process, SIGPROF) == 0) &&
		      kill(process, SIGCONT) == 0,
	      "kill");
	const pid_t ended = waitpid(process, &status, 0);

	if (ended != process || !WIFEXITED(status))
		(void)printf("waited for %d: %d, status %#x, errno %d\n", (int)process, (int)ended,
			     (unsigned)status, errno);
	check(ended == process && WIFEXITED(status), "it has ended");
	return WEXITSTATUS(status) == 0;
}

static unsigned count(long (*wait)(void), long number, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	unsigned good = 0;

	continues = flags != 0;
	check(sigaction(sent, &action, NULL) == 0, "sigaction");
	for (unsigned i = 0; i < ROUNDS; i++) {
		const pid_t process = fork();

		if (process == 0) {
			(void)alarm(60); /* ends the program if a call waits for ever */
			const long result = wait();

			_exit(continues ? result != 1 : result != -1 || errno != EINTR);
		}
		check(process > 0, "fork");
		good += (unsigned)interrupt(process, number);
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *const how = argc > 1 ? argv[1] : "";
	const int masked = strcmp(how, "masked") == 0;

	both = strcmp(how, "both") == 0;
	if (both || strcmp(how, "own") == 0 || strcmp(how, "behind") == 0)
		sent = SIGPROF;
	holds = strcmp(how, "ticks") == 0 || strcmp(how, "behind") == 0;
	by_hand = !holds && sent == SIGUSR1;
	check(pipe(pipes) == 0 && signal(SIGPROF, SIG_IGN) != SIG_ERR, "set-up");
	if (!masked)
		print_value("ended", count(by_read, SYS_read, 0) + count(by_poll, SYS_OF_POLL, 0));
	print_value("gone_on", masked ? count(by_ppoll, SYS_ppoll, SA_RESTART)
				      : count(by_read, SYS_read, SA_RESTART));
	spin_us(20000);
	return 0;
}
