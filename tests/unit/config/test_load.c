// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "tests/support/scratch.h"
#include "tests/unit/config/loaded.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_success(void)
{
	if (loaded.status != FG_OK)
		fail_msg("%s", loaded.err.message);
	assert_int_equal(loaded.report.error_count, 0);
}

static void must_load(const char *text)
{
	load_text(text);
	expect_success();
}

#define SMALLEST     \
 "version: 1\n"      \
 "benchmarks:\n"     \
 "  - name: parse\n" \
 "    command: ./build/parse --events 200 'data/a b.bin'\n"

FG_TEST(four_lines_are_a_configuration)
{
	must_load(SMALLEST);
	assert_int_equal(loaded.plan.benchmark_count, 1);
	assert_string_equal(loaded.plan.benchmarks[0].name, "parse");
	assert_int_equal(loaded.plan.benchmarks[0].command.argc, 4);
	assert_string_equal(loaded.plan.benchmarks[0].command.argv[3], "data/a b.bin");
	assert_null(loaded.plan.benchmarks[0].command.argv[4]);
	assert_string_equal(loaded.plan.benchmarks[0].working_directory, ".");
	assert_int_equal(loaded.plan.benchmarks[0].timeout_ns, 600 * FG_NS_PER_S);
	assert_int_equal(loaded.plan.baseline.kind, FG_BASELINE_NONE);
}

/* The defaults in the table equal those of a command line without a file. */
FG_TEST(defaults_of_the_table_are_those_of_the_model)
{
	struct fg_plan bare;

	fg_plan_init(&bare);
	must_load(SMALLEST "measure: {}\ngate: {}\nperfdb: {}\nstore: {}\n");
	assert_memory_equal(&loaded.plan.measure, &bare.measure, sizeof(bare.measure));
	assert_true(loaded.plan.policy.alpha == bare.policy.alpha);
	assert_true(loaded.plan.policy.function_alpha == bare.policy.function_alpha);
	assert_true(loaded.plan.policy.function_floor == bare.policy.function_floor);
	assert_int_equal(loaded.plan.policy.functions, bare.policy.functions);
	assert_int_equal(loaded.plan.policy.fail_on_inconclusive, bare.policy.fail_on_inconclusive);
	assert_int_equal(loaded.plan.perfdb.upload, bare.perfdb.upload);
	assert_string_equal(loaded.plan.perfdb.token_env, bare.perfdb.token_env);
	assert_string_equal(loaded.plan.store_path, bare.store_path);
	fg_plan_release(&bare);
}

