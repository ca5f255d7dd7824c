// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/random.h"
#include "cli/framework/command.h"
#include "cli/session/plan.h"
#include "cli/session/session.h"
#include "gate/gate.h"
#include "runner/doctor.h"
#include "runner/runner.h"

#include <math.h>

struct options {
	struct fg_cli_config config;
	const char *root;
	bool calibrate;
	unsigned pairs;
	int64_t budget_ns;
};

/* ---- calibration: a program against itself, judged by the gate's own rule ---- */

enum {
	ROWS = 2 /* one per schedule */
};

struct calibration {
	const char *benchmark;
	struct calibration_row {
		enum fg_schedule schedule;
		unsigned pairs;
		unsigned aside; /* repetitions of a duet that did not overlap in time */
		double seconds;
		double smallest_cpu_time; /* relative; NaN: unknown */
		double smallest_wall_time;
		char *failure; /* NULL if it was measured */
	} rows[ROWS];
};

static const enum fg_schedule schedules[ROWS] = {FG_SCHEDULE_DUET, FG_SCHEDULE_ABBA};

/* Long enough for the resolution of the kernel's clock, short enough for many pairs. */
static char loop_shell[] = "/bin/sh";
static char loop_option[] = "-c";
static char loop_text[] = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
static char *loop_argv[] = {loop_shell, loop_option, loop_text, NULL};

struct calibrating {
	struct fg_cli *cli;
	struct fg_run run;
	struct fg_runner *runner;
	struct fg_benchmark benchmarks[ROWS];
	char *names[ROWS];
};

static void show_progress(const struct calibrating *c, const struct fg_runner_job *job)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(job, &progress);
	if (c->cli->err_is_terminal && !c->cli->quiet)
		(void)fprintf(stderr, "\r\033[K%s: pair %u of %u", progress.series->name,
			      progress.pairs, progress.wanted);
}

/* `benchmark` NULL: a shell loop. */
static void make_benchmarks(struct calibrating *c, const struct options *given,
			    const struct fg_benchmark *benchmark)
{
	struct fg_benchmark base = {.name = "shell loop",
				    .command = {.text = loop_text, .argv = loop_argv, .argc = 3},
				    .timeout_ns = 60 * FG_NS_PER_S};

	if (benchmark)
		base = *benchmark;
	else
		fg_policy_defaults(&base.policy);
	fg_measuring_defaults(&base.measure);
	base.measure.sampler.enabled = false;
	base.measure.min_pairs = given->pairs;
	base.measure.max_pairs = given->pairs;
	base.measure.budget_ns = given->budget_ns;
	for (size_t i = 0; i < ROWS; i++) {
		c->names[i] = fg_xasprintf("%s, %s", base.name, fg_schedule_name(schedules[i]));
		c->benchmarks[i] = base;
		c->benchmarks[i].name = c->names[i];
		c->benchmarks[i].measure.schedule = schedules[i];
	}
}

static int measure_row(struct calibrating *c, size_t row, unsigned pairs, struct fg_error *err)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_event event;
	struct fg_runner_job *job = NULL;
	int status = fg_runner_start(c->runner, &c->benchmarks[row], &job, err);

	if (status != FG_OK)
		return status;
	do {
		status = fg_runner_next(job, pairs, &state, &event, err);
		show_progress(c, job);
	} while (status == FG_OK && !fg_runner_is_over(state));
	fg_runner_finish(job);
	if (status != FG_OK)
		return status;
	if (state == FG_RUNNER_INTERRUPTED)
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	return status;
}

static void take_metric(const struct fg_metric_verdict *metric, struct calibration_row *row)
{
	if (strcmp(metric->name, "cpu_time") == 0) {
		row->smallest_cpu_time = metric->smallest_detectable;
		row->pairs = metric->pairs;
	} else if (strcmp(metric->name, "wall_time") == 0 && metric->decided) {
		row->smallest_wall_time = metric->smallest_detectable;
	}
}

static unsigned count_aside(const struct fg_series *series)
{
	unsigned count = 0;

	for (size_t i = 0; i < series->repetition_count; i++)
		count += series->repetitions[i].aside == FG_ASIDE_OVERLAP;
	return count;
}

