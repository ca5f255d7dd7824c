// SPDX-License-Identifier: Apache-2.0
/*
 * cost   CPU time that the runner (with its launcher) spends on one repetition of a program that
 *        does nothing, alone and with a store that keeps each repetition, compared with hyperfine.
 * noise  spread of pairs of one program under 0 to 3 busy processes a core: duet pairs, pairs one
 *        after the other, and what `auto` chose.  All three alternate in one run, so that they see
 *        the same machine.
 * auto   what `auto` chooses under 3 busy processes a core, repeatedly, and what both schedules
 *        cost there.
 *
 * The program itself is the workload: `figures work`.
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/sort.h"
#include "runner/runner.h"
#include "store/store.h"

#include <math.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	COST_PAIRS = 300,
	LOADS_MAX = 3,
	BATCH = 5,
	BUSY_MAX = 256,
	VALUES_MAX = 4096
};

static void die(const char *what)
{
	(void)fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* ---- workload ---- */

static int work(void)
{
	enum {
		WORDS = 1 << 18
	};
	uint32_t *words = fg_xcalloc(WORDS, sizeof(words[0]));
	volatile uint64_t sink = 0;
	uint64_t x = 88172645463325252ULL;

	for (unsigned i = 0; i < WORDS; i++)
		words[i] = i * 2654435761U % WORDS;
	for (unsigned i = 0; i < 12000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (i % 8 == 0)
			sink += words[x % WORDS];
	}
	free(words);
	return sink == 42;
}

static pid_t busy[BUSY_MAX];
static size_t busy_count;

static void start_busy(size_t count)
{
	while (busy_count < count && busy_count < BUSY_MAX) {
		const pid_t pid = fork();

		if (pid < 0)
			die("cannot fork");
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				(void)work();
		}
		busy[busy_count++] = pid;
	}
}

static void stop_busy(void)
{
	for (size_t i = 0; i < busy_count; i++) {
		(void)kill(busy[i], SIGKILL);
		(void)waitpid(busy[i], NULL, 0);
	}
	busy_count = 0;
}

/* ---- one measured program ---- */

struct subject {
	struct fg_run run;
	struct fg_benchmark benchmark;
	struct fg_runner *runner;
	struct fg_runner_job *job;
	char *argv[3];
	char *state;
	struct fg_store *store; /* keeps each repetition; NULL: not kept */
	enum fg_runner_state end;
};

static void open_subject(struct subject *s, char *program, char *argument,
			 enum fg_schedule schedule)
{
	struct fg_runner_options options = {.run = &s->run, .roots = {"/", "/"}};
	struct fg_error err = {0};

	*s = (struct subject){0};
	s->argv[0] = program;
	s->argv[1] = argument;
	s->benchmark = (struct fg_benchmark){
		.name = "figures",
		.command = {.text = program, .argv = s->argv, .argc = argument ? 2 : 1}};
	fg_measuring_defaults(&s->benchmark.measure);
	s->benchmark.measure.schedule = schedule;
	s->benchmark.measure.sampler.enabled = false;
	s->benchmark.measure.max_pairs = VALUES_MAX / 4;
	s->benchmark.measure.budget_ns = 3600 * FG_NS_PER_S;
	(void)snprintf(s->run.id, sizeof(s->run.id), "0198f000-0000-7000-8000-000000000001");
	s->run.seed = 7;
	if (fg_fs_temporary_folder("/tmp", "fastgate-bench", &s->state, &err) != FG_OK)
		die(err.message);
	options.state_folder = s->state;
	if (fg_runner_create(&options, &s->runner, &err) != FG_OK ||
	    fg_runner_start(s->runner, &s->benchmark, &s->job, &err) != FG_OK)
		die(err.message);
}

static void open_store(struct subject *s)
{
	char *path = fg_fs_join(s->state, "store.db");
	struct fg_error err = {0};

	if (fg_store_open(path, 0, &s->store, &err) != FG_OK)
		die(err.message);
	free(path);
}

static void measure(struct subject *s, unsigned pairs)
{
	struct fg_runner_event event;
	struct fg_error err = {0};

	do {
		int status = fg_runner_next(s->job, pairs, &s->end, &event, &err);

		if (status == FG_OK && s->store && s->end == FG_RUNNER_REPEATED)
			status = fg_store_progress(s->store, &s->run, NULL, &err);
		if (status != FG_OK)
			die(err.message);
	} while (!fg_runner_is_over(s->end));
	if (s->end == FG_RUNNER_FAILED)
		die(s->run.series[0].failure);
}

static void close_subject(struct subject *s)
{
	fg_runner_finish(s->job);
	fg_runner_free(s->runner);
	fg_store_close(s->store);
	fg_run_release(&s->run);
	if (fg_fs_remove_tree(s->state, NULL) != FG_OK)
		die("cannot remove the scratch folder");
	free(s->state);
}

