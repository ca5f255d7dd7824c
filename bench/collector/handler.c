// SPDX-License-Identifier: Apache-2.0
/*
 * Measures the collector's handler by the thread's own CPU clock, which stops while the kernel runs
 * another thread.  The collector is linked into this program and switched on by its environment; a
 * handler in front of the collector's reads the clock before and after.  Alternately before and
 * after the collector's, the front handler spins for the collector's average duration: the lower
 * bound under the same signals and interrupts.
 *
 * The clock includes interrupts and, on some hosts, time in which a virtual machine is not running;
 * the spinning handler shows how often.  Handlers are therefore classified by work that not every
 * sample needs, and the longest are listed with their page faults and context switches.  A switch
 * right after the handler also falls between the clock readings, so a handler's own time is the
 * minimum of CPU time and elapsed time.
 *
 * usage: handler SECONDS_OF_CPU_TIME [THREADS]; the first second does not count. The stack is
 * 300 frames deep, and its upper part changes all the time. The other threads do nothing.
 */
#include "collector/sampler/handler.h"

#include "collector/process/process.h"
#include "collector/process/real.h"
#include "collector/process/threads.h"
#include "collector/sampler/clocks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	DEPTH = 300,
	CHANGING = 60,
	TURNS = 20000,
	LONGEST = 10,
};

struct seen {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[FG_HANDLER_BUCKETS];
};

/* Counters of the collector and the kernel. */
struct work {
	uint64_t faults;
	uint64_t preempted;
	uint64_t waited; /* voluntary waits, in the file system for example */
	uint64_t bytes;  /* bytes of the trace file populated */
	uint64_t frames; /* computed from unwind tables */
};

struct handler {
	uint64_t at_ns;
	uint64_t cpu_ns;
	uint64_t elapsed_ns;
	struct work inside;
};

enum kind {
	ROOM,   /* pages of the file were created */
	FRAMES, /* new frames were computed */
	FAULTS, /* only page faults */
	PLAIN,
	KINDS,
};

static struct seen empty;
static struct seen ours; /* CPU time */
static struct seen own;
static struct seen by_kind[KINDS]; /* own time */
static struct handler longest[LONGEST];
static uint64_t counted_from_ns;
static uint64_t end_ns;
static struct seen waits; /* elapsed time */
static uint64_t preempted;
static uint64_t faulted;

static uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct work work_so_far(void)
{
	const struct fg_trace_header *header = atomic_load(&fg_g.header);
	struct rusage usage;

	(void)getrusage(RUSAGE_THREAD, &usage);
	return (struct work){
		.faults = (uint64_t)(usage.ru_minflt + usage.ru_majflt),
		.preempted = (uint64_t)usage.ru_nivcsw,
		.waited = (uint64_t)usage.ru_nvcsw,
		.bytes = __atomic_load_n(&fg_g.populated, __ATOMIC_RELAXED),
		.frames = __atomic_load_n(&header->frames_slow, __ATOMIC_RELAXED),
	};
}

static struct work difference(const struct work *after, const struct work *before)
{
	return (struct work){
		.faults = after->faults - before->faults,
		.preempted = after->preempted - before->preempted,
		.waited = after->waited - before->waited,
		.bytes = after->bytes - before->bytes,
		.frames = after->frames - before->frames,
	};
}

static void note(struct seen *seen, uint64_t ns)
{
	seen->count++;
	seen->sum_ns += ns;
	seen->buckets[fg_handler_bucket(ns)]++;
}

static uint64_t own_ns(const struct handler *handler)
{
	return handler->cpu_ns < handler->elapsed_ns ? handler->cpu_ns : handler->elapsed_ns;
}

static enum kind kind_of(const struct work *inside)
{
	if (inside->bytes)
		return ROOM;
	if (inside->frames)
		return FRAMES;
	return inside->faults ? FAULTS : PLAIN;
}

static void keep_if_long(const struct handler *handler)
{
	unsigned i = LONGEST;

	for (; i > 0 && own_ns(&longest[i - 1]) < own_ns(handler); i--)
		if (i < LONGEST)
			longest[i] = longest[i - 1];
	if (i < LONGEST)
		longest[i] = *handler;
}

