// SPDX-License-Identifier: Apache-2.0
/*
 * Every key of fastgate.yml; those of `measure` are in schema_measure.c. A new key takes one row,
 * which defines it for the file, --set, the environment, the checks, `fastgate config --explain`,
 * docs/configuration.md and the editors' schema.
 *
 * The order of the tables is the order of the reference, and of binding: `measure` and `gate` come
 * before the benchmarks, which inherit from them.
 */
#include "config/schema.h"

#include "config/hooks.h"

/* Words in the order of their enums. */
static const char *const harnesses[] = {"none",
					"google-benchmark",
					"catch2",
					"hyperfine",
					"nanobench",
					"doctest",
					"criterion",
					"cargo-bench",
					"pytest-benchmark",
					"go",
					"lit",
					"plain",
					"smaller-is-better",
					"bigger-is-better",
					NULL};
static const char *const directions[] = {"lower", "higher", NULL};
static const char *const function_modes[] = {"off", "explain", "gate", NULL};
static const char *const show_or_fail[] = {"show", "fail", NULL};
static const char *const pass_or_fail[] = {"pass", "fail", NULL};
static const char *const anchors[] = {"none", "release", NULL};
static const char *const uploads[] = {"never", "when-possible", "required", NULL};
static const char *const versions[] = {"1", NULL};

/* ---- gate ---- */

#define IN_METRIC_POLICY(member) .offset = offsetof(struct fg_metric_policy, member)
static const struct fg_key metric_policy_keys[] = {
	{.name = "gated",
	 .kind = FG_KEY_BOOL,
	 IN_METRIC_POLICY(gated),
	 .help = "whether the metric takes part in the verdict, or is informational",
	 .more = "By default gated: `cpu_time`, `wall_time`, `max_rss`, your own metrics, and every "
		 "measure of the profile that is named here."},
	{.name = "min_effect",
	 .kind = FG_KEY_RATIO,
	 IN_METRIC_POLICY(min_effect),
	 .minimum = 0,
	 .maximum = 10,
	 .help = "a smaller estimate is not a regression",
	 .more = "By default 1 % for CPU time, 5 % for wall time, peak memory and your own metrics."},
	{.name = "margin",
	 .kind = FG_KEY_RATIO,
	 IN_METRIC_POLICY(margin),
	 .minimum = 0,
	 .maximum = 10,
	 .help = "pass when the change is less than this",
	 .more = "The upper end of the interval is compared with it. By default 2 % for CPU time, "
		 "5 % for wall time, peak memory and your own metrics."},
	{.name = "tolerated",
	 .kind = FG_KEY_RATIO,
	 IN_METRIC_POLICY(tolerated),
	 .minimum = 0,
	 .maximum = 10,
	 .initial = "0%",
	 .help = "a larger change is a regression",
	 .more = "The lower end of the interval is compared with it; an exact value is compared "
		 "as it is."},
	{.name = "tolerance",
	 .kind = FG_KEY_RATIO,
	 IN_METRIC_POLICY(tolerance),
	 .minimum = 0,
	 .maximum = 10,
	 .initial = "0%",
	 .help = "for exact metrics: differences up to this count as equal"},
	{.name = NULL},
};
static const struct fg_section metric_policy_section = {.keys = metric_policy_keys,
							.size = sizeof(struct fg_metric_policy),
							.inherits = true,
							.prepare = fg_prepare_metric_policy};

#define IN_ACCEPT(member) .offset = offsetof(struct fg_accept, member)
static const struct fg_key accept_keys[] = {
	{.name = "benchmark",
	 .kind = FG_KEY_NAME,
	 IN_ACCEPT(benchmark),
	 .initial = "*",
	 .help = "the benchmark's name; `\"*\"`: any"},
	{.name = "metric",
	 .kind = FG_KEY_NAME,
	 IN_ACCEPT(metric),
	 .initial = "*",
	 .help = "the metric's name; `\"*\"`: any"},
	{.name = "up_to",
	 .kind = FG_KEY_RATIO,
	 IN_ACCEPT(up_to),
	 .minimum = 0,
	 .maximum = 1000,
	 .help = "how much worse it may be; by default any amount"},
	{.name = "until",
	 .kind = FG_KEY_DATE,
	 IN_ACCEPT(until_ns),
	 .required = true,
	 .help = "the day on which the exception ends (midnight, UTC)"},
	{.name = "reason",
	 .kind = FG_KEY_NAME,
	 IN_ACCEPT(reason),
	 .required = true,
	 .help = "why; shown in every report"},
	{.name = NULL},
};
static const struct fg_section accept_section = {.keys = accept_keys,
						 .size = sizeof(struct fg_accept),
						 .prepare = fg_prepare_accept,
						 .finish = fg_finish_accept};