/* ---- cost ---- */

static double cpu_seconds(int who)
{
	struct rusage usage;

	(void)getrusage(who, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
}

/* CPU seconds of all repetitions of a run. */
static double recorded_seconds(const struct fg_series *series)
{
	double sum = 0;

	for (size_t i = 0; i < series->repetition_count; i++)
		sum += series->repetitions[i].values[FG_METRIC_CPU_TIME] / 1e9;
	return sum;
}

/* Our CPU seconds per repetition of a program that does nothing; `each`: the program's. */
static double own_seconds(bool with_store, double *each)
{
	char program[] = "/bin/true";
	struct subject s;
	const struct fg_series *series = NULL;
	double own = 0;
	double before = 0;
	size_t count = 0;

	open_subject(&s, program, NULL, FG_SCHEDULE_ABBA);
	if (with_store)
		open_store(&s);
	series = &s.run.series[0];
	before = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - recorded_seconds(series);
	count = series->repetition_count;
	measure(&s, COST_PAIRS);
	count = series->repetition_count - count;
	*each = recorded_seconds(series) / (double)series->repetition_count;
	own = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - recorded_seconds(series) -
	      before;
	close_subject(&s);
	return own / (double)count;
}

static void bench_cost(void)
{
	enum {
		PEER_RUNS = 1200
	};
	char *hyperfine[] = {(char *)(uintptr_t) "hyperfine",
			     (char *)(uintptr_t) "-N",
			     (char *)(uintptr_t) "--runs",
			     (char *)(uintptr_t) "1200",
			     (char *)(uintptr_t) "--style=none",
			     (char *)(uintptr_t) "/bin/true",
			     NULL};
	double each = 0;
	const double alone = own_seconds(false, &each);
	const double kept = own_seconds(true, &each);
	double peer = 0;
	double before = 0;
	char *text = NULL;

	printf("cost of one repetition (of /bin/true, which itself takes %.2f ms of CPU)\n",
	       1e3 * each);
	printf("  fastgate   %.3f ms of CPU, kept in the store at once %.3f ms (goal: at most 1 "
	       "ms)\n",
	       1e3 * alone, 1e3 * kept);
	before = cpu_seconds(RUSAGE_CHILDREN);
	if (fg_process_output(hyperfine, NULL, &text, NULL) != FG_OK) {
		printf("  hyperfine  is not installed\n");
		return;
	}
	free(text);
	/*
	 * It has no warm-up and runs exactly as often as requested. Its own cost cannot be
	 * separated from the program's.
	 */
	peer = (cpu_seconds(RUSAGE_CHILDREN) - before) / PEER_RUNS;
	printf("  with the program: fastgate %.3f ms, hyperfine %.3f ms   fastgate / hyperfine = "
	       "%.2f\n",
	       1e3 * (alone + each), 1e3 * peer, (alone + each) / peer);
}

/* ---- noise ---- */

/* Standard deviation estimated from the median absolute deviation, since the decision trims too. */
static double robust_sd(double *values, size_t count)
{
	double middle = 0;

	if (count < 2)
		return (double)NAN;
	middle = fg_middle(values, count);
	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - middle);
	return 1.4826 * fg_middle(values, count);
}

/*
 * ln(candidate / baseline) of CPU time of neighbours: the two of a duet, or first and second, third
 * and fourth of a block.
 */
static double pair_spread(const struct fg_series *series)
{
	static double values[VALUES_MAX];
	size_t count = 0;

	for (size_t i = 0; i + 1 < series->repetition_count && count < VALUES_MAX; i++) {
		const struct fg_repetition *a = &series->repetitions[i];
		const struct fg_repetition *b = &series->repetitions[i + 1];
		double value = 0;

		if (a->aside || a->position % 2 || b->pair != a->pair || a->arm == b->arm)
			continue;
		value = log(a->values[FG_METRIC_CPU_TIME] / b->values[FG_METRIC_CPU_TIME]);
		values[count++] = a->arm == FG_ARM_CANDIDATE ? value : -value;
	}
	return robust_sd(values, count);
}