/* Spins for the average duration of the collector's handler. */
static struct handler do_nothing(void)
{
	const uint64_t long_ns = own.count ? own.sum_ns / own.count : 0;
	const uint64_t first = clock_of(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t begin = clock_of(CLOCK_MONOTONIC);
	uint64_t end = begin;

	while (end - begin < long_ns)
		end = clock_of(CLOCK_MONOTONIC);
	return (struct handler){.cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - first,
				.elapsed_ns = end - begin};
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	static bool is_second;
	struct handler nothing = {0};

	if (!is_second)
		nothing = do_nothing();
	const struct work before = work_so_far();
	const uint64_t first = clock_of(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t begin = clock_of(CLOCK_MONOTONIC);

	fg_on_signal(number, info, context);
	const uint64_t end = clock_of(CLOCK_MONOTONIC);
	const uint64_t second = clock_of(CLOCK_THREAD_CPUTIME_ID);
	const struct work after = work_so_far();
	const struct handler handler = {first, second - first, end - begin,
					difference(&after, &before)};
	const struct work *inside = &handler.inside;

	if (is_second)
		nothing = do_nothing();
	is_second = !is_second;
	if (first < counted_from_ns)
		return;
	note(&empty, own_ns(&nothing));
	note(&ours, handler.cpu_ns);
	note(&own, own_ns(&handler));
	note(&by_kind[kind_of(inside)], own_ns(&handler));
	preempted += inside->preempted > 0;
	faulted += inside->faults;
	if (inside->waited)
		note(&waits, handler.elapsed_ns);
	keep_if_long(&handler);
}

static __attribute__((noinline)) void descend(unsigned depth)
{
	if (depth > 0)
		descend(depth - 1);
	else
		for (unsigned i = 0; i < TURNS; i++)
			__asm__ volatile("" ::: "memory");
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void work(unsigned depth)
{
	if (depth > 0)
		work(depth - 1);
	else
		for (unsigned i = 0; clock_of(CLOCK_THREAD_CPUTIME_ID) < end_ns; i++)
			descend(i * 7 % CHANGING);
	__asm__ volatile("" ::: "memory");
}

/* Returns the upper end of the bucket that contains the quantile. */
static double quantile_us(const struct seen *seen, double part)
{
	double left = part * (double)seen->count;
	unsigned i = 0;

	for (; i + 1 < FG_HANDLER_BUCKETS; i++) {
		left -= (double)seen->buckets[i];
		if (left <= 0)
			break;
	}
	return (double)((UINT64_C(4) + i % 4) << (8 + i / 4)) / 1e3;
}

static void print_row(const char *name, const struct seen *seen)
{
	static const double parts[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};

	if (seen->count == 0)
		return;
	(void)printf("  %-35s %7llu handlers: mean %.1f", name, (unsigned long long)seen->count,
		     (double)seen->sum_ns / 1e3 / (double)seen->count);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		(void)printf(" p%g %.1f", 100 * parts[i], quantile_us(seen, parts[i]));
	(void)printf("\n");
}

static const struct {
	const char *name;
	const struct seen *seen;
} all[] = {
	{"nothing, as long, own time", &empty}, {"fastgate, CPU time", &ours},
	{"fastgate, own time", &own},           {"  room in the file", &by_kind[ROOM]},
	{"  new frames", &by_kind[FRAMES]},     {"  page faults elsewhere", &by_kind[FAULTS]},
	{"  plain work", &by_kind[PLAIN]},
};

static void print_all(void)
{
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		print_row(all[i].name, all[i].seen);
}

static void print_longest(void)
{
	(void)printf("  the longest:  at s   CPU us  elapsed us  faults  preempted  waited  new "
		     "bytes  new frames\n");
	for (unsigned i = 0; i < LONGEST && longest[i].cpu_ns > 0; i++) {
		const struct work *inside = &longest[i].inside;

		(void)printf(
			"              %6.2f %8.1f %11.1f %7llu %10llu %7llu %10llu %11llu\n",
			(double)longest[i].at_ns / 1e9, (double)longest[i].cpu_ns / 1e3,
			(double)longest[i].elapsed_ns / 1e3, (unsigned long long)inside->faults,
			(unsigned long long)inside->preempted, (unsigned long long)inside->waited,
			(unsigned long long)inside->bytes, (unsigned long long)inside->frames);
	}
}

static void *idle(void *unused)
{
	(void)pause();
	return unused;
}

static void add_threads(unsigned long count)
{
	pthread_t thread;

	for (; count > 0; count--)
		if (pthread_create(&thread, NULL, idle, NULL) != 0)
			exit(2);
}

int main(int argc, char **argv)
{
	const uint64_t second_ns = 1000000000u;
	struct sigaction action;

	if (!fg_alive() || argc < 2) {
		(void)fprintf(stderr, "handler SECONDS [THREADS], and FASTGATE_COLLECTOR_OUTPUT in "
				      "the environment\n");
		return 2;
	}
	add_threads(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	(void)sigfillset(&action.sa_mask);
	counted_from_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) + second_ns;
	end_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) + strtoull(argv[1], NULL, 10) * second_ns;
	FG_REAL(sigaction);
	if (real_sigaction(FG_SIGNAL, &action, NULL) != 0)
		return 2;
	work(DEPTH - CHANGING);
	print_all();
	print_longest();
	print_row("waited, elapsed time", &waits);
	(void)printf("  %llu were preempted; %llu page faults; %.0f signals a second of CPU time\n",
		     (unsigned long long)preempted, (unsigned long long)faulted,
		     (double)ours.count * 1e9 / (double)(end_ns - counted_from_ns));
	return 0;
}