static const char whole[] =
	"version: 1\n"
	"project: tracker\n"
	"build:\n"
	"  command: [cmake, --build, build]\n"
	"  record:\n"
	"    geometry: \"v12\"\n"
	"    boost: { command: \"pkg-config --modversion boost\" }\n"
	"host: { record: { rack: r7 } }\n"
	"benchmarks:\n"
	"  - name: reconstruct\n"
	"    command: ./build/reco --events 200\n"
	"    working_directory: sub\n"
	"    environment: { OMP_NUM_THREADS: \"1\", EMPTY: }\n"
	"    stdin: data/input.txt\n"
	"    setup: ./make-data.sh\n"
	"    prepare: sync\n"
	"    cleanup: [rm, -f, \"a b\"]\n"
	"    timeout: 60s\n"
	"    expect: { exit_code: 3 }\n"
	"    metrics:\n"
	"      - { name: events_per_second, regex: \"rate: ([0-9.]+)\", better: higher, unit: "
	"\"1/s\" }\n"
	"      - { name: hits, json: /a/0, file: out.json, exact: true }\n"
	"    harness: none\n"
	"    labels: [nightly, big]\n"
	"    measure: { pairs: { max: 40 }, sampler: { rate: 250 } }\n"
	"    gate: { alpha: 0.05, metrics: { cpu_time: { margin: 1% }, max_rss: { gated: no } } }\n"
	"  - name: other\n"
	"    command: a | b\n"
	"    shell: true\n"
	"measure:\n"
	"  schedule: abba\n"
	"  pairs: { min: 12, max: 90 }\n"
	"  budget: 2m\n"
	"  warmup: 2\n"
	"  pin: true\n"
	"  until_sure: true\n"
	"  sampler: { enabled: true, rate: 500, clock: wall, follow_children: false, "
	"unsampled_share: 20% }\n"
	"gate:\n"
	"  alpha: 0.001\n"
	"  metrics:\n"
	"    cpu_time:  { min_effect: 3%, margin: 3%, tolerated: 1% }\n"
	"    events_per_second: { min_effect: 0.5 }\n"
	"  functions: gate\n"
	"  function_floor: 0.5%\n"
	"  function_alpha: 0.02\n"
	"  inconclusive: fail\n"
	"  accept:\n"
	"    - { benchmark: reconstruct, metric: max_rss, up_to: 10%, until: 2099-03-01, reason: "
	"\"larger cache\" }\n"
	"    - { until: 2099-01-01, reason: all }\n"
	"baseline: { branch: main, required: true }\n"
	"report:\n"
	"  junit: fastgate.xml\n"
	"  html: fastgate.html\n"
	"  post:\n"
	"    - { github: pull-request-comment }\n"
	"    - { webhook: \"https://example.org/hook\", token_env: HOOK_TOKEN, required: true }\n"
	"    - { webhook: \"https://example.org/tests\", format: junit }\n"
	"perfdb: { url: \"https://perfdb.example.org\", upload: required, ca_file: ca.pem }\n"
	"store: { path: /tmp/runs.db }\n";

