// SPDX-License-Identifier: Apache-2.0
/*
 * The keys of fastgate.yml; the keys of `measure` are in schema_measure.c. A new key needs one row,
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

#define IN_METRIC_POLICY(member) offsetof(struct fg_metric_policy, member)
static const struct fg_key metric_policy_keys[] = {
	{FG_KEY("gated", BOOL, IN_METRIC_POLICY(gated),
		"the metric takes part in the verdict; if not, it is informational"),
	 .more = "Gated by default: `cpu_time`, `wall_time`, `max_rss`, your own metrics, and "
		 "every measure of the profile that is listed here."},
	{FG_KEY("min_effect", RATIO, IN_METRIC_POLICY(min_effect),
		"a smaller estimate is not a regression"),
	 FG_BOUNDS(0, 10),
	 .more = "By default 1 % for CPU time, 5 % for wall time, peak memory and your own metrics."},
	{FG_KEY("margin", RATIO, IN_METRIC_POLICY(margin),
		"the metric passes once the whole interval is below this, unless it is a regression"),
	 FG_BOUNDS(0, 10),
	 .more = "The upper end of the interval is compared with this limit. By default 2 % for "
		 "CPU time, 5 % for wall time, peak memory and your own metrics."},
	{FG_KEY("tolerated", RATIO, IN_METRIC_POLICY(tolerated), "only a larger change can fail"),
	 FG_BOUNDS(0, 10), .initial = "0%",
	 .more = "The lower end of the interval is compared with this limit; an exact value is "
		 "compared directly."},
	{FG_KEY("tolerance", RATIO, IN_METRIC_POLICY(tolerance),
		"for exact metrics: values that differ by at most this ratio count as equal"),
	 FG_BOUNDS(0, 10), .initial = "0%"},
	{.name = NULL},
};
static const struct fg_section metric_policy_section = {.keys = metric_policy_keys,
							.size = sizeof(struct fg_metric_policy),
							.inherits = true,
							.prepare = fg_prepare_metric_policy};

#define IN_ACCEPT(member) offsetof(struct fg_accept, member)
static const struct fg_key accept_keys[] = {
	{FG_KEY("benchmark", NAME, IN_ACCEPT(benchmark), "the benchmark's name; `\"*\"`: any"),
	 .initial = "*"},
	{FG_KEY("metric", NAME, IN_ACCEPT(metric), "the metric's name; `\"*\"`: any"),
	 .initial = "*"},
	{FG_KEY("up_to", RATIO, IN_ACCEPT(up_to), "largest accepted change; by default any"),
	 FG_BOUNDS(0, 1000)},
	{FG_KEY("until", DATE, IN_ACCEPT(until_ns),
		"the day on which the exception expires (at 00:00 UTC)"),
	 .required = true},
	{FG_KEY("reason", NAME, IN_ACCEPT(reason), "reason, shown in every report"),
	 .required = true},
	{.name = NULL},
};
static const struct fg_section accept_section = {.keys = accept_keys,
						 .size = sizeof(struct fg_accept),
						 .prepare = fg_prepare_accept,
						 .finish = fg_finish_accept};

#define IN_POLICY(member) offsetof(struct fg_policy, member)
static const struct fg_key creep_keys[] = {
	{FG_KEY("window", UNSIGNED, IN_POLICY(creep_window),
		"add up small changes over this many of the latest commits; 0: off"),
	 .initial = "50", FG_BOUNDS(0, 1000), .unit = "commits"},
	{FG_KEY("tolerated", RATIO, IN_POLICY(creep_tolerated),
		"a larger sum of changes is creep, if its interval is above zero"),
	 .initial = "2%", FG_BOUNDS(0, 10)},
	{FG_KEY("found", BOOL, IN_POLICY(fail_on_creep), "effect of creep on the verdict"),
	 .initial = "show", .words = show_or_fail,
	 .more = "`fail` ends with exit code 1. The commit that fails need not be the cause."},
	{.name = NULL},
};
static const struct fg_section creep_section = {.keys = creep_keys, .inherits = true};

static const struct fg_key prove_keys[] = {
	{FG_KEY("share", RATIO, IN_POLICY(prove_share),
		"time to spend on one hidden run after each run; 0: none"),
	 .initial = "0%", FG_BOUNDS(0, 1), .unit = "of measure.budget"},
	{.name = NULL},
};
static const struct fg_section prove_section = {.keys = prove_keys, .inherits = true};

static const struct fg_key gate_keys[] = {
	{FG_KEY("alpha", NUMBER, IN_POLICY(alpha),
		"chance that an unchanged program fails, per metric and benchmark"),
	 .initial = "0.001", FG_BOUNDS(1e-9, 0.5),
	 .more = "All looks at the growing data share this chance. A smaller value needs more "
		 "pairs: at least 12 for 0.001 and 9 for 0.01 (10 and 7 when the budget ends), if "
		 "all of them are slower."},
	{FG_KEY("metrics", MAP, IN_POLICY(metrics), "policies of individual metrics, by name"),
	 .count_offset = offsetof(struct fg_policy, metric_count),
	 .section = &metric_policy_section, .any = "METRIC",
	 .more = "Built in: `cpu_time`, `wall_time`, `user_time`, `system_time`, `max_rss`, "
		 "`minor_faults`, `major_faults`, `voluntary_switches`, `involuntary_switches`, "
		 "`blocks_read`, `blocks_written`, `binary_size`. Your own come from "
		 "`benchmarks.NAME.metrics`. A measure of the profile is judged by its total, "
		 "and functions and call paths are blamed for a change in the total.",
	 .example = "metrics:\n  cpu_time: { min_effect: 1%, margin: 2% }\n  max_rss: { "
		    "min_effect: 5% }\n  wall_time: { gated: false }"},
	{FG_KEY("functions", WORD, IN_POLICY(functions),
		"effect of verdicts about individual functions"),
	 .initial = "explain", .words = function_modes,
	 .more = "`explain`: verdicts about functions only show where a difference comes from. "
		 "`gate`: a function that got slower fails the build, even if the benchmark did "
		 "not. `off`: functions are not judged."},
	{FG_KEY("function_floor", RATIO, IN_POLICY(function_floor),
		"smaller changes of a function are not reported"),
	 .initial = "0.25%", FG_BOUNDS(0, 1), .unit = "of the program's time"},
	{FG_KEY("function_alpha", NUMBER, IN_POLICY(function_alpha),
		"chance that any function of an unchanged program is blamed"),
	 .initial = "0.01", FG_BOUNDS(1e-9, 0.5)},
	{FG_KEY("inconclusive", BOOL, IN_POLICY(fail_on_inconclusive),
		"effect of an undecided benchmark on the verdict"),
	 .initial = "pass", .words = pass_or_fail,
	 .more = "The default is `pass`, because a noisy host could otherwise block any change; "
		 "a regression stays a regression, whatever the noise. `fail` ends "
		 "with exit code 3. The report names the smallest change that the run could have "
		 "detected, and whether the candidate is probably slower."},
	{FG_KEY("placement", BOOL, IN_POLICY(fail_on_placement),
		"effect of a difference between builds of the same code"),
	 .initial = "pass", .words = pass_or_fail,
	 .more = "If both sides have the same machine code, data and inputs, only at different "
		 "addresses, a difference is not caused by the change. Use `fail` if you ship "
		 "exactly this binary."},
	{FG_KEY("exact", BOOL, IN_POLICY(fail_on_exact),
		"effect of an increase in executed instructions"),
	 .initial = "show", .words = show_or_fail,
	 .more = "Instructions are counted by `measure.exact` or `fastgate run --exact`. With "
		 "`fail`, and always with `run --exact`, an increase above "
		 "`gate.metrics.instructions.tolerance` (at least 0.01 %) is a regression, "
		 "whatever the time says."},
	{FG_KEY("creep", SECTION, 0, "many small steps, none of which fails"),
	 .section = &creep_section,
	 .more = "Each run that measured two commits in pairs is a step of a chain. Steps "
		 "that were regressions or improvements on their own do not count."},
	{FG_KEY("prove", SECTION, 0, "watch the gate itself"), .section = &prove_section,
	 .more = "A hidden run compares the baseline with itself, or with a copy that has a "
		 "planted slowdown, calibrated by an earlier `fastgate prove`, so the right answer "
		 "is known. The run's seed decides between the two. A hidden run is never part of "
		 "the verdict. A gate that no longer finds slowdowns that it used to find is "
		 "reported as broken."},
	{FG_KEY("anchor", BOOL, IN_POLICY(anchors),
		"measure against the last release from time to time"),
	 .initial = "none", .words = anchors,
	 .more = "`release`: when the accumulated error of the steps exceeds half of "
		 "`gate.creep.tolerated`, a run also measures its commit against the newest tag "
		 "before it, at most every tenth commit."},
	{FG_KEY("accept", LIST, IN_POLICY(accepts),
		"accepted regressions: exceptions with a reason and an expiry date"),
	 .count_offset = offsetof(struct fg_policy, accept_count), .section = &accept_section,
	 .more = "A commit may also carry an exception, in a trailer: `Fastgate-Accept: NAME "
		 "METRIC reason`.",
	 .example = "accept:\n  - { benchmark: reconstruct, metric: max_rss, up_to: 10%, until: "
		    "2027-03-01, reason: \"larger cache\" }"},
	{.name = NULL},
};
static const struct fg_section gate_section = {.keys = gate_keys, .inherits = true};

/* ---- benchmarks ---- */