#define IN_POLICY(member) .offset = offsetof(struct fg_policy, member)
static const struct fg_key creep_keys[] = {
	{.name = "window",
	 .kind = FG_KEY_UNSIGNED,
	 IN_POLICY(creep_window),
	 .initial = "50",
	 .minimum = 0,
	 .maximum = 1000,
	 .unit = "commits",
	 .help = "the newest commits, whose small steps are summed up; 0: none"},
	{.name = "tolerated",
	 .kind = FG_KEY_RATIO,
	 IN_POLICY(creep_tolerated),
	 .initial = "2%",
	 .minimum = 0,
	 .maximum = 10,
	 .help = "more than this in the window is creep, if the interval is above zero"},
	{.name = "found",
	 .kind = FG_KEY_BOOL,
	 IN_POLICY(fail_on_creep),
	 .initial = "show",
	 .words = show_or_fail,
	 .help = "what creep becomes",
	 .more = "`fail` ends with exit code 1. The commit that fails need not be the cause."},
	{.name = NULL},
};
static const struct fg_section creep_section = {.keys = creep_keys, .inherits = true};

static const struct fg_key prove_keys[] = {
	{.name = "share",
	 .kind = FG_KEY_RATIO,
	 IN_POLICY(prove_share),
	 .initial = "0%",
	 .minimum = 0,
	 .maximum = 1,
	 .unit = "of measure.budget",
	 .help = "spent after each run on one hidden run; 0: none"},
	{.name = NULL},
};
static const struct fg_section prove_section = {.keys = prove_keys, .inherits = true};