static void bench_noise_at(unsigned per_core, unsigned cores, char *self, unsigned pairs)
{
	char argument[] = "work";
	struct subject duet;
	struct subject abba;
	struct subject chosen;
	double spreads[3];

	start_busy((size_t)per_core * cores);
	open_subject(&duet, self, argument, FG_SCHEDULE_DUET);
	open_subject(&abba, self, argument, FG_SCHEDULE_ABBA);
	open_subject(&chosen, self, argument, FG_SCHEDULE_AUTO);
	for (unsigned done = BATCH * 2; done <= pairs; done += BATCH * 2) {
		measure(&duet, done);
		measure(&abba, done / 2); /* a block is two pairs */
		measure(&chosen,
			chosen.run.series[0].schedule == FG_SCHEDULE_DUET ? done : done / 2);
	}
	stop_busy();
	spreads[0] = 100 * pair_spread(&duet.run.series[0]);
	spreads[1] = 100 * pair_spread(&abba.run.series[0]);
	spreads[2] = 100 * pair_spread(&chosen.run.series[0]);
	printf("  %u busy a core   %6.2f %%   %6.2f %%   %5.2f   %6.2f %% (%s)\n", per_core,
	       spreads[0], spreads[1], spreads[0] / spreads[1], spreads[2],
	       fg_schedule_name(chosen.run.series[0].schedule));
	printf("                   %s\n", chosen.run.series[0].schedule_reason);
	(void)fflush(stdout);
	close_subject(&duet);
	close_subject(&abba);
	close_subject(&chosen);
}

static void bench_noise(unsigned pairs)
{
	char *self = realpath("/proc/self/exe", NULL);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!self || sched_getaffinity(0, sizeof(set), &set) != 0)
		die("cannot tell who and where we are");
	printf("spread of pairs of the same program, %u pairs each, taking turns (goal: duet at "
	       "most half of back-to-back up to one busy process a core)\n",
	       pairs);
	printf("  load               duet     back-to-back   ratio   auto\n");
	for (unsigned per_core = 0; per_core <= LOADS_MAX; per_core++)
		bench_noise_at(per_core, (unsigned)CPU_COUNT(&set), self, pairs);
	free(self);
}

/* ---- auto ---- */

/* The cost of information under a schedule: spread² × seconds per pair. */
static double learning_cost(const struct subject *s)
{
	const struct fg_series *series = &s->run.series[0];
	const double spread = pair_spread(series);
	double wall_ns = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < series->repetition_count; i++) {
		if (series->repetitions[i].aside)
			continue;
		wall_ns += series->repetitions[i].values[FG_METRIC_WALL_TIME];
		pairs++;
	}
	/* A duet takes the time of one execution; sequential pairs take both. */
	if (series->schedule == FG_SCHEDULE_DUET)
		wall_ns /= 2;
	return spread * spread * 2 * wall_ns / (double)pairs / 1e9;
}

/*
 * Under three busy processes per core either schedule may be better, so `auto` chooses again in
 * every round, alternating with pairs of both, and its choice is compared with the actual costs.
 */
static void bench_auto(unsigned rounds)
{
	char *self = realpath("/proc/self/exe", NULL);
	char argument[] = "work";
	struct subject duet;
	struct subject abba;
	unsigned chose_duet = 0;
	double costs[2];
	double mixed = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!self || sched_getaffinity(0, sizeof(set), &set) != 0)
		die("cannot tell who and where we are");
	start_busy((size_t)LOADS_MAX * (unsigned)CPU_COUNT(&set));
	open_subject(&duet, self, argument, FG_SCHEDULE_DUET);
	open_subject(&abba, self, argument, FG_SCHEDULE_ABBA);
	for (unsigned i = 1; i <= rounds; i++) {
		struct subject chosen;

		measure(&duet, 4 * i);
		open_subject(&chosen, self, argument, FG_SCHEDULE_AUTO);
		chose_duet += chosen.run.series[0].schedule == FG_SCHEDULE_DUET;
		close_subject(&chosen);
		measure(&abba, 2 * i); /* a block is two pairs */
	}
	stop_busy();
	costs[0] = learning_cost(&duet);
	costs[1] = learning_cost(&abba);
	mixed = (chose_duet * costs[0] + (rounds - chose_duet) * costs[1]) / rounds;
	printf("auto under %d busy processes a core, asked %u times (cost: spread^2 x seconds of a "
	       "pair; goal: never the worse of the two)\n",
	       LOADS_MAX, rounds);
	printf("  duet %.3g   back-to-back %.3g   auto %.3g (duet %u times of %u)   auto / worse = "
	       "%.2f   auto / better = %.2f\n",
	       costs[0], costs[1], mixed, chose_duet, rounds, mixed / fmax(costs[0], costs[1]),
	       mixed / fmin(costs[0], costs[1]));
	close_subject(&duet);
	close_subject(&abba);
	free(self);
}

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "work") == 0)
		return work();
	if (argc >= 2 && strcmp(argv[1], "cost") == 0)
		bench_cost();
	else if (argc >= 3 && strcmp(argv[1], "noise") == 0)
		bench_noise((unsigned)strtoul(argv[2], NULL, 10));
	else if (argc >= 3 && strcmp(argv[1], "auto") == 0)
		bench_auto((unsigned)strtoul(argv[2], NULL, 10));
	else
		die("figures cost | noise PAIRS | auto ROUNDS | work");
	return 0;
}