static const struct fg_key expect_keys[] = {
	{FG_KEY("exit_code", INT, offsetof(struct fg_benchmark_scratch, benchmark.expect_exit_code),
		"the exit code of a successful execution"),
	 .initial = "0", FG_BOUNDS(0, 255)},
	{.name = NULL},
};
static const struct fg_section expect_section = {.keys = expect_keys};

#define IN_USER_METRIC(member) offsetof(struct fg_user_metric, member)
static const struct fg_key user_metric_keys[] = {
	{FG_KEY("name", NAME, IN_USER_METRIC(name), "name in `gate.metrics` and in reports"),
	 .required = true},
	{FG_KEY("regex", REGEX, IN_USER_METRIC(regex),
		"expression whose first group is the number in the output"),
	 .more = "The expression is tried on standard output, then on standard error; the last "
		 "match counts."},
	{FG_KEY("json", POINTER, IN_USER_METRIC(json_pointer),
		"pointer to the number in JSON output, instead of `regex`")},
	{FG_KEY("file", PATH, IN_USER_METRIC(file),
		"a file that the benchmark writes, to be read instead of its output"),
	 .more = "Relative to the working directory."},
	{FG_KEY("better", WORD, IN_USER_METRIC(better), "the better direction"), .initial = "lower",
	 .words = directions},
	{FG_KEY("unit", NAME, IN_USER_METRIC(unit), "unit shown in reports"), .initial = "1"},
	{FG_KEY("exact", BOOL, IN_USER_METRIC(exact),
		"identical in every execution of one binary; compared exactly"),
	 .initial = "false"},
	{.name = NULL},
};
static const struct fg_section user_metric_section = {.keys = user_metric_keys,
						      .size = sizeof(struct fg_user_metric),
						      .finish = fg_finish_user_metric};