static const struct fg_key gate_keys[] = {
	{.name = "alpha",
	 .kind = FG_KEY_NUMBER,
	 IN_POLICY(alpha),
	 .initial = "0.001",
	 .minimum = 1e-9,
	 .maximum = 0.5,
	 .help = "chance that an unchanged program fails, per metric and benchmark",
	 .more = "All looks at the growing data share it. A smaller value takes more pairs: 12 is "
		 "the least for 0.001, 9 for 0.01, if all of them are slower."},
	{.name = "metrics",
	 .kind = FG_KEY_MAP,
	 IN_POLICY(metrics),
	 .count_offset = offsetof(struct fg_policy, metric_count),
	 .section = &metric_policy_section,
	 .any = "METRIC",
	 .help = "how single metrics are judged, by name",
	 .more = "Built in: `cpu_time`, `wall_time`, `user_time`, `system_time`, `max_rss`, "
		 "`minor_faults`, `major_faults`, `voluntary_switches`, `involuntary_switches`, "
		 "`blocks_read`, `blocks_written`, `binary_size`. Your own come from "
		 "`benchmarks.NAME.metrics`. A measure of the profile is judged by its total, and a "
		 "change of it is blamed on functions and call paths.",
	 .example = "metrics:\n  cpu_time: { min_effect: 1%, margin: 2% }\n  max_rss: { "
		    "min_effect: 5% }\n  wall_time: { gated: false }"},
	{.name = "functions",
	 .kind = FG_KEY_WORD,
	 IN_POLICY(functions),
	 .initial = "explain",
	 .words = function_modes,
	 .help = "what verdicts about single functions do",
	 .more = "`explain`: they show where a difference comes from. `gate`: a function that got "
		 "slower fails the build, even if the whole did not. `off`: neither."},
	{.name = "function_floor",
	 .kind = FG_KEY_RATIO,
	 IN_POLICY(function_floor),
	 .initial = "0.25%",
	 .minimum = 0,
	 .maximum = 1,
	 .unit = "of the program's time",
	 .help = "smaller differences of a function are not reported"},
	{.name = "function_alpha",
	 .kind = FG_KEY_NUMBER,
	 IN_POLICY(function_alpha),
	 .initial = "0.01",
	 .minimum = 1e-9,
	 .maximum = 0.5,
	 .help = "chance that any function of an unchanged program is named, for all of them "
		 "together"},
	{.name = "inconclusive",
	 .kind = FG_KEY_BOOL,
	 IN_POLICY(fail_on_inconclusive),
	 .initial = "pass",
	 .words = pass_or_fail,
	 .help = "what an undecided benchmark becomes",
	 .more = "`pass`, because a noisy host would otherwise stop work that nobody can fix; a "
		 "regression stays one whatever the noise. `fail` ends with exit code 3. The report "
		 "names the smallest change that the run could have seen, and whether the candidate "
		 "is probably slower."},
	{.name = "placement",
	 .kind = FG_KEY_BOOL,
	 IN_POLICY(fail_on_placement),
	 .initial = "pass",
	 .words = pass_or_fail,
	 .help = "what a difference between builds of the same code becomes",
	 .more = "Where both sides have the same machine code, data and inputs, and only the linker "
		 "put them elsewhere, a difference is not the change's fault. Use `fail` if you "
		 "ship exactly this binary."},
	{.name = "exact",
	 .kind = FG_KEY_BOOL,
	 IN_POLICY(fail_on_exact),
	 .initial = "show",
	 .words = show_or_fail,
	 .help = "what a program that executes more instructions becomes",
	 .more = "Counted by `measure.exact` or `fastgate run --exact`. `fail`: more of them than "
		 "`gate.metrics.instructions.tolerance` (at least 0.01 %) is a regression, whatever "
		 "the time says. With `run --exact` it always is."},
	{.name = "creep",
	 .kind = FG_KEY_SECTION,
	 .section = &creep_section,
	 .help = "many small steps, none of which fails",
	 .more = "Runs that measured both sides at two commits are the steps of a chain. Those that "
		 "failed or improved by themselves do not count."},
	{.name = "prove",
	 .kind = FG_KEY_SECTION,
	 .section = &prove_section,
	 .help = "watch the gate itself",
	 .more = "A hidden run has a known right answer: the baseline against itself, or with a "
		 "slowdown that `fastgate prove` has planted before, drawn by the run's seed. It is "
		 "never part of the verdict. A gate that stops seeing slowdowns is reported as "
		 "broken within ten runs."},
	{.name = "anchor",
	 .kind = FG_KEY_BOOL,
	 IN_POLICY(anchors),
	 .initial = "none",
	 .words = anchors,
	 .help = "measure against the last release now and then",
	 .more = "`release`: after a run of a commit whose chain cannot tell half of "
		 "`gate.creep.tolerated`, the newest tag before it is measured too, at most "
		 "every tenth commit."},
	{.name = "accept",
	 .kind = FG_KEY_LIST,
	 IN_POLICY(accepts),
	 .count_offset = offsetof(struct fg_policy, accept_count),
	 .section = &accept_section,
	 .help = "accepted slowdowns: exceptions with a reason and an end",
	 .more = "A commit may carry one too, in a trailer: `Fastgate-Accept: NAME METRIC reason`.",
	 .example = "accept:\n  - { benchmark: reconstruct, metric: max_rss, up_to: 10%, until: "
		    "2027-03-01, reason: \"larger cache\" }"},
	{.name = NULL},
};
static const struct fg_section gate_section = {.keys = gate_keys, .inherits = true};

/* ---- benchmarks ---- */

static const struct fg_key expect_keys[] = {
	{.name = "exit_code",
	 .kind = FG_KEY_INT,
	 .offset = offsetof(struct fg_benchmark_scratch, benchmark.expect_exit_code),
	 .initial = "0",
	 .minimum = 0,
	 .maximum = 255,
	 .help = "the exit code of a good execution"},
	{.name = NULL},
};
static const struct fg_section expect_section = {.keys = expect_keys};

#define IN_USER_METRIC(member) .offset = offsetof(struct fg_user_metric, member)
static const struct fg_key user_metric_keys[] = {
	{.name = "name",
	 .kind = FG_KEY_NAME,
	 IN_USER_METRIC(name),
	 .required = true,
	 .help = "its name in `gate.metrics` and in reports"},
	{.name = "regex",
	 .kind = FG_KEY_REGEX,
	 IN_USER_METRIC(regex),
	 .help = "where the number is in the output: its first group",
	 .more = "Looked for in standard output, then in standard error; the last match counts."},
	{.name = "json",
	 .kind = FG_KEY_POINTER,
	 IN_USER_METRIC(json_pointer),
	 .help = "where the number is in JSON output, instead of `regex`"},
	{.name = "file",
	 .kind = FG_KEY_PATH,
	 IN_USER_METRIC(file),
	 .help = "a file that the benchmark writes, to be read instead of its output",
	 .more = "Relative to the working directory."},
	{.name = "better",
	 .kind = FG_KEY_WORD,
	 IN_USER_METRIC(better),
	 .initial = "lower",
	 .words = directions,
	 .help = "which direction is good"},
	{.name = "unit",
	 .kind = FG_KEY_NAME,
	 IN_USER_METRIC(unit),
	 .initial = "1",
	 .help = "its unit, for people"},
	{.name = "exact",
	 .kind = FG_KEY_BOOL,
	 IN_USER_METRIC(exact),
	 .initial = "false",
	 .help = "it is the same in every execution of one binary, and is compared exactly"},
	{.name = NULL},
};
static const struct fg_section user_metric_section = {.keys = user_metric_keys,
						      .size = sizeof(struct fg_user_metric),
						      .finish = fg_finish_user_metric};