/* Asks the gate's own rule for the smallest change it could have detected. */
static int ask_the_gate(struct calibrating *c, struct calibration *calibration,
			struct fg_error *err)
{
	struct fg_plan plan = {.benchmarks = c->benchmarks, .benchmark_count = ROWS};
	struct fg_verdict verdict = {0};
	int status = FG_OK;

	for (size_t i = 0; i < c->run.series_count; i++)
		c->run.series[i].identical =
			false; /* otherwise identical programs would pass unmeasured */
	status = fg_gate_decide(&(struct fg_gate_input){.run = &c->run,
							.plan = &plan,
							.policy = &c->benchmarks[0].policy,
							.measure = &c->benchmarks[0].measure,
							.now_ns = fg_clock_wall_ns()},
				&verdict, err);
	for (size_t i = 0; status == FG_OK && i < c->run.series_count && i < ROWS; i++) {
		struct calibration_row *row = &calibration->rows[i];

		*row = (struct calibration_row){.schedule = schedules[i],
						.seconds = c->run.series[i].seconds,
						.aside = count_aside(&c->run.series[i]),
						.smallest_cpu_time = (double)NAN,
						.smallest_wall_time = (double)NAN,
						.failure = fg_xstrdup(c->run.series[i].failure)};
		for (size_t k = 0;
		     i < verdict.benchmark_count && k < verdict.benchmarks[i].metric_count; k++)
			take_metric(&verdict.benchmarks[i].metrics[k], row);
	}
	fg_verdict_release(&verdict);
	return status;
}

/* The benchmark's command is relative to `root`. FG_EINTERRUPTED: the user asked to stop. */
static int calibrate(struct fg_cli *cli, const struct options *given,
		     const struct fg_benchmark *benchmark, const char *root,
		     struct calibration *calibration, struct fg_error *err)
{
	struct calibrating c = {.cli = cli};
	const char *parent = getenv("TMPDIR");
	char *state = NULL;
	int status = fg_fs_temporary_folder(parent && *parent ? parent : "/tmp", "fastgate-doctor",
					    &state, err);

	*calibration = (struct calibration){.benchmark = "a loop of the shell"};
	if (benchmark)
		calibration->benchmark = benchmark->name;
	fg_run_init(&c.run);
	c.run.has_baseline = true;
	make_benchmarks(&c, given, benchmark);
	if (status != FG_OK)
		goto out;
	status = fg_random_bytes(&c.run.seed, sizeof(c.run.seed), err);
	if (status != FG_OK)
		goto out;
	status = fg_runner_create(&(struct fg_runner_options){.run = &c.run,
							      .roots = {root, root},
							      .state_folder = state,
							      .interrupted = cli->interrupted},
				  &c.runner, err);
	for (size_t i = 0; i < ROWS && status == FG_OK; i++)
		status = measure_row(&c, i, given->pairs, err);
	if (cli->err_is_terminal && !cli->quiet)
		(void)fputs("\r\033[K", stderr);
	if (status != FG_OK)
		goto out;
	status = ask_the_gate(&c, calibration, err);
out:
	fg_runner_free(c.runner);
	fg_run_release(&c.run);
	for (size_t i = 0; i < ROWS; i++)
		free(c.names[i]);
	if (state && fg_fs_remove_tree(state, NULL) != FG_OK)
		fg_cli_warn(cli, "cannot remove %s", state);
	free(state);
	return status;
}

static void calibration_release(struct calibration *calibration)
{
	for (size_t i = 0; i < ROWS; i++)
		free(calibration->rows[i].failure);
	*calibration = (struct calibration){0};
}

/* ---- findings ---- */

static const char *paint(const struct fg_cli *cli, enum fg_severity severity)
{
	static const char *const colors[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};

	return cli->color_out ? colors[severity] : "";
}

static void print_finding(const struct fg_cli *cli, const struct fg_finding *finding,
			  struct fg_strbuf *text)
{
	const char *end = cli->color_out ? "\033[0m" : "";