FG_TEST(every_key_reaches_the_plan)
{
	const struct fg_benchmark *b = NULL;

	must_load(whole);
	assert_string_equal(loaded.plan.project, "tracker");
	assert_string_equal(loaded.plan.build.command.text, "cmake --build build");
	assert_int_equal(loaded.plan.build.command.argc, 3);
	assert_int_equal(loaded.plan.build.record_count, 2);
	assert_string_equal(loaded.plan.build.record[0].literal, "v12");
	assert_string_equal(loaded.plan.build.record[1].command.argv[0], "pkg-config");
	assert_int_equal(loaded.plan.host_record_count, 1);
	assert_int_equal(loaded.plan.measure.schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(loaded.plan.measure.min_pairs, 12);
	assert_int_equal(loaded.plan.measure.max_pairs, 90);
	assert_int_equal(loaded.plan.measure.budget_ns, 120 * FG_NS_PER_S);
	assert_int_equal(loaded.plan.measure.warmup, 2);
	assert_true(loaded.plan.measure.pin && loaded.plan.measure.until_sure);
	assert_int_equal(loaded.plan.measure.sampler.clock, FG_SAMPLE_WALL);
	assert_false(loaded.plan.measure.sampler.follow_children);
	assert_true(loaded.plan.measure.sampler.unsampled_share == 0.2);
	assert_true(loaded.plan.policy.alpha == 0.001);
	assert_int_equal(loaded.plan.policy.functions, FG_FUNCTIONS_GATE);
	assert_true(loaded.plan.policy.function_floor == 0.005);
	assert_true(loaded.plan.policy.fail_on_inconclusive);
	assert_int_equal(loaded.plan.policy.metric_count, 2);
	assert_int_equal(loaded.plan.baseline.kind, FG_BASELINE_BRANCH);
	assert_string_equal(loaded.plan.baseline.value, "main");
	assert_true(loaded.plan.baseline.required);
	assert_int_equal(loaded.plan.report_count, 2);
	assert_string_equal(loaded.plan.reports[1].format, "html");
	assert_string_equal(loaded.plan.reports[1].path, "fastgate.html");
	assert_int_equal(loaded.plan.post_count, 3);
	assert_null(loaded.plan.posts[0].format);
	assert_string_equal(loaded.plan.posts[1].format, "json");
	assert_string_equal(loaded.plan.posts[2].format, "junit");
	assert_string_equal(loaded.plan.posts[0].token_env, "GITHUB_TOKEN");
	assert_string_equal(loaded.plan.posts[1].kind, "webhook");
	assert_string_equal(loaded.plan.posts[1].token_env, "HOOK_TOKEN");
	assert_true(loaded.plan.posts[1].required);
	assert_int_equal(loaded.plan.perfdb.upload, FG_UPLOAD_REQUIRED);
	assert_string_equal(loaded.plan.perfdb.ca_file, "ca.pem");
	assert_string_equal(loaded.plan.store_path, "/tmp/runs.db");

	b = fg_plan_find(&loaded.plan, "reconstruct");
	assert_non_null(b);
	assert_string_equal(b->working_directory, "sub");
	assert_int_equal(b->environment_count, 2);
	assert_string_equal(b->environment[0].value, "1");
	assert_string_equal(b->environment[1].value, "");
	assert_string_equal(b->stdin_path, "data/input.txt");
	assert_string_equal(b->setup.argv[0], "./make-data.sh");
	assert_string_equal(b->cleanup.text, "rm -f 'a b'");
	assert_int_equal(b->timeout_ns, 60 * FG_NS_PER_S);
	assert_int_equal(b->expect_exit_code, 3);
	assert_int_equal(b->metric_count, 2);
	assert_int_equal(b->metrics[0].better, FG_BETTER_HIGHER);
	assert_string_equal(b->metrics[1].json_pointer, "/a/0");
	assert_true(b->metrics[1].exact);
	assert_string_equal(b->metrics[1].unit, "1");
	assert_string_equal(b->labels[1], "big");
}

FG_TEST(a_benchmark_inherits_absent_keys)
{
	const struct fg_benchmark *b = NULL;
	struct fg_metric_policy cpu;

	must_load(whole);
	b = fg_plan_find(&loaded.plan, "reconstruct");
	assert_int_equal(b->measure.min_pairs, 12);
	assert_int_equal(b->measure.max_pairs, 40);
	assert_int_equal(b->measure.sampler.rate_hz, 250);
	assert_int_equal(b->measure.sampler.clock, FG_SAMPLE_WALL);
	assert_true(b->policy.alpha == 0.05);
	cpu = fg_policy_metric(&b->policy, "cpu_time");
	assert_true(cpu.margin == 0.01 && cpu.min_effect == 0.03 && cpu.tolerated == 0.01);
	assert_false(fg_policy_metric(&b->policy, "max_rss").gated);
	/* the plan and the other benchmark stay as they are */
	assert_true(fg_policy_metric(&loaded.plan.policy, "cpu_time").margin == 0.03);
	assert_true(fg_policy_metric(&loaded.plan.policy, "max_rss").gated);
	b = fg_plan_find(&loaded.plan, "other");
	assert_int_equal(b->measure.max_pairs, 90);
	assert_true(b->policy.alpha == 0.001);
	assert_string_equal(b->command.argv[0], "/bin/sh");
	assert_string_equal(b->command.argv[2], "a | b");
	assert_string_equal(b->command.text, "a | b");
}

FG_TEST(a_case_has_the_settings_of_its_suite)
{
	const struct fg_benchmark *suite = NULL;

	must_load("version: 1\nbenchmarks:\n"
		  "- {name: gb, command: x, harness: google-benchmark, gate: {alpha: 0.02, "
		  "creep: {tolerated: 5%}}}\n"
		  "- {name: gb/own, command: y}\n- {name: plain, command: z}\n");
	suite = fg_plan_find(&loaded.plan, "gb");
	assert_ptr_equal(fg_plan_find(&loaded.plan, "gb/BM_sort/8"), suite);
	assert_true(suite->policy.alpha == 0.02 && suite->policy.creep_tolerated == 0.05);
	assert_ptr_equal(fg_plan_find(&loaded.plan, "gb/own"), &loaded.plan.benchmarks[1]);
	assert_null(fg_plan_find(&loaded.plan, "plain/BM_sort"));
	assert_null(fg_plan_find(&loaded.plan, "gbx"));
}

FG_TEST(an_accepted_slowdown_names_its_source)
{
	must_load(whole);
	assert_int_equal(loaded.plan.policy.accept_count, 2);
	assert_string_equal(loaded.plan.policy.accepts[0].source, "f.yml:48");
	assert_true(loaded.plan.policy.accepts[0].up_to == 0.1);
	assert_string_equal(loaded.plan.policy.accepts[1].benchmark, "*");
	assert_true(isnan(loaded.plan.policy.accepts[1].up_to));
}

FG_TEST(anchors_repeat_what_they_name)
{
	must_load("version: 1\nbenchmarks:\n- {name: a, command: x, environment: &e {A: '1'}}\n"
		  "- {name: b, command: y, environment: *e}\n");
	assert_string_equal(loaded.plan.benchmarks[1].environment[0].value, "1");
}

FG_TEST(files_from_windows_are_read)
{
	must_load("\xef\xbb\xbfversion: 1\r\nbenchmarks:\r\n- name: a\r\n  command: x\r\n");
	assert_string_equal(loaded.plan.benchmarks[0].name, "a");
	assert_string_equal(loaded.plan.benchmarks[0].command.argv[0], "x");
}

/* ---- overrides ---- */

static void load_with(const char *text, const char *const *settings, char *const *environment)
{
	struct fg_config_source source = {.path = "f.yml",
					  .text = text,
					  .text_size = strlen(text),
					  .settings = settings,
					  .environment = environment};

	while (settings && settings[source.setting_count])
		source.setting_count++;
	load(&source);
	expect_success();
}

FG_TEST(the_command_line_beats_the_environment_beats_the_file)
{
	const char *const settings[] = {"gate.alpha=0.2", NULL};
	char alpha[] = "FASTGATE_GATE_ALPHA=0.3";
	char floor[] = "FASTGATE_GATE_FUNCTION_FLOOR=7%";
	char *const environment[] = {alpha, floor, NULL};

	load_with(whole, settings, environment);
	assert_true(loaded.plan.policy.alpha == 0.2);
	assert_true(loaded.plan.policy.function_floor == 0.07);
	load_with(whole, NULL, environment);
	assert_true(loaded.plan.policy.alpha == 0.3);
}

/* A message contains the user's own spelling. */
FG_TEST(errors_of_short_forms_name_the_option)
{
	static const struct fg_config_option options[] = {
		{"measure.budget=5minutes", "--budget 5minutes"},
		{"measure.pairs.min=80", "--pairs 80:10"},
		{"measure.pairs.max=10", "--pairs 80:10"},
	};
	static const char text[] = "version: 1\nbenchmarks:\n- { name: b, command: ./b }\n";
	const struct fg_config_source source = {.path = "fastgate.yml",
						.text = text,
						.text_size = strlen(text),
						.options = options,
						.option_count = FG_ARRAY_SIZE(options)};

	load(&source);
	assert_int_not_equal(loaded.status, FG_OK);
	assert_int_equal(loaded.report.error_count, 2);
	assert_string_equal(loaded.report.items[0].text,
			    "--budget 5minutes: measure.budget: found '5minutes', expected a "
			    "duration such as 250ms, 90s, 5m or 2h from 1.00 ms to 168 h");
	assert_string_equal(loaded.report.items[1].text,
			    "--pairs 80:10: measure.pairs: found min 80 above max 10, expected the "
			    "smaller number as min");
}

FG_TEST(settings_reach_every_corner)
{
	const char *const settings[] = {
		"benchmarks.reconstruct.timeout=5s",
		"benchmarks.reconstruct.gate.metrics.cpu_time.margin=9%",
		"benchmarks.other.command=./b --flag 'x y'",
		"benchmarks.other.shell=false",
		"gate.metrics.wall_time.gated=false",
		"gate.metrics.max_rss={min_effect: 8%}",
		"gate.metrics.heap.allocations.tolerated=0.5%",
		"gate.metrics.heap.bytes={tolerated: 0.25%}",
		"measure.pairs={min: 5, max: 6}",
		"build.record.commit=abc=def",
		"report.post=[]",
		"report.markdown=m.md",
		"project=a: b",
		NULL,
	};

	load_with(whole, settings, NULL);
	assert_int_equal(loaded.plan.benchmarks[0].timeout_ns, 5 * FG_NS_PER_S);
	assert_true(fg_policy_metric(&loaded.plan.benchmarks[0].policy, "cpu_time").margin == 0.09);
	assert_int_equal(loaded.plan.benchmarks[1].command.argc, 3);
	assert_string_equal(loaded.plan.benchmarks[1].command.argv[2], "x y");
	assert_false(fg_policy_metric(&loaded.plan.policy, "wall_time").gated);
	assert_true(fg_policy_metric(&loaded.plan.policy, "max_rss").min_effect == 0.08);
	assert_true(fg_policy_metric(&loaded.plan.policy, "heap.allocations").tolerated == 0.005);
	assert_true(fg_policy_metric(&loaded.plan.policy, "heap.bytes").tolerated == 0.0025);
	assert_int_equal(loaded.plan.measure.min_pairs, 5);
	assert_int_equal(loaded.plan.build.record_count, 3);
	assert_string_equal(loaded.plan.build.record[2].literal, "abc=def");
	assert_int_equal(loaded.plan.post_count, 0);
	assert_int_equal(loaded.plan.report_count, 3);
	assert_string_equal(loaded.plan.project, "a: b");
}

FG_TEST(variables_reach_nested_keys)
{
	char a[] = "FASTGATE_MEASURE_PAIRS_MIN=3";
	char b[] = "FASTGATE_MEASURE_SAMPLER_FOLLOW_CHILDREN=true";
	char c[] = "FASTGATE_GATE_METRICS_MAX_RSS_MIN_EFFECT=11%";
	char d[] = "FASTGATE_BUILD_RECORD_JOB_NUMBER=77";
	char e[] = "FASTGATE_DEBUG=config";
	char f[] = "FASTGATE_VERSION=9";
	char g[] = "OTHER=1";
	char *const environment[] = {a, b, c, d, e, f, g, NULL};

	load_with(whole, NULL, environment);
	assert_int_equal(loaded.report.count, 0);
	assert_int_equal(loaded.plan.measure.min_pairs, 3);
	assert_true(loaded.plan.measure.sampler.follow_children);
	assert_true(fg_policy_metric(&loaded.plan.policy, "max_rss").min_effect == 0.11);
	assert_string_equal(loaded.plan.build.record[2].name, "job_number");
	assert_string_equal(loaded.plan.build.record[2].literal, "77");
}

FG_TEST(a_variable_that_is_nearly_a_key_is_warned_about)
{
	char a[] = "FASTGATE_GATE_ALHPA=3";
	char *const environment[] = {a, NULL};

	load_with(whole, NULL, environment);
	assert_int_equal(loaded.report.count, 1);
	assert_true(loaded.report.items[0].is_warning);
	assert_non_null(strstr(loaded.report.items[0].text, "FASTGATE_GATE_ALHPA"));
}

FG_TEST(an_override_of_a_repeated_value_changes_one_place)
{
	const char *const settings[] = {"benchmarks.b.environment.A=2", NULL};

	load_with("version: 1\nbenchmarks:\n- {name: a, command: x, environment: &e {A: '1'}}\n"
		  "- {name: b, command: y, environment: *e}\n",
		  settings, NULL);
	assert_string_equal(loaded.plan.benchmarks[0].environment[0].value, "1");
	assert_string_equal(loaded.plan.benchmarks[1].environment[0].value, "2");
}

/* ---- files ---- */

FG_TEST(the_file_is_found_from_a_folder_below)
{
	struct fg_scratch scratch;
	struct fg_error err = {0};
	char *path = NULL;

	fg_scratch_init(&scratch);
	assert_int_equal(fg_config_find(fg_scratch_path(&scratch, "."), &path, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "fastgate init"));
	fg_scratch_write_text(&scratch, "fastgate.yaml", SMALLEST);
	assert_int_equal(fg_config_find(fg_scratch_path(&scratch, "."), &path, &err), FG_ENOENT);
	assert_string_equal(
		err.message,
		"found 'fastgate.yaml', but the file must be called 'fastgate.yml': rename it");
	fg_scratch_write_text(&scratch, "fastgate.yml", SMALLEST);
	assert_int_equal(mkdir(fg_scratch_path(&scratch, "sub"), 0755), 0);
	assert_int_equal(fg_config_find(fg_scratch_path(&scratch, "sub"), &path, &err), FG_OK);
	assert_true(strlen(path) > strlen("/fastgate.yml"));
	free(path);
	fg_scratch_release(&scratch);
}

FG_TEST(the_project_is_called_as_its_repository)
{
	struct fg_scratch scratch;
	struct fg_config_source source = {0};

	fg_scratch_init(&scratch);
	assert_int_equal(mkdir(fg_scratch_path(&scratch, "tracker"), 0755), 0);
	assert_int_equal(mkdir(fg_scratch_path(&scratch, "tracker/.git"), 0755), 0);
	assert_int_equal(mkdir(fg_scratch_path(&scratch, "tracker/bench"), 0755), 0);
	fg_scratch_write_text(&scratch, "tracker/bench/fastgate.yml", SMALLEST);
	source.path = fg_scratch_path(&scratch, "tracker/bench/fastgate.yml");
	load(&source);
	assert_int_equal(loaded.status, FG_OK);
	assert_string_equal(loaded.plan.project, "tracker");
	assert_string_equal(strrchr(loaded.plan.root, '/'), "/bench");
	/* a worktree: .git is a file that names the repository */
	assert_int_equal(mkdir(fg_scratch_path(&scratch, "wt"), 0755), 0);
	fg_scratch_write_text(&scratch, "wt/.git", "gitdir: /home/me/tracker/.git/worktrees/wt\n");
	fg_scratch_write_text(&scratch, "wt/fastgate.yml", SMALLEST);
	source.path = fg_scratch_path(&scratch, "wt/fastgate.yml");
	load(&source);
	assert_int_equal(loaded.status, FG_OK);
	assert_string_equal(loaded.plan.project, "tracker");
	fg_scratch_release(&scratch);
}

FG_TEST(without_a_file_the_defaults_are_the_plan)
{
	const char *const settings[] = {"gate.alpha=0.05", NULL};
	struct fg_config_source source = {
		.optional = true, .settings = settings, .setting_count = 1};
	struct fg_scratch scratch;
	char *before = getcwd(NULL, 0);

	fg_scratch_init(&scratch);
	assert_int_equal(chdir(scratch.path), 0);
	load(&source);
	assert_int_equal(loaded.status, FG_OK);
	assert_true(loaded.plan.policy.alpha == 0.05);
	assert_int_equal(loaded.plan.benchmark_count, 0);
	assert_null(loaded.plan.config_path);
	source.optional = false;
	load(&source);
	assert_int_equal(loaded.status, FG_ENOENT);
	assert_int_equal(chdir(before), 0);
	free(before);
	fg_scratch_release(&scratch);
}

FG_TEST(a_missing_named_file_is_reported)
{
	const struct fg_config_source source = {.path = "/nowhere/f.yml", .optional = true};

	load(&source);
	assert_int_not_equal(loaded.status, FG_OK);
	assert_non_null(strstr(loaded.err.message, "/nowhere/f.yml"));
}