#define IN_BENCHMARK(member) .offset = offsetof(struct fg_benchmark_scratch, benchmark.member)
#define COUNT_BENCHMARK(member) \
 .count_offset = offsetof(struct fg_benchmark_scratch, benchmark.member)
static const struct fg_key benchmark_keys[] = {
	{.name = "name",
	 .kind = FG_KEY_NAME,
	 IN_BENCHMARK(name),
	 .required = true,
	 .help = "its name everywhere; the history goes by it, so keep it",
	 .example = "name: parse"},
	{.name = "was",
	 .kind = FG_KEY_NAME,
	 IN_BENCHMARK(was),
	 .help = "its former name; runs under that name are its baseline and history",
	 .example = "was: parse_file"},
	{.name = "command",
	 .kind = FG_KEY_COMMAND,
	 IN_BENCHMARK(command),
	 .required = true,
	 .help = "what is run and measured",
	 .more = "A string is split into words as a shell does it, with quotes and backslashes, "
		 "but no shell runs and nothing is expanded. A list is taken as it is.",
	 .example = "command: ./build/reco --events 200 data/sample.bin"},
	{.name = "baseline_command",
	 .kind = FG_KEY_COMMAND,
	 IN_BENCHMARK(baseline_command),
	 .help = "what is run for the baseline, if that differs from `command`",
	 .example = "baseline_command: ./build/reco --legacy data/sample.bin"},
	{.name = "shell",
	 .kind = FG_KEY_BOOL,
	 .offset = offsetof(struct fg_benchmark_scratch, shell),
	 .initial = "false",
	 .help = "hand the commands of this benchmark to /bin/sh",
	 .more = "The shell's own time is then part of what is measured."},
	{.name = "working_directory",
	 .kind = FG_KEY_PATH,
	 IN_BENCHMARK(working_directory),
	 .initial = ".",
	 .help = "where it runs, relative to the folder of fastgate.yml (in the baseline's tree: "
		 "of its copy)"},
	{.name = "environment",
	 .kind = FG_KEY_VARIABLES,
	 IN_BENCHMARK(environment),
	 COUNT_BENCHMARK(environment_count),
	 .any = "NAME",
	 .help = "environment variables to set",
	 .example = "environment: { OMP_NUM_THREADS: \"1\" }"},
	{.name = "stdin",
	 .kind = FG_KEY_PATH,
	 IN_BENCHMARK(stdin_path),
	 .help = "a file to read from; by default there is nothing to read",
	 .example = "stdin: data/input.txt"},
	{.name = "setup",
	 .kind = FG_KEY_COMMAND,
	 IN_BENCHMARK(setup),
	 .help = "run once, before the first execution of a side",
	 .example = "setup: ./make-data.sh 10000"},
	{.name = "prepare",
	 .kind = FG_KEY_COMMAND,
	 IN_BENCHMARK(prepare),
	 .help = "run before each execution, unmeasured",
	 .example = "prepare: rm -rf cache"},
	{.name = "cleanup",
	 .kind = FG_KEY_COMMAND,
	 IN_BENCHMARK(cleanup),
	 .help = "run after each execution, unmeasured",
	 .example = "cleanup: rm -f server.sock"},
	{.name = "timeout",
	 .kind = FG_KEY_DURATION,
	 IN_BENCHMARK(timeout_ns),
	 .initial = "10m",
	 .minimum = 0.001,
	 .maximum = 604800,
	 .help = "time after which an execution is ended; it then counts as not measured"},
	{.name = "expect",
	 .kind = FG_KEY_SECTION,
	 .section = &expect_section,
	 .help = "how a good execution ends"},
	{.name = "metrics",
	 .kind = FG_KEY_LIST,
	 IN_BENCHMARK(metrics),
	 COUNT_BENCHMARK(metric_count),
	 .section = &user_metric_section,
	 .any = "NAME",
	 .help = "numbers of your own, found in the output",
	 .example = "metrics:\n  - { name: events_per_second, regex: \"rate: ([0-9.]+)\", better: "
		    "higher, unit: \"1/s\" }\n  - { name: peak, json: /results/0/peak, file: "
		    "result.json }"},
	{.name = "harness",
	 .kind = FG_KEY_WORD,
	 IN_BENCHMARK(harness),
	 .initial = "none",
	 .words = harnesses,
	 .help = "the program is a benchmark suite: each of its cases becomes a benchmark",
	 .more = "`docs/harnesses.md` has the command line of each, and what is read. `plain` is any "
		 "program that prints lines NAME VALUE UNIT."},
	{.name = "labels",
	 .kind = FG_KEY_TEXTS,
	 IN_BENCHMARK(labels),
	 COUNT_BENCHMARK(label_count),
	 .help = "words by which benchmarks are chosen on the command line",
	 .example = "labels: [nightly]"},
	{.name = "measure",
	 .kind = FG_KEY_SECTION,
	 IN_BENCHMARK(measure),
	 .section = &fg_config_measure,
	 .help = "keys of `measure` for this benchmark alone"},
	{.name = "gate",
	 .kind = FG_KEY_SECTION,
	 IN_BENCHMARK(policy),
	 .section = &gate_section,
	 .help = "keys of `gate` for this benchmark alone",
	 .example = "gate: { metrics: { cpu_time: { margin: 1% } } }"},
	{.name = NULL},
};
static const struct fg_section benchmark_section = {
	.keys = benchmark_keys,
	.size = sizeof(struct fg_benchmark),
	.scratch_size = sizeof(struct fg_benchmark_scratch),
	.prepare = fg_prepare_benchmark,
	.finish = fg_finish_benchmark,
};