	fg_strbuf_printf(text, "%s%-8s%s %s: %s\n", paint(cli, finding->severity),
			 fg_severity_name(finding->severity), end, finding->subject,
			 finding->evidence);
	if (finding->meaning)
		fg_strbuf_printf(text, "         %s\n", finding->meaning);
	if (finding->remedy)
		fg_strbuf_printf(text, "         mend: %s\n", finding->remedy);
}

static void print_calibration(const struct calibration *calibration, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\nsmallest change that can be seen here (%s against itself):\n",
			 calibration->benchmark);
	for (size_t i = 0; i < ROWS; i++) {
		const struct calibration_row *row = &calibration->rows[i];
		char cpu[FG_NUMBER_TEXT_SIZE];
		char wall[FG_NUMBER_TEXT_SIZE];

		if (row->failure) {
			fg_strbuf_printf(text, "  %-5s could not be measured: %s\n",
					 fg_schedule_name(row->schedule), row->failure);
			continue;
		}
		fg_strbuf_printf(text, "  %-5s %u pair%s, %.1f s: cpu time %s",
				 fg_schedule_name(row->schedule), row->pairs,
				 row->pairs == 1 ? "" : "s", row->seconds,
				 isnan(row->smallest_cpu_time)
					 ? "unknown"
					 : fg_format_change(row->smallest_cpu_time, cpu));
		if (!isnan(row->smallest_wall_time))
			fg_strbuf_printf(text, ", wall time %s",
					 fg_format_change(row->smallest_wall_time, wall));
		if (row->aside)
			fg_strbuf_printf(text, " (%u repetition%s did not run at the same time)",
					 row->aside, row->aside == 1 ? "" : "s");
		fg_strbuf_add_char(text, '\n');
	}
}

static void write_calibration(struct fg_json_writer *w, const struct calibration *calibration)
{
	fg_json_begin_object(w, "calibration");
	fg_json_text(w, "benchmark", calibration->benchmark);
	fg_json_begin_array(w, "schedules");
	for (size_t i = 0; i < ROWS; i++) {
		const struct calibration_row *row = &calibration->rows[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "schedule", fg_schedule_name(row->schedule));
		fg_json_int(w, "pairs", row->pairs);
		fg_json_int(w, "aside", row->aside);
		fg_json_double(w, "seconds", row->seconds);
		fg_json_double(w, "smallest_cpu_time", row->smallest_cpu_time);
		fg_json_double(w, "smallest_wall_time", row->smallest_wall_time);
		fg_json_text(w, "failure", row->failure);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_end(w);
}

static void write_json(const struct fg_diagnosis *diagnosis, const struct calibration *calibration,
		       struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-doctor/1");
	fg_json_text(&w, "worst", fg_severity_name(fg_diagnosis_worst(diagnosis)));
	fg_json_begin_array(&w, "findings");
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct fg_finding *finding = &diagnosis->items[i];

		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "id", finding->id);
		fg_json_text(&w, "subject", finding->subject);
		fg_json_text(&w, "severity", fg_severity_name(finding->severity));
		fg_json_text(&w, "evidence", finding->evidence);
		fg_json_text(&w, "meaning", finding->meaning);
		fg_json_text(&w, "remedy", finding->remedy);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	if (calibration)
		write_calibration(&w, calibration);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

static void print_words(const struct fg_cli *cli, const struct fg_diagnosis *diagnosis,
			const struct calibration *calibration, struct fg_strbuf *text)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		if (!cli->quiet || diagnosis->items[i].severity > FG_SEVERITY_OK)
			print_finding(cli, &diagnosis->items[i], text);
	}
	if (calibration)
		print_calibration(calibration, text);
}

/* ---- the command ---- */