#define IN_BENCHMARK(member) offsetof(struct fg_benchmark_scratch, benchmark.member)
static const struct fg_key benchmark_keys[] = {
	{FG_KEY("name", NAME, IN_BENCHMARK(name),
		"name of the benchmark; do not change it, because the history is stored under it"),
	 .required = true, .example = "name: parse"},
	{FG_KEY("was", NAME, IN_BENCHMARK(was),
		"former name; runs under that name serve as baseline and history"),
	 .example = "was: parse_file"},
	{FG_KEY("command", COMMAND, IN_BENCHMARK(command), "the command to run and measure"),
	 .required = true,
	 .more = "A string is split into words as by a shell, with quotes and backslashes, but "
		 "no shell runs and nothing is expanded. A list is used unchanged.",
	 .example = "command: ./build/reco --events 200 data/sample.bin"},
	{FG_KEY("baseline_command", COMMAND, IN_BENCHMARK(baseline_command),
		"the command for the baseline, if it differs from `command`"),
	 .example = "baseline_command: ./build/reco --legacy data/sample.bin"},
	{FG_KEY("shell", BOOL, offsetof(struct fg_benchmark_scratch, shell),
		"run the commands of this benchmark with /bin/sh"),
	 .initial = "false", .more = "The shell's own time is then measured as well."},
	{FG_KEY("working_directory", PATH, IN_BENCHMARK(working_directory),
		"folder to run in, relative to the folder of fastgate.yml (for the baseline, to "
		"the same folder of its tree)"),
	 .initial = "."},
	{FG_KEY("environment", VARIABLES, IN_BENCHMARK(environment),
		"environment variables to set"),
	 .count_offset = IN_BENCHMARK(environment_count), .any = "NAME",
	 .example = "environment: { OMP_NUM_THREADS: \"1\" }"},
	{FG_KEY("stdin", PATH, IN_BENCHMARK(stdin_path),
		"the file for standard input; empty by default"),
	 .example = "stdin: data/input.txt"},
	{FG_KEY("setup", COMMAND, IN_BENCHMARK(setup),
		"run once for each side, before its first execution"),
	 .example = "setup: ./make-data.sh 10000"},
	{FG_KEY("prepare", COMMAND, IN_BENCHMARK(prepare), "run before each execution, unmeasured"),
	 .example = "prepare: rm -rf cache"},
	{FG_KEY("cleanup", COMMAND, IN_BENCHMARK(cleanup), "run after each execution, unmeasured"),
	 .example = "cleanup: rm -f server.sock"},
	{FG_KEY("timeout", DURATION, IN_BENCHMARK(timeout_ns),
		"time limit of one execution, doubled in a duet; an execution that exceeds the "
		"limit is stopped and counts as not measured"),
	 .initial = "10m", FG_BOUNDS(0.001, 604800)},
	{FG_KEY("expect", SECTION, 0, "expected result of a successful execution"),
	 .section = &expect_section},
	{FG_KEY("metrics", LIST, IN_BENCHMARK(metrics), "your own numbers, found in the output"),
	 .count_offset = IN_BENCHMARK(metric_count), .section = &user_metric_section, .any = "NAME",
	 .example = "metrics:\n  - { name: events_per_second, regex: \"rate: ([0-9.]+)\", better: "
		    "higher, unit: \"1/s\" }\n  - { name: peak, json: /results/0/peak, file: "
		    "result.json }"},
	{FG_KEY("harness", WORD, IN_BENCHMARK(harness),
		"the program is a benchmark suite: each of its cases becomes a benchmark"),
	 .initial = "none", .words = harnesses,
	 .more = "`docs/harnesses.md` lists the command line and the output of each. `plain` is "
		 "any program that prints lines NAME VALUE UNIT."},
	{FG_KEY("labels", TEXTS, IN_BENCHMARK(labels),
		"labels that select benchmarks on the command line"),
	 .count_offset = IN_BENCHMARK(label_count), .example = "labels: [nightly]"},
	{FG_KEY("measure", SECTION, IN_BENCHMARK(measure),
		"keys of `measure` for this benchmark only"),
	 .section = &fg_config_measure},
	{FG_KEY("gate", SECTION, IN_BENCHMARK(policy), "keys of `gate` for this benchmark only"),
	 .section = &gate_section, .example = "gate: { metrics: { cpu_time: { margin: 1% } } }"},
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
	{FG_KEY("command", COMMAND, offsetof(struct fg_build_scratch, build.command),
		"command that builds a side, run in the root of its tree"),
	 .more = "Needed by `fastgate run --against REF`, which builds the baseline and a snapshot "
		 "of the work tree, each in a separate worktree. Without `command`, git must "
		 "track everything that runs.",
	 .example = "command: cmake --build build"},
	{FG_KEY("shell", BOOL, offsetof(struct fg_build_scratch, shell),
		"run the command with /bin/sh, for `&&` and the like"),
	 .initial = "false"},
	{FG_KEY("in_place", BOOL, offsetof(struct fg_build_scratch, build.in_place),
		"build and measure the work tree itself, not a snapshot of it"),
	 .initial = "false",
	 .more = "For projects that cannot be built twice. The two sides then differ in path, age "
		 "and leftovers of earlier builds, and the report says that these may cause a "
		 "difference."},
	{FG_KEY("from_candidate", TEXTS, offsetof(struct fg_build_scratch, build.from_candidate),
		"files and folders that the baseline gets from the candidate before it is built"),
	 .count_offset = offsetof(struct fg_build_scratch, build.from_candidate_count),
	 .more = "For benchmarks that older commits do not have, or have in another form: the "
		 "baseline is its commit with these files in place, so that both sides do the "
		 "same work. With --candidate, and in a bisection, both sides get the files from "
		 "the work tree. Paths are relative to the folder of fastgate.yml.",
	 .example = "from_candidate: [ bench/, data/typical.json ]"},
	{FG_KEY("record", FACTS, offsetof(struct fg_build_scratch, build.record),
		"facts about the build to keep with the run, given literally or printed by a "
		"command"),
	 .count_offset = offsetof(struct fg_build_scratch, build.record_count), .any = "NAME",
	 .more = "Every report lists the facts in which two runs differ.",
	 .example = "record:\n  geometry: \"v12\"\n  boost: { command: \"pkg-config --modversion "
		    "boost\" }"},
	{.name = NULL},
};
static const struct fg_section build_section = {.keys = build_keys,
						.scratch_size = sizeof(struct fg_build_scratch),
						.finish = fg_finish_build};