/* ---- build and host ---- */

static const struct fg_key build_keys[] = {
	{.name = "command",
	 .kind = FG_KEY_COMMAND,
	 .offset = offsetof(struct fg_build_scratch, build.command),
	 .help = "how a side is built, run in the root of its tree",
	 .more = "Needed by `fastgate run --against REF`, which builds the baseline and a snapshot of "
		 "the work tree, each in a worktree of its own. Without it, git must track "
		 "everything that runs.",
	 .example = "command: cmake --build build"},
	{.name = "shell",
	 .kind = FG_KEY_BOOL,
	 .offset = offsetof(struct fg_build_scratch, shell),
	 .initial = "false",
	 .help = "hand the command to /bin/sh, for `&&` and the like"},
	{.name = "in_place",
	 .kind = FG_KEY_BOOL,
	 .offset = offsetof(struct fg_build_scratch, build.in_place),
	 .initial = "false",
	 .help = "build and measure the work tree where it is, not a snapshot of it",
	 .more = "For projects that cannot be built twice. The two sides then differ in path, age "
		 "and leftovers of earlier builds, and the report says that these are not ruled out "
		 "as the cause of a difference."},
	{.name = "from_candidate",
	 .kind = FG_KEY_TEXTS,
	 .offset = offsetof(struct fg_build_scratch, build.from_candidate),
	 .count_offset = offsetof(struct fg_build_scratch, build.from_candidate_count),
	 .help = "files and folders that the baseline gets from the candidate before it is built",
	 .more = "For benchmarks that older commits do not have, or have in another form: the "
		 "baseline is its commit with these in their place, so that both sides do the same. "
		 "With --candidate, and in a bisection, both sides get them from the work tree. "
		 "Paths from the folder of fastgate.yml.",
	 .example = "from_candidate: [ bench/, data/typical.json ]"},
	{.name = "record",
	 .kind = FG_KEY_FACTS,
	 .offset = offsetof(struct fg_build_scratch, build.record),
	 .count_offset = offsetof(struct fg_build_scratch, build.record_count),
	 .any = "NAME",
	 .help = "facts about the build to keep with the run, literal or by a command",
	 .more = "Every report says in which facts two runs differ.",
	 .example = "record:\n  geometry: \"v12\"\n  boost: { command: \"pkg-config --modversion "
		    "boost\" }"},
	{.name = NULL},
};
static const struct fg_section build_section = {.keys = build_keys,
						.scratch_size = sizeof(struct fg_build_scratch),
						.finish = fg_finish_build};