/* *benchmark is NULL, with FG_OK, if none was named. */
static int find_benchmark(const struct fg_cli *cli, const struct fg_plan *plan,
			  const struct fg_benchmark **benchmark, struct fg_error *err)
{
	*benchmark = NULL;
	if (cli->argument_count == 0) {
		*benchmark = plan->benchmark_count ? &plan->benchmarks[0] : NULL;
		return FG_OK;
	}
	*benchmark = fg_plan_find(plan, cli->arguments[0]);
	return *benchmark
		       ? FG_OK
		       : fg_error_set(err, FG_EINVAL, "there is no benchmark '%s' in fastgate.yml",
				      cli->arguments[0]);
}

static int examine(struct fg_cli *cli, const struct options *given, const struct fg_plan *plan,
		   const struct fg_benchmark *benchmark, struct fg_error *err)
{
	const char *root = plan->root ? plan->root : ".";
	struct calibration calibration = {0};
	struct fg_diagnosis diagnosis = {0};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	fg_doctor_host(given->root ? given->root : "", &diagnosis);
	if (!given->root)
		fg_doctor_process(&diagnosis);
	for (size_t i = 0; i < plan->benchmark_count; i++)
		fg_doctor_benchmark(&plan->benchmarks[i], root, &diagnosis);
	if (given->calibrate)
		status = calibrate(cli, given, benchmark, root, &calibration, err);
	if (status == FG_OK) {
		if (cli->json)
			write_json(&diagnosis, given->calibrate ? &calibration : NULL, &text);
		else
			print_words(cli, &diagnosis, given->calibrate ? &calibration : NULL, &text);
		fg_cli_print(cli, &text);
	}
	fg_strbuf_release(&text);
	calibration_release(&calibration);
	fg_diagnosis_release(&diagnosis);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const struct fg_benchmark *benchmark = NULL;
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int status = FG_EXIT_PASS;

	if (given->root && given->calibrate)
		return fg_cli_usage(cli, "--calibrate measures here, --root looks at another host");
	if (given->root && !fg_fs_is_folder(given->root))
		return fg_cli_usage(cli, "'%s' is not a folder", given->root);
	status = fg_cli_load_plan(cli, &given->config, true, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	status = find_benchmark(cli, &plan, &benchmark, &err);
	if (status == FG_OK && (!given->calibrate || fg_session_guard(cli, &status)))
		status = examine(cli, given, &plan, benchmark, &err);
	fg_plan_release(&plan);
	return status < 0 ? fg_cli_fail(cli, &err) : status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_FLAG(struct options, calibrate, "calibrate", 0,
		    "measure a program against itself: the smallest change that can be seen here"),
	FG_ROW_NAME(struct options, root, "root", 0, "FOLDER", FG_COMPLETE_FOLDER,
		    "look at another host, whose /proc and /sys were copied below FOLDER"),
	{.name = "pairs",
	 .letter = 'p',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, pairs),
	 .argument = "N",
	 .initial = "24",
	 .minimum = 10,
	 .maximum = 10000,
	 .help = "how many pairs --calibrate measures in each schedule"},
	{.name = "budget",
	 .letter = 'b',
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct options, budget_ns),
	 .argument = "T",
	 .initial = "1m",
	 .minimum = 1e9,
	 .maximum = 8.64e13,
	 .help = "longest time --calibrate may take in each schedule"},
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "BENCH",
	 .help = "what --calibrate measures (default: the first benchmark, or a loop of the shell)",
	 .max = 1,
	 .complete = FG_COMPLETE_BENCHMARK},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate doctor", "what on this host adds noise, and how to fix it"},
	{"fastgate doctor --calibrate", "and how small a change can be seen"},
	{"fastgate doctor --json | jq .worst", "for a script"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_doctor = {
	.name = "doctor",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "what on this host adds noise or limits the sampler, and how to fix it",
	.description = "Looks at frequency policy, load, stolen time, SMT, address space "
		       "randomisation, perf, quotas, memory and the benchmarks' own programs. "
		       "Each finding comes with what was seen, why it matters, and the command "
		       "that fixes it. Nothing is changed. With --quiet only problems are "
		       "shown.\n\n--calibrate measures a program against itself in both "
		       "schedules and says how small a change the gate could have seen: run it "
		       "on a machine before you trust a margin to it.",
	FG_CLI_TABLES,
	.exits = 0,
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