static const struct fg_key host_keys[] = {
	{FG_KEY("record", FACTS, offsetof(struct fg_plan, host_record),
		"facts about the host to keep with the run, given literally or printed by a "
		"command"),
	 .count_offset = offsetof(struct fg_plan, host_record_count), .any = "NAME",
	 .example = "record: { rack: { command: \"cat /etc/rack\" } }"},
	{.name = NULL},
};
static const struct fg_section host_section = {.keys = host_keys};

/* ---- baseline ---- */

#define IN_BASELINE(member) offsetof(struct fg_baseline_scratch, member)
static const struct fg_key baseline_keys[] = {
	{FG_KEY("against", NAME, IN_BASELINE(against),
		"a git ref, or `merge-base`: built in a worktree and measured in the same session"),
	 .more = "The strongest comparison: a disturbance of the machine affects both sides. "
		 "`merge-base` is the commit at which this branch left the main branch."},
	{FG_KEY("branch", NAME, IN_BASELINE(branch),
		"the newest complete run stored for this branch"),
	 .example = "branch: main"},
	{FG_KEY("tag", NAME, IN_BASELINE(tag), "the run stored for this git tag"),
	 .example = "tag: v1.4"},
	{FG_KEY("run", NAME, IN_BASELINE(run),
		"a stored run by its id, `latest`, a tag, a branch or a commit"),
	 .example = "run: latest"},
	{FG_KEY("file", PATH, IN_BASELINE(file), "a run that was exported to a file"),
	 .example = "file: release.fgrun"},
	{FG_KEY("required", BOOL, IN_BASELINE(required),
		"a missing baseline ends the run with exit code 3 instead of a pass"),
	 .initial = "false"},
	{.name = NULL},
};
static const struct fg_section baseline_section = {.keys = baseline_keys,
						   .scratch_size =
							   sizeof(struct fg_baseline_scratch),
						   .finish = fg_finish_baseline};