static const struct fg_key host_keys[] = {
	{.name = "record",
	 .kind = FG_KEY_FACTS,
	 .offset = offsetof(struct fg_plan, host_record),
	 .count_offset = offsetof(struct fg_plan, host_record_count),
	 .any = "NAME",
	 .help = "facts about the host to keep with the run, literal or by a command",
	 .example = "record:\n  rack: { command: \"cat /etc/rack\" }"},
	{.name = NULL},
};
static const struct fg_section host_section = {.keys = host_keys};

/* ---- baseline ---- */

#define IN_BASELINE(member) .offset = offsetof(struct fg_baseline_scratch, member)
static const struct fg_key baseline_keys[] = {
	{.name = "against",
	 .kind = FG_KEY_NAME,
	 IN_BASELINE(against),
	 .help = "a git ref, or `merge-base`: built in a worktree and measured in the same session",
	 .more = "The strongest comparison: both sides see the same machine at the same time. "
		 "`merge-base` is where this branch left the main one."},
	{.name = "branch",
	 .kind = FG_KEY_NAME,
	 IN_BASELINE(branch),
	 .help = "the newest complete run stored for this branch",
	 .example = "branch: main"},
	{.name = "tag",
	 .kind = FG_KEY_NAME,
	 IN_BASELINE(tag),
	 .help = "the run stored for this git tag",
	 .example = "tag: v1.4"},
	{.name = "run",
	 .kind = FG_KEY_NAME,
	 IN_BASELINE(run),
	 .help = "a stored run by its id, `latest`, a tag, a branch or a commit",
	 .example = "run: latest"},
	{.name = "file",
	 .kind = FG_KEY_PATH,
	 IN_BASELINE(file),
	 .help = "a run that was exported into a file",
	 .example = "file: release.fgrun"},
	{.name = "required",
	 .kind = FG_KEY_BOOL,
	 IN_BASELINE(required),
	 .initial = "false",
	 .help = "no baseline ends with exit code 3 instead of a pass"},
	{.name = NULL},
};
static const struct fg_section baseline_section = {.keys = baseline_keys,
						   .scratch_size =
							   sizeof(struct fg_baseline_scratch),
						   .finish = fg_finish_baseline};

/* ---- report ---- */

#define IN_POST(member) .offset = offsetof(struct fg_post_scratch, member)
static const char *const github_posts[] = {"pull-request-comment", "commit-status", "check-run",
					   NULL};
static const char *const gitlab_posts[] = {"merge-request-note", "commit-status", NULL};
static const char *const post_formats[] = {"json",   "junit",  "markdown", "comment", "html",
					   "github", "gitlab", "csv",      "csv-raw", NULL};
static const struct fg_key post_keys[] = {
	{.name = "github",
	 .kind = FG_KEY_NAME,
	 IN_POST(github),
	 .words = github_posts,
	 .help = "one comment on the pull request, kept up to date; or a status of the commit"},
	{.name = "gitlab",
	 .kind = FG_KEY_NAME,
	 IN_POST(gitlab),
	 .words = gitlab_posts,
	 .help = "one note on the merge request, kept up to date; or a status of the commit"},
	{.name = "webhook",
	 .kind = FG_KEY_URL,
	 IN_POST(webhook),
	 .help = "an address that gets the report"},
	{.name = "format",
	 .kind = FG_KEY_NAME,
	 IN_POST(format),
	 .words = post_formats,
	 .help = "the report that the webhook gets; by default json"},
	{.name = "token_env",
	 .kind = FG_KEY_VARIABLE_NAME,
	 IN_POST(token_env),
	 .help = "the environment variable that holds the token",
	 .more = "By default `GITHUB_TOKEN` and `GITLAB_TOKEN`. A webhook's is not sent: it signs "
		 "the body, if `FASTGATE_TRUSTED_URLS` in the environment lists the address "
		 "(docs/ci.md)."},
	{.name = "required",
	 .kind = FG_KEY_BOOL,
	 IN_POST(required),
	 .initial = "false",
	 .help = "a failed post ends with exit code 5 instead of a warning"},
	{.name = NULL},
};
static const struct fg_section post_section = {.keys = post_keys,
					       .size = sizeof(struct fg_post_target),
					       .scratch_size = sizeof(struct fg_post_scratch),
					       .finish = fg_finish_post};