/* ---- report ---- */

#define IN_POST(member) offsetof(struct fg_post_scratch, member)
static const char *const github_posts[] = {"pull-request-comment", "commit-status", "check-run",
					   NULL};
static const char *const gitlab_posts[] = {"merge-request-note", "commit-status", NULL};
static const char *const post_formats[] = {"json",   "junit",  "markdown", "comment", "html",
					   "github", "gitlab", "csv",      "csv-raw", NULL};
static const struct fg_key post_keys[] = {
	{FG_KEY("github", NAME, IN_POST(github),
		"one comment on the pull request, kept up to date; or a commit status or check run"),
	 .words = github_posts},
	{FG_KEY("gitlab", NAME, IN_POST(gitlab),
		"one note on the merge request, kept up to date; or a commit status"),
	 .words = gitlab_posts},
	{FG_KEY("webhook", URL, IN_POST(webhook), "address to send the report to")},
	{FG_KEY("format", NAME, IN_POST(format),
		"format of the report sent to the webhook (default: json)"),
	 .words = post_formats},
	{FG_KEY("token_env", VARIABLE_NAME, IN_POST(token_env),
		"the environment variable that holds the token"),
	 .more = "By default `GITHUB_TOKEN` and `GITLAB_TOKEN`. A webhook's token is not sent; "
		 "it signs the body, if `FASTGATE_TRUSTED_URLS` in the environment lists the "
		 "address (docs/ci.md)."},
	{FG_KEY("required", BOOL, IN_POST(required),
		"a failed post ends the run with exit code 5 instead of a warning"),
	 .initial = "false"},
	{.name = NULL},
};
static const struct fg_section post_section = {.keys = post_keys,
					       .size = sizeof(struct fg_post_target),
					       .scratch_size = sizeof(struct fg_post_scratch),
					       .finish = fg_finish_post};

#define IN_REPORT(member) offsetof(struct fg_report_scratch, member)
/* A key whose value is a path is named after its reporter. */
static const struct fg_key report_keys[] = {
	{FG_KEY("junit", PATH, IN_REPORT(junit), "JUnit XML, for the test view of a CI server")},
	{FG_KEY("json", PATH, IN_REPORT(json), "the whole verdict, machine-readable")},
	{FG_KEY("markdown", PATH, IN_REPORT(markdown), "a summary for job pages and comments")},
	{FG_KEY("html", PATH, IN_REPORT(html),
		"one self-contained page with plots and flame graphs")},
	{FG_KEY("csv", PATH, IN_REPORT(csv), "one line per metric, for spreadsheets")},
	{FG_KEY("github", PATH, IN_REPORT(github), "GitHub annotations on the functions to blame")},
	{FG_KEY("gitlab", PATH, IN_REPORT(gitlab), "a GitLab metrics report")},
	{FG_KEY("comment", PATH, IN_REPORT(comment),
		"the text of a pull-request comment, within its size limit")},
	{FG_KEY("csv-raw", PATH, IN_REPORT(csv_raw),
		"one line per repetition and metric, as measured")},
	{FG_KEY("source", BOOL, IN_REPORT(source),
		"source lines of the functions to blame, with their costs, in all reports"),
	 .initial = "true",
	 .more = "The lines go into the store and to perfdb with the report: at most "
		 "three functions per benchmark with at most 40 lines each, and only from files of "
		 "the project."},
	{FG_KEY("post", LIST, IN_REPORT(posts), "targets to post the result to"),
	 .count_offset = offsetof(struct fg_report_scratch, post_count), .section = &post_section,
	 .example = "post:\n  - { github: pull-request-comment }\n  - { gitlab: "
		    "merge-request-note }\n  - { webhook: \"https://example.org/hook\", token_env: "
		    "HOOK_SECRET, format: junit }"},
	{.name = NULL},
};
static const struct fg_section report_section = {.keys = report_keys,
						 .scratch_size = sizeof(struct fg_report_scratch),
						 .finish = fg_finish_report};

/* ---- perfdb and store ---- */

#define IN_PLAN(member) offsetof(struct fg_plan, member)
static const struct fg_key perfdb_keys[] = {
	{FG_KEY("url", URL, IN_PLAN(perfdb.url),
		"the address of the server; by default nothing is sent"),
	 .more = "A token is sent there only if the environment also names the address: in "
		 "`PERFDB_URL`, or in the list `FASTGATE_TRUSTED_URLS`."},
	{FG_KEY("token_env", VARIABLE_NAME, IN_PLAN(perfdb.token_env),
		"the environment variable that holds the token"),
	 .initial = "PERFDB_TOKEN"},
	{FG_KEY("ca_file", PATH, IN_PLAN(perfdb.ca_file),
		"certificates to trust instead of the system's"),
	 .example = "ca_file: certificates.pem"},
	{FG_KEY("upload", WORD, IN_PLAN(perfdb.upload), "upload of runs after measuring"),
	 .initial = "when-possible", .words = uploads,
	 .more = "`when-possible`: runs that cannot be sent are kept and sent later. `required`: a "
		 "failure ends with exit code 5."},
	{.name = NULL},
};
static const struct fg_section perfdb_section = {.keys = perfdb_keys};