#define IN_REPORT(member) .offset = offsetof(struct fg_report_scratch, member)
/* A key whose value is a path is named after its reporter. */
static const struct fg_key report_keys[] = {
	{.name = "junit",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(junit),
	 .help = "JUnit XML, for the test view of a CI server"},
	{.name = "json", .kind = FG_KEY_PATH, IN_REPORT(json), .help = "everything, for programs"},
	{.name = "markdown",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(markdown),
	 .help = "a summary for job pages and comments"},
	{.name = "html",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(html),
	 .help = "one self-contained page with plots and flame graphs"},
	{.name = "csv",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(csv),
	 .help = "one line per metric, for spreadsheets"},
	{.name = "github",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(github),
	 .help = "GitHub annotations on the functions to blame"},
	{.name = "gitlab",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(gitlab),
	 .help = "a GitLab metrics report"},
	{.name = "comment",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(comment),
	 .help = "the text of a pull-request comment, within its size limit"},
	{.name = "csv-raw",
	 .kind = FG_KEY_PATH,
	 IN_REPORT(csv_raw),
	 .help = "one line per repetition and metric, as measured"},
	{.name = "source",
	 .kind = FG_KEY_BOOL,
	 IN_REPORT(source),
	 .initial = "true",
	 .help = "source lines of the functions to blame, with what they cost, in all reports",
	 .more = "They go into the store and to perfdb with the report: at most 40 lines of three "
		 "functions a benchmark, and only of files of the project."},
	{.name = "post",
	 .kind = FG_KEY_LIST,
	 IN_REPORT(posts),
	 .count_offset = offsetof(struct fg_report_scratch, post_count),
	 .section = &post_section,
	 .help = "where the result is posted",
	 .example = "post:\n  - { github: pull-request-comment }\n  - { gitlab: "
		    "merge-request-note }\n  - { webhook: \"https://example.org/hook\", token_env: "
		    "HOOK_SECRET, format: junit }"},
	{.name = NULL},
};
static const struct fg_section report_section = {.keys = report_keys,
						 .scratch_size = sizeof(struct fg_report_scratch),
						 .finish = fg_finish_report};

/* ---- perfdb and store ---- */

#define IN_PLAN(member) .offset = offsetof(struct fg_plan, member)
static const struct fg_key perfdb_keys[] = {
	{.name = "url",
	 .kind = FG_KEY_URL,
	 IN_PLAN(perfdb.url),
	 .help = "the address of the server; by default runs stay here",
	 .more = "A token is sent there only if the environment names the address, too: in "
		 "`PERFDB_URL`, or in the list `FASTGATE_TRUSTED_URLS`."},
	{.name = "token_env",
	 .kind = FG_KEY_VARIABLE_NAME,
	 IN_PLAN(perfdb.token_env),
	 .initial = "PERFDB_TOKEN",
	 .help = "the environment variable that holds the token"},
	{.name = "ca_file",
	 .kind = FG_KEY_PATH,
	 IN_PLAN(perfdb.ca_file),
	 .help = "certificates to trust instead of the system's",
	 .example = "ca_file: certificates.pem"},
	{.name = "upload",
	 .kind = FG_KEY_WORD,
	 IN_PLAN(perfdb.upload),
	 .initial = "when-possible",
	 .words = uploads,
	 .help = "whether runs are sent, and whether that must succeed",
	 .more = "`when-possible`: what cannot be sent is kept and sent later. `required`: a "
		 "failure ends with exit code 5."},
	{.name = NULL},
};
static const struct fg_section perfdb_section = {.keys = perfdb_keys};

#define IN_LINKS(link) .offset = offsetof(struct fg_plan, links) + (link) * sizeof(const char *)
static const struct fg_key link_keys[] = {
	{.name = "commit",
	 .kind = FG_KEY_URL,
	 IN_LINKS(FG_WEB_LINK_COMMIT),
	 .help = "a commit's page, with `{commit}`",
	 .example = "commit: \"https://git.example.org/{project}/commit/{commit}\""},
	{.name = "file",
	 .kind = FG_KEY_URL,
	 IN_LINKS(FG_WEB_LINK_FILE),
	 .help = "a file at a commit, with `{commit}` and `{file}`",
	 .example = "file: \"https://git.example.org/{project}/blob/{commit}/{file}\""},
	{.name = "line",
	 .kind = FG_KEY_URL,
	 IN_LINKS(FG_WEB_LINK_LINE),
	 .help = "a line of a file at a commit, with `{commit}`, `{file}` and `{line}`",
	 .example = "line: \"https://git.example.org/{project}/blob/{commit}/{file}#L{line}\""},
	{.name = NULL},
};
static const struct fg_section link_section = {.keys = link_keys};

static const struct fg_key store_keys[] = {
	{.name = "path",
	 .kind = FG_KEY_PATH,
	 IN_PLAN(store_path),
	 .initial = ".fastgate/store.db",
	 .help = "the file that keeps the runs, relative to the folder of fastgate.yml",
	 .more = "It stays below that folder and outside `.git`, without links; `--set` may name "
		 "any file."},
	{.name = NULL},
};
static const struct fg_section store_section = {.keys = store_keys};

/* ---- whole file ---- */

static const struct fg_key plan_keys[] = {
	{.name = "version",
	 .kind = FG_KEY_VERSION,
	 .required = true,
	 .words = versions,
	 .help = "the version of this file's format",
	 .example = "version: 1"},
	{.name = "project",
	 .kind = FG_KEY_NAME,
	 IN_PLAN(project),
	 .help = "what the runs are filed under, by default the name of the git repository",
	 .example = "project: tracker"},
	{.name = "build",
	 .kind = FG_KEY_SECTION,
	 .offset = offsetof(struct fg_plan, build),
	 .section = &build_section,
	 .help = "how a side is built"},
	{.name = "host",
	 .kind = FG_KEY_SECTION,
	 .section = &host_section,
	 .help = "more facts about the host"},
	{.name = "measure",
	 .kind = FG_KEY_SECTION,
	 IN_PLAN(measure),
	 .section = &fg_config_measure,
	 .help = "how benchmarks are measured",
	 .more = "Also a key of each benchmark, for that one alone."},
	{.name = "gate",
	 .kind = FG_KEY_SECTION,
	 IN_PLAN(policy),
	 .section = &gate_section,
	 .help = "when a difference counts",
	 .more = "Also a key of each benchmark, for that one alone. What the numbers mean is in "
		 "`docs/statistics.md`."},
	{.name = "benchmarks",
	 .kind = FG_KEY_LIST,
	 IN_PLAN(benchmarks),
	 .count_offset = offsetof(struct fg_plan, benchmark_count),
	 .required = true,
	 .section = &benchmark_section,
	 .any = "BENCH",
	 .help = "what is measured"},
	{.name = "baseline",
	 .kind = FG_KEY_SECTION,
	 IN_PLAN(baseline),
	 .section = &baseline_section,
	 .help = "what the candidate is compared with: one of these keys",
	 .example = "baseline: { against: merge-base }"},
	{.name = "report",
	 .kind = FG_KEY_SECTION,
	 .section = &report_section,
	 .help = "files to write after each run; folders that are missing are made",
	 .more = "Paths in this file stay below the current folder and outside `.git`, without "
		 "links; `--set` may name any file.",
	 .example =
		 "report:\n  { junit: fastgate.xml, json: fastgate.json, markdown: fastgate.md, "
		 "html: fastgate.html,\n    csv: fastgate.csv, csv-raw: fastgate-raw.csv, github: "
		 "annotations.txt,\n    gitlab: metrics.txt, comment: fastgate-comment.md }"},
	{.name = "links",
	 .kind = FG_KEY_SECTION,
	 .section = &link_section,
	 .help = "where commits, files and lines can be read",
	 .more = "The HTML report, comments and the pages and the feed of perfdb link to them. "
		 "`{project}`, `{commit}`, `{file}` and `{line}` are replaced and escaped; only "
		 "`https://` and `http://` make links. Lines are those of the candidate. The templates are "
		 "kept with each run."},
	{.name = "perfdb",
	 .kind = FG_KEY_SECTION,
	 .section = &perfdb_section,
	 .help = "the shared server",
	 .example = "perfdb: { url: \"https://perfdb.example.org\", token_env: PERFDB_TOKEN, "
		    "upload: when-possible }"},
	{.name = "store",
	 .kind = FG_KEY_SECTION,
	 .section = &store_section,
	 .help = "where runs are kept on this machine"},
	{.name = NULL},
};

const struct fg_section fg_config_schema = {
	.keys = plan_keys, .size = sizeof(struct fg_plan), .finish = fg_finish_plan};