#define IN_LINKS(link) offsetof(struct fg_plan, links) + (link) * sizeof(const char *)
static const struct fg_key link_keys[] = {
	{FG_KEY("commit", URL, IN_LINKS(FG_WEB_LINK_COMMIT),
		"link to a commit's page, containing `{commit}`"),
	 .example = "commit: \"https://git.example.org/{project}/commit/{commit}\""},
	{FG_KEY("file", URL, IN_LINKS(FG_WEB_LINK_FILE),
		"link to a file at a commit, containing `{commit}` and `{file}`"),
	 .example = "file: \"https://git.example.org/{project}/blob/{commit}/{file}\""},
	{FG_KEY("line", URL, IN_LINKS(FG_WEB_LINK_LINE),
		"link to a line of a file at a commit, containing `{commit}`, `{file}` and "
		"`{line}`"),
	 .example = "line: \"https://git.example.org/{project}/blob/{commit}/{file}#L{line}\""},
	{.name = NULL},
};
static const struct fg_section link_section = {.keys = link_keys};

static const struct fg_key store_keys[] = {
	{FG_KEY("path", PATH, IN_PLAN(store_path),
		"the file that stores the runs, relative to the folder of fastgate.yml"),
	 .initial = ".fastgate/store.db",
	 .more = "The file must lie below that folder and outside `.git`, and no part of its "
		 "path may be a symbolic link; `--set` may name any file."},
	{.name = NULL},
};
static const struct fg_section store_section = {.keys = store_keys};

/* ---- whole file ---- */

static const struct fg_key plan_keys[] = {
	{FG_KEY("version", VERSION, 0, "the version of this file's format"), .required = true,
	 .words = versions, .example = "version: 1"},
	{FG_KEY("project", NAME, IN_PLAN(project),
		"the name that runs are stored under (default: the name of the git repository)"),
	 .example = "project: tracker"},
	{FG_KEY("build", SECTION, offsetof(struct fg_plan, build), "build of a side"),
	 .section = &build_section},
	{FG_KEY("host", SECTION, 0, "more facts about the host"), .section = &host_section},
	{FG_KEY("measure", SECTION, IN_PLAN(measure), "measurement of the benchmarks"),
	 .section = &fg_config_measure,
	 .more = "A benchmark can also have this key, for itself only."},
	{FG_KEY("gate", SECTION, IN_PLAN(policy), "rules of the verdict"), .section = &gate_section,
	 .more = "A benchmark can also have this key, for itself only. "
		 "`docs/statistics.md` explains the numbers."},
	{FG_KEY("benchmarks", LIST, IN_PLAN(benchmarks), "benchmarks to measure"),
	 .count_offset = offsetof(struct fg_plan, benchmark_count), .required = true,
	 .section = &benchmark_section, .any = "BENCH"},
	{FG_KEY("baseline", SECTION, IN_PLAN(baseline),
		"baseline of the comparison: one of these keys"),
	 .section = &baseline_section, .example = "baseline: { against: merge-base }"},
	{FG_KEY("report", SECTION, 0, "files to write after each run; missing folders are created"),
	 .section = &report_section,
	 .more = "Paths in this file must lie below the current folder and outside `.git`, and "
		 "no part of a path may be a symbolic link; `--set` may name any file.",
	 .example =
		 "report:\n  { junit: fastgate.xml, json: fastgate.json, markdown: fastgate.md, "
		 "html: fastgate.html,\n    csv: fastgate.csv, csv-raw: fastgate-raw.csv, github: "
		 "annotations.txt,\n    gitlab: metrics.txt, comment: fastgate-comment.md }"},
	{FG_KEY("links", SECTION, 0, "links to commits, files and lines"), .section = &link_section,
	 .more = "The HTML report, the comments, and perfdb's pages and feed have these links. "
		 "`{project}`, `{commit}`, `{file}` and `{line}` are replaced and escaped; only "
		 "`https://` and `http://` make links. Line numbers refer to the candidate. The "
		 "templates are kept with each run."},
	{FG_KEY("perfdb", SECTION, 0, "the shared server"), .section = &perfdb_section,
	 .example = "perfdb: { url: \"https://perfdb.example.org\", token_env: PERFDB_TOKEN, "
		    "upload: when-possible }"},
	{FG_KEY("store", SECTION, 0, "store of the runs on this machine"),
	 .section = &store_section},
	{.name = NULL},
};

const struct fg_section fg_config_schema = {
	.keys = plan_keys, .size = sizeof(struct fg_plan), .finish = fg_finish_plan};
