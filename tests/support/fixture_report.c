// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fixture_report.h"

#include "base/clock.h"
#include "base/random.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_arguments.h"
#include "tests/support/fixture_profile.h"
#include "tests/support/golden.h"

#include <math.h>

const char *const fg_fixture_names[] = {
	"regression", "pass",    "improvement", "inconclusive", "new",      "missing", "error",
	"mixed",      "hostile", "nothing",     "identical",    "accepted", "expired", "unstable",
	"unsure",     "marked",  "counted",     "unaffected",   "creeping", NULL};

#define NONE ((double)NAN)

enum {
	HUGE_NAME_BYTES = 60 * 1024,
};

/* --- metrics --- */

struct metric_spec {
	enum fg_metric_id id;
	enum fg_outcome outcome;
	double baseline;
	double ratio;
	double half_width;
	bool undecided;
};

struct spec {
	const char *name;
	enum fg_outcome outcome;
	unsigned pairs;
	double seconds;
	struct metric_spec metrics[3];
	bool identical;
};

static const struct spec specs[] = {
	{"reconstruct",
	 FG_OUTCOME_REGRESSION,
	 22,
	 7.1,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_REGRESSION, 2.1e8, 1.0483, 0.0175, false},
	  {FG_METRIC_MAX_RSS, FG_OUTCOME_PASS, 5.2e7, 1.0, 0.001, false},
	  {FG_METRIC_WALL_TIME, FG_OUTCOME_PASS, 4.3e8, NONE, NONE, true}},
	 false},
	{"parse",
	 FG_OUTCOME_PASS,
	 10,
	 2.4,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_PASS, 6.4e7, 1.001, 0.006, false},
	  {FG_METRIC_MAX_RSS, FG_OUTCOME_PASS, 1.2e7, 1.0, 0.001, false},
	  {FG_METRIC_WALL_TIME, FG_OUTCOME_PASS, 1.3e8, NONE, NONE, true}},
	 false},
	{"sort",
	 FG_OUTCOME_IMPROVEMENT,
	 16,
	 3.9,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_IMPROVEMENT, 9.1e7, 0.912, 0.012, false},
	  {FG_METRIC_MAX_RSS, FG_OUTCOME_PASS, 3.3e7, 1.002, 0.004, false},
	  {FG_METRIC_WALL_TIME, FG_OUTCOME_PASS, 1.9e8, NONE, NONE, true}},
	 false},
	{"compress",
	 FG_OUTCOME_INCONCLUSIVE,
	 80,
	 61,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_INCONCLUSIVE, 3.1e8, 1.017, 0.021, false},
	  {FG_METRIC_MAX_RSS, FG_OUTCOME_PASS, 8.0e7, 1.0, 0.001, false},
	  {FG_METRIC_WALL_TIME, FG_OUTCOME_PASS, 6.3e8, NONE, NONE, true}},
	 false},
	{"render",
	 FG_OUTCOME_NEW,
	 10,
	 1.2,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_NEW, NONE, NONE, NONE, false}},
	 false},
	{"legacy",
	 FG_OUTCOME_MISSING,
	 0,
	 0,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_MISSING, 4.4e7, NONE, NONE, false}},
	 false},
	{"network",
	 FG_OUTCOME_ERROR,
	 0,
	 0.2,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_ERROR, NONE, NONE, NONE, false}},
	 false},
	{"hash",
	 FG_OUTCOME_PASS,
	 10,
	 1.9,
	 {{FG_METRIC_CPU_TIME, FG_OUTCOME_PASS, 5.0e7, 1.0, 0.004, false}},
	 true},
};

static const struct spec *find_spec(enum fg_outcome outcome)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(specs); i++) {
		if (specs[i].outcome == outcome)
			return &specs[i];
	}
	return NULL;
}

static const struct fg_accept known_price = {
	.benchmark = "sort",
	.metric = "minor_faults",
	.up_to = 0.30,
	.until_ns = INT64_C(1803859200) * FG_NS_PER_S,
	.reason = "larger cache",
	.source = "fastgate.yml:31",
};

static void set_metric(struct fg_metric_verdict *metric, const struct metric_spec *spec,
		       unsigned pairs)
{
	const struct fg_metric *builtin = fg_metric_builtin(spec->id);

	*metric = (struct fg_metric_verdict){
		.name = builtin->name,
		.label = builtin->label,
		.unit = builtin->unit,
		.better = builtin->better,
		.outcome = spec->outcome,
		.gated = true,
		.decided = !spec->undecided,
		.baseline = spec->baseline,
		.candidate =
			spec->undecided || isnan(spec->ratio) ? NONE : spec->baseline * spec->ratio,
		.ratio = spec->ratio,
		.low = spec->ratio - spec->half_width,
		.high = spec->ratio + spec->half_width,
		.alpha = 0.01,
		.min_effect = builtin->min_effect,
		.margin = builtin->margin,
		.smallest_detectable = spec->half_width * 1.1,
		.p_value = spec->outcome == FG_OUTCOME_REGRESSION ? 0.00003 : NONE,
		.pairs = pairs,
		.looks = 2,
	};
	if (spec->outcome == FG_OUTCOME_NEW)
		metric->candidate = 7.7e7;
}

/* A metric that is shown but not gated, with a slowdown that is accepted. */
static void add_accepted_metric(struct fg_verdict *verdict, struct fg_benchmark_verdict *benchmark)
{
	const struct metric_spec spec = {
		FG_METRIC_MINOR_FAULTS, FG_OUTCOME_REGRESSION, 5120, 1.21, 0.02, false};
	struct fg_metric_verdict *metrics =
		fg_arena_array(&verdict->arena, benchmark->metric_count + 1, sizeof(metrics[0]));

	memcpy(metrics, benchmark->metrics, benchmark->metric_count * sizeof(metrics[0]));
	set_metric(&metrics[benchmark->metric_count], &spec, benchmark->pairs);
	metrics[benchmark->metric_count].gated = false;
	metrics[benchmark->metric_count].accepted = &known_price;
	benchmark->metrics = metrics;
	benchmark->metric_count++;
}

/* --- functions --- */

static const char *const fit_frames[] = {"main", "loop(Event const&)", "fit(Track&)"};
static const char *const refit_frames[] = {"main", "loop(Event const&)", "smooth(Track&)",
					   "fit(Track&)"};
static const char *const seed_frames[] = {"main", "loop(Event const&)",
					  "seed<Hit, std::vector<Hit> >(Hit const&)"};

static struct fg_path_verdict make_path(const char *const *frames, size_t count, double delta)
{
	const char **writable = NULL;

	memcpy(&writable, &frames, sizeof(writable)); /* the reporters only read the frames */
	return (struct fg_path_verdict){
		.frames = writable,
		.frame_count = count,
		.delta = delta,
		.low = delta * 0.8,
		.high = delta * 1.2,
		.p_adjusted = 0.0002,
		.outcome = delta > 0 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_IMPROVEMENT,
	};
}

static struct fg_node_verdict make_node(const char *name, const char *file, unsigned line,
					double before, double after)
{
	const double delta = after - before;

	return (struct fg_node_verdict){
		.measure = "cpu_time",
		.unit = "ms",
		.name = name,
		.library = "reco",
		.file = file,
		.line = line,
		.outcome = fabs(delta) < 1
				   ? FG_OUTCOME_INCONCLUSIVE
				   : (delta > 0 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_IMPROVEMENT),
		.standing = fabs(delta) < 1 ? FG_STANDING_NOT_SURE
					    : (delta > 0 ? FG_STANDING_GUILTY : FG_STANDING_FASTER),
		.share_of_change = (double)NAN,
		.self = {before, after},
		.inclusive = {before + 20.9, after + 20.9},
		.delta = delta,
		.low = delta - 1.5,
		.high = delta + 1.5,
		.p_adjusted = 0.0001,
		.samples = 4180,
	};
}

/* One line was replaced, in a file whose text contains markup. */
#define NO_COST ((double)NAN)
static struct fg_source_row fit_rows[] = {
	{.line = {88, 88}, .cost = {NO_COST, NO_COST}, .text = "void fit(Track& track) {"},
	{.line = {90, 91}, .cost = {11.25, 11.5}, .text = "        solve(track); // `<b>` ```"},
	{.line = {91, 0}, .cost = {19.75, NO_COST}, .text = "        if (track.ok) refine(track);"},
	{.line = {0, 92}, .cost = {NO_COST, 29.125}, .text = "        refine(track); </script>"},
	{.line = {92, 93}, .cost = {NO_COST, NO_COST}, .text = "}"},
};
static const struct fg_source_listing fit_source = {
	.file = "reco/fit.cpp",
	.has_side = {true, true},
	.rows = fit_rows,
	.row_count = FG_ARRAY_SIZE(fit_rows),
	.hottest = 3,
};

/* One instruction was removed. */
static struct fg_source_row fit_code_rows[] = {
	{.line = {14, 14}, .cost = {0.5, 0.5}, .text = ".L1: mov rdi, rbx"},
	{.line = {15, 0}, .cost = {12.25, NO_COST}, .text = "cmp byte ptr [rbx+0x08], 0x00"},
	{.line = {16, 0}, .cost = {NO_COST, NO_COST}, .text = "jz .L1"},
	{.line = {17, 15}, .cost = {7, 28.5}, .text = "call refine(Track&)</script>"},
};
static const struct fg_source_listing fit_code = {
	.file = "reco",
	.has_side = {true, true},
	.rows = fit_code_rows,
	.row_count = FG_ARRAY_SIZE(fit_code_rows),
	.hottest = 3,
};

static const struct fg_mechanism fit_mechanism = {
	.kind = FG_MECHANISM_CACHE,
	.words = "same instructions, 3.1 × the misses of the last-level cache (120 400 → 373 000)",
	.counts = {120400, 373000},
	.explains = 0.81,
};

static void add_functions(struct fg_verdict *verdict, struct fg_benchmark_verdict *benchmark,
			  double scale)
{
	struct fg_arena *arena = &verdict->arena;
	struct fg_node_verdict *functions = fg_arena_array(arena, 2, sizeof(functions[0]));

	benchmark->time.total_delta = 10.4 * scale;
	benchmark->time.unattributed = 0.52 * scale;
	benchmark->time.everything_else = 0.7 * scale;
	functions[0] = make_node("fit(Track&)", "/src/reco/fit.cpp", 88, 31.1, 31.1 + 9.7 * scale);
	functions[0].source = scale > 0 ? &fit_source : NULL;
	functions[0].assembly = scale > 0 ? &fit_code : NULL;
	functions[0].mechanism = scale > 0 ? &fit_mechanism : NULL;
	functions[0].path_count = 2;
	functions[0].paths = fg_arena_array(arena, 2, sizeof(functions[0].paths[0]));
	functions[0].paths[0] = make_path(fit_frames, 3, 9.1 * scale);
	functions[0].paths[1] = make_path(refit_frames, 4, 0.6 * scale);
	functions[1] = make_node(seed_frames[2], "/src/reco/seed.h", 17, 12.0, 12.0 + 0.18 * scale);
	functions[1].path_count = 1;
	functions[1].paths = fg_arena_array(arena, 1, sizeof(functions[1].paths[0]));
	functions[1].paths[0] = make_path(seed_frames, 3, 0.18 * scale);
	functions[0].share_of_change = functions[0].delta / benchmark->time.total_delta;
	benchmark->time.functions = functions;
	benchmark->time.function_count = 2;
	benchmark->time.functions_tested = 41;
	benchmark->time.libraries = fg_arena_array(arena, 1, sizeof(functions[0]));
	benchmark->time.libraries[0] =
		make_node("libtrack.so.3", NULL, 0, 60.0, 60.0 + 9.9 * scale);
	benchmark->time.libraries[0].share_of_change = 9.9 / 10.4;
	benchmark->time.library_count = 1;
	benchmark->time.moved = fg_arena_array(arena, 1, sizeof(benchmark->time.moved[0]));
	benchmark->time.moved[0] = (struct fg_moved){.measure = "cpu_time",
						     .unit = "ms",
						     .from = "decode(Bank const&)",
						     .to = "decode_header(Bank const&)",
						     .from_library = "reco",
						     .to_library = "reco",
						     .ancestor = "loop(Event const&)",
						     .amount = 3.1,
						     .kind = "extracted"};
	benchmark->time.moved_count = 1;
}

/* --- raw figures --- */

static void add_repetitions(struct fg_series *series, const struct spec *spec)
{
	struct fg_random random = {0};

	fg_random_seed(&random, 7);
	for (uint32_t pair = 0; pair < spec->pairs + 1; pair++) {
		const double common = 1 + 0.05 * fg_random_normal(&random);

		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_repetition *repetition = NULL;

			if (arm == FG_ARM_BASELINE && spec->outcome == FG_OUTCOME_NEW)
				continue;
			repetition = fg_series_add_repetition(series);
			repetition->pair = pair;
			repetition->arm = (uint8_t)arm;
			repetition->position = (uint8_t)((pair + arm) % 2);
			repetition->aside = pair == 0 ? FG_ASIDE_WARMUP : 0;
			repetition->sampled = true;
			repetition->period_ns = 1000000;
			repetition->started_ns = INT64_C(1788179696) * FG_NS_PER_S +
						 (int64_t)pair * 320 * FG_NS_PER_MS;
			repetition->load = 0.5F;
			for (size_t i = 0;
			     i < FG_ARRAY_SIZE(spec->metrics) && spec->metrics[i].baseline > 0;
			     i++) {
				const struct metric_spec *metric = &spec->metrics[i];
				const double ratio =
					arm == FG_ARM_CANDIDATE && !isnan(metric->ratio)
						? metric->ratio
						: 1;
				const double noise =
					1 + metric->half_width * fg_random_normal(&random);

				if (!metric->undecided)
					repetition->values[metric->id] =
						floor(metric->baseline * ratio * common * noise);
			}
		}
	}
}

/* --- the run --- */

static void set_side(struct fg_side *side, const char *commit, const char *describe)
{
	side->commit = fg_xstrdup(commit);
	side->branch = fg_xstrdup("main");
	side->describe = fg_xstrdup(describe);
	fg_environment_set(&side->build, "build.command", "cmake --build build", false);
	fg_environment_set(&side->build, "user.geometry", "v12", false);
}

static void set_run(struct fg_fixture *fixture)
{
	struct fg_run *run = &fixture->run;

	fg_run_init(run);
	(void)snprintf(run->id, sizeof(run->id), "%s", "01990e2b-7c40-7abc-8def-0123456789ab");
	run->project = fg_xstrdup("tracker");
	run->started_ns = INT64_C(1788179696) * FG_NS_PER_S;
	run->ended_ns = run->started_ns + 80 * FG_NS_PER_S;
	run->complete = true;
	run->has_baseline = true;
	run->seed = 42;
	run->tool_version = fg_xstrdup("0.1.0");
	set_side(&run->sides[FG_ARM_BASELINE], "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
		 "merge-base");
	set_side(&run->sides[FG_ARM_CANDIDATE], "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", "HEAD");
	run->sides[FG_ARM_CANDIDATE].dirty = true;
	fg_environment_set(&run->host, "host.cpu.model", "AMD EPYC 7763", true);
	fg_environment_set(&run->host, "host.cpu.count", "2", true);
	fg_environment_set(&run->host, "host.kernel", "6.1.0-18-amd64", true);
}

static void add_difference(struct fg_verdict *verdict, const char *key, const char *baseline,
			   const char *candidate, bool identity)
{
	struct fg_fact_difference *more = fg_arena_array(
		&verdict->arena, verdict->environment_difference_count + 1, sizeof(more[0]));

	if (verdict->environment_difference_count > 0)
		memcpy(more, verdict->environment_difference,
		       verdict->environment_difference_count * sizeof(more[0]));
	more[verdict->environment_difference_count++] = (struct fg_fact_difference){
		.key = key, .baseline = baseline, .candidate = candidate, .identity = identity};
	verdict->environment_difference = more;
}

static void set_words(struct fg_fixture *fixture, struct fg_benchmark_verdict *benchmark)
{
	struct fg_arena *arena = &fixture->verdict.arena;

	switch (benchmark->outcome) {
	case FG_OUTCOME_ERROR:
		benchmark->error = "./build/net --connect: exited with code 3";
		benchmark->error_tail = "connecting to 127.0.0.1:9\nconnect: Connection refused\n";
		break;
	case FG_OUTCOME_REGRESSION:
		add_functions(&fixture->verdict, benchmark, 1);
		break;
	case FG_OUTCOME_IMPROVEMENT:
		add_functions(&fixture->verdict, benchmark, -0.8);
		add_accepted_metric(&fixture->verdict, benchmark);
		break;
	case FG_OUTCOME_INCONCLUSIVE:
		fg_notes_add(
			&benchmark->metrics[0].notes, arena, "%s",
			"undecided after 80 pairs: this run could have detected a change of 2.3 % "
			"or more");
		fg_notes_add(&benchmark->notes, arena, "the host took %d %% of the CPU away", 7);
		benchmark->set_aside = 4;
		break;
	default:
		break;
	}
}

static void add_benchmark(struct fg_fixture *fixture, const struct spec *spec)
{
	struct fg_verdict *verdict = &fixture->verdict;
	struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[verdict->benchmark_count];
	struct fg_profile_set *set = &fixture->sets[verdict->benchmark_count];
	struct fg_series *series = fg_run_add_series(&fixture->run, spec->name);

	*benchmark = (struct fg_benchmark_verdict){
		.name = spec->name,
		.outcome = spec->outcome,
		.schedule = FG_SCHEDULE_DUET,
		.pairs = spec->pairs,
		.seconds = spec->seconds,
		.identical = spec->identical,
		.time = {.measure = "cpu_time",
			 .label = "CPU time",
			 .unit = "ms",
			 .total_delta = NONE,
			 .unattributed = NONE,
			 .everything_else = NONE},
		.sampler_cost = 0.004,
	};
	benchmark->metrics = fg_arena_array(&verdict->arena, FG_ARRAY_SIZE(spec->metrics),
					    sizeof(benchmark->metrics[0]));
	for (size_t i = 0; i < FG_ARRAY_SIZE(spec->metrics); i++) {
		if (i == 0 || spec->metrics[i].baseline > 0)
			set_metric(&benchmark->metrics[benchmark->metric_count++],
				   &spec->metrics[i], spec->pairs);
	}
	series->command = fg_xasprintf("./build/%s --events 200", spec->name);
	series->schedule = FG_SCHEDULE_DUET;
	add_repetitions(series, spec);
	if (spec->outcome == FG_OUTCOME_PASS)
		series->schedule_reason = fg_xstrdup("duet decides faster here");
	set_words(fixture, benchmark);
	if (spec->outcome == FG_OUTCOME_REGRESSION || spec->outcome == FG_OUTCOME_IMPROVEMENT) {
		fg_fixture_make_profile(set, spec->name, spec->pairs);
		fixture->profiles[verdict->benchmark_count] = set;
	}
	verdict->benchmark_count++;
	verdict->outcome = fg_outcome_worse(verdict->outcome, spec->outcome);
}

/* --- special cases --- */

/* An accepted regression: as in the gate, the benchmark passes and its metric keeps the change. */
static void make_accepted(struct fg_fixture *fixture)
{
	struct fg_benchmark_verdict *benchmark = &fixture->verdict.benchmarks[0];
	static const struct fg_accept cost = {
		.benchmark = "reconstruct",
		.metric = "cpu_time",
		.up_to = 0.07,
		.until_ns = INT64_C(1803859200) * FG_NS_PER_S,
		.reason = "better fits <at last>",
		.source = "commit 9f8e7d6c5b4a",
	};

	benchmark->outcome = FG_OUTCOME_PASS;
	fixture->verdict.outcome = FG_OUTCOME_PASS;
	benchmark->metrics[0].accepted = &cost;
	fg_notes_add(&benchmark->metrics[0].notes, &fixture->verdict.arena, "accepted (%s): %s",
		     cost.source, cost.reason);
}

static void make_expired(struct fg_fixture *fixture)
{
	fg_notes_add(
		&fixture->verdict.notes, &fixture->verdict.arena, "%s",
		"the accepted regression of reconstruct, cpu_time (fastgate.yml:31) expired on "
		"2026-08-01 and no longer counts");
}

/* A slower benchmark, measured one arm after the other, for which no function is certain. */
static void make_unsure(struct fg_fixture *fixture)
{
	struct fg_verdict *verdict = &fixture->verdict;
	struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[0];
	struct fg_series *series = &fixture->run.series[0];

	benchmark->time.functions[0].outcome = FG_OUTCOME_INCONCLUSIVE;
	benchmark->time.functions[0].standing = FG_STANDING_NOT_SURE;
	benchmark->time.functions[0].share_of_change = NONE;
	benchmark->time.everything_else = benchmark->time.total_delta;
	benchmark->schedule = series->schedule = FG_SCHEDULE_ABBA;
	benchmark->metrics[0].pairs = 10; /* enough for this metric; another metric needed more */
	series->schedule_reason =
		fg_xstrdup("a duet needs a program that keeps exactly one CPU busy");
	benchmark->only_changed = "extrapolate";
	fg_notes_add(&benchmark->notes, &verdict->arena,
		     "to be sure of a function, use more pairs (`--pairs`) or a higher rate "
		     "(`measure.sampler.rate`)");
}

static void make_unstable(struct fg_fixture *fixture)
{
	struct fg_metric_verdict *metric = &fixture->verdict.benchmarks[0].metrics[0];
	struct fg_arena *arena = &fixture->verdict.arena;

	metric->smallest_detectable = NONE;
	metric->low = 0.71;
	metric->high = (double)INFINITY;
	fg_notes_add(&metric->notes, arena, "%s",
		     "probably slower (+1.7 %): 31 of 40 pairs are slower; not failed because the "
		     "interval begins "
		     "at −29.0 %; 93 pairs would decide if the next pairs are similar: a longer "
		     "`--budget`");
}

static void add_region(struct fg_fixture *fixture, const char *name, double before_ms,
		       double after_ms)
{
	struct fg_profile_set *set = &fixture->sets[0];
	struct fg_benchmark_verdict *benchmark = &fixture->verdict.benchmarks[0];
	const uint32_t region = fg_profile_set_region(set, name);

	for (uint32_t pair = 1; pair <= benchmark->pairs; pair++) {
		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_profile_region_row *row = fg_profile_set_add_region_row(set);

			row->arm = (uint8_t)arm;
			row->pair = pair;
			row->region = region;
			row->count = 200;
			row->cpu_ns = (arm ? after_ms : before_ms) * 1e6;
			row->wall_ns = row->cpu_ns * 2.1;
		}
	}
	benchmark->time.regions[benchmark->time.region_count] =
		make_node(name, NULL, 0, NONE, NONE);
	benchmark->time.regions[benchmark->time.region_count].library = NULL;
	benchmark->time.regions[benchmark->time.region_count].inclusive[0] = before_ms;
	benchmark->time.regions[benchmark->time.region_count].inclusive[1] = after_ms;
	benchmark->time.regions[benchmark->time.region_count].delta = after_ms - before_ms;
	benchmark->time.regions[benchmark->time.region_count].low = after_ms - before_ms - 1;
	benchmark->time.regions[benchmark->time.region_count].high = after_ms - before_ms + 1;
	benchmark->time.regions[benchmark->time.region_count].share_of_change = NONE;
	benchmark->time.regions[benchmark->time.region_count].outcome =
		after_ms > before_ms + 1 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS;
	benchmark->time.region_count++;
}

/* Regions and units of work marked by the program. */
static void make_marked(struct fg_fixture *fixture)
{
	fixture->verdict.benchmarks[0].time.regions = fg_arena_array(
		&fixture->verdict.arena, 3, sizeof(fixture->verdict.benchmarks[0].time.regions[0]));
	add_region(fixture, "unit of work: event", 173, 183);
	add_region(fixture, "fit/smooth", 62.3, 72);
	add_region(fixture, "read", 110, 110.2);
}

/* Makes a node of the measure in make_counted(). */
static struct fg_node_verdict make_counted_node(const char *name, double before, double after)
{
	struct fg_node_verdict node = make_node(name, "/src/parse/table.c", 31, before, after);

	node.measure = "heap.allocations";
	node.unit = "1";
	node.library = "parse";
	node.low = node.high = node.delta;
	node.p_adjusted = NONE;
	return node;
}

/*
 * A benchmark that is not slower but makes one extra allocation in ten thousand; a thousand other
 * allocations moved to a different caller.
 */
static void make_counted(struct fg_fixture *fixture)
{
	static const char *frames[] = {"main", "read_input", "grow_table"};
	struct fg_verdict *verdict = &fixture->verdict;
	struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[0];
	struct fg_metric_verdict *metrics =
		fg_arena_array(&verdict->arena, benchmark->metric_count + 1, sizeof(metrics[0]));
	struct fg_blame *blame = fg_arena_array(&verdict->arena, 1, sizeof(*blame));
	struct fg_node_verdict *functions =
		fg_arena_array(&verdict->arena, 2, sizeof(functions[0]));

	memcpy(metrics, benchmark->metrics, benchmark->metric_count * sizeof(metrics[0]));
	metrics[benchmark->metric_count++] = (struct fg_metric_verdict){
		.name = "heap.allocations",
		.label = "allocations",
		.unit = "1",
		.outcome = FG_OUTCOME_REGRESSION,
		.gated = true,
		.decided = true,
		.exact = true,
		.baseline = 10000,
		.candidate = 10001,
		.ratio = 1.0001,
		.low = 1.0001,
		.high = 1.0001,
		.alpha = 0.01,
		.min_effect = 0.001,
		.margin = 0.01,
		.smallest_detectable = 0,
		.p_value = NONE,
		.pairs = 2,
	};
	benchmark->metrics = metrics;
	benchmark->outcome = verdict->outcome = FG_OUTCOME_REGRESSION;
	verdict->exit_code = FG_EXIT_REGRESSION;
	functions[0] = make_counted_node("grow_table", 5000, 5001);
	functions[0].share_of_change = 1;
	functions[0].path_count = 1;
	functions[0].paths = fg_arena_array(&verdict->arena, 1, sizeof(functions[0].paths[0]));
	functions[0].paths[0] = (struct fg_path_verdict){.frames = frames,
							 .frame_count = 3,
							 .delta = 1,
							 .low = 1,
							 .high = 1,
							 .p_adjusted = NONE,
							 .outcome = FG_OUTCOME_REGRESSION};
	functions[1] = make_counted_node("copy_name", 1000, 2000);
	functions[1].outcome = FG_OUTCOME_PASS;
	functions[1].standing = FG_STANDING_MOVED;
	*blame = (struct fg_blame){.measure = "heap.allocations",
				   .label = "allocations",
				   .unit = "1",
				   .exact = true,
				   .functions = functions,
				   .function_count = 2,
				   .functions_tested = 7,
				   .total_delta = 1,
				   .unattributed = -1000,
				   .everything_else = 0};
	blame->moved = fg_arena_array(&verdict->arena, 1, sizeof(blame->moved[0]));
	blame->moved[0] = (struct fg_moved){.measure = blame->measure,
					    .unit = blame->unit,
					    .from = "copy_line",
					    .to = "copy_name",
					    .from_library = "parse",
					    .to_library = "parse",
					    .ancestor = "read_input",
					    .amount = 1000,
					    .kind = "extracted"};
	blame->moved_count = 1;
	benchmark->measures = blame;
	benchmark->measure_count = 1;
	benchmark->arguments = fg_fixture_arguments(&verdict->arena);
}

/* A benchmark that no change affects is not measured. */
static void make_unaffected(struct fg_fixture *fixture)
{
	struct fg_benchmark_verdict *benchmark = &fixture->verdict.benchmarks[0];

	benchmark->unaffected = true;
	benchmark->identical = false;
	benchmark->metric_count = 0;
	benchmark->pairs = 0;
	benchmark->seconds = 0;
	benchmark->notes.count = 0;
	benchmark->schedule = FG_SCHEDULE_ABBA;
	free(fixture->run.series[0].schedule_reason);
	fixture->run.series[0].schedule_reason = NULL;
}

/* Makes a benchmark that became slower over many commits, not since the previous one. */
static void make_creeping(struct fg_fixture *fixture)
{
	static struct fg_creep_commit by[] = {
		{.id = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
		 .change = 0.006,
		 .probability = 0.9375},
		{.id = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
		 .change = 0.0045,
		 .probability = 0.75},
	};
	static struct fg_creep_function functions[] = {
		{.name = "parse_header(char const*)", .library = "hash", .change = 0.019}};
	static const struct fg_creep_verdict creep = {
		.metric = "cpu_time",
		.label = "cpu time",
		.sentence =
			"cpu time +3.1 % [+2.4, +3.8] over 41 commits since v1.2; no step above "
			"0.6 "
			"%; mostly parse_header(char const*) (+1.9 %); largest steps: "
			"9f8e7d6c5b +0.6 % (94 %), 1a2b3c4d5e +0.4 % (75 %)",
		.is_creep = true,
		.change = 0.031,
		.low = 0.024,
		.high = 0.038,
		.largest = 0.006,
		.commits = 41,
		.since = "v1.2",
		.by = by,
		.by_count = FG_ARRAY_SIZE(by),
		.functions = functions,
		.function_count = FG_ARRAY_SIZE(functions),
	};
	struct fg_benchmark_verdict *benchmark = &fixture->verdict.benchmarks[0];

	benchmark->identical = false;
	benchmark->outcome = fixture->verdict.outcome = FG_OUTCOME_CREEP;
	benchmark->metrics[0].outcome = FG_OUTCOME_CREEP;
	benchmark->creep = &creep;
	benchmark->notes.count = 0;
	fg_notes_add(&benchmark->notes, &fixture->verdict.arena, "creep: %s", creep.sentence);
}

static const struct {
	const char *name;
	const char *benchmark;
	void (*make)(struct fg_fixture *fixture);
} variations[] = {
	{"identical", "hash", NULL},
	{"accepted", "reconstruct", make_accepted},
	{"expired", "reconstruct", make_expired},
	{"unstable", "compress", make_unstable},
	{"unsure", "reconstruct", make_unsure},
	{"marked", "reconstruct", make_marked},
	{"counted", "parse", make_counted},
	{"unaffected", "hash", make_unaffected},
	{"creeping", "hash", make_creeping},
};

static bool add_variation(struct fg_fixture *fixture, const char *name)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(variations); i++) {
		if (strcmp(variations[i].name, name) != 0)
			continue;
		for (size_t s = 0; s < FG_ARRAY_SIZE(specs); s++) {
			if (strcmp(specs[s].name, variations[i].benchmark) == 0)
				add_benchmark(fixture, &specs[s]);
		}
		if (variations[i].make)
			variations[i].make(fixture);
		return true;
	}
	return false;
}

/* --- hostile text --- */

static const char *hostile[] = {
	"</script><script>alert(1)</script>",
	"<img src=x onerror=alert(1)>&amp;&#60;",
	"\"quoted\" 'single' `code` |pipe| a,b;c",
	"line\nbreak\r\ttab\x1b[31mred\x07",
	"broken \xff\xfe utf-8 \xc3( \xed\xa0\x80",
	"::error file=x::injected%0A%25 ##[error]injected",
	"]]> <!-- --> [link](javascript:alert(1)) @someone **bold**",
	"operator<<(std::ostream&, Point const&)",
	"",
	NULL, /* the huge name goes here */
	NULL,
};

const char *const *fg_hostile_names(void)
{
	const size_t last = FG_ARRAY_SIZE(hostile) - 2;
	static char huge[HUGE_NAME_BYTES + 1];

	if (!hostile[last]) {
		struct fg_strbuf name = {0};

		fg_strbuf_add_text(&name, "wrap<");
		while (name.length < HUGE_NAME_BYTES - 16)
			fg_strbuf_add_text(&name, "pair<i,");
		fg_strbuf_add_text(&name, ">::run()");
		(void)snprintf(huge, sizeof(huge), "%s", fg_strbuf_text(&name));
		fg_strbuf_release(&name);
		hostile[last] = huge;
	}
	return hostile;
}

static void poison_functions(struct fg_verdict *verdict, struct fg_benchmark_verdict *benchmark)
{
	const char *const *names = fg_hostile_names();
	size_t count = 0;

	while (names[count])
		count++;
	benchmark->time.functions =
		fg_arena_array(&verdict->arena, count, sizeof(benchmark->time.functions[0]));
	benchmark->time.function_count = count;
	benchmark->arguments = fg_fixture_hostile_arguments(names, &verdict->arena);
	for (size_t i = 0; i < count; i++) {
		struct fg_node_verdict *node = &benchmark->time.functions[i];
		const char **frames = fg_arena_array(&verdict->arena, count, sizeof(frames[0]));

		const bool is_sure = i < count / 2;
		struct fg_mechanism *mechanism =
			fg_arena_alloc(&verdict->arena, sizeof(*mechanism));

		*mechanism = (struct fg_mechanism){.kind = FG_MECHANISM_NOT_INLINED,
						   .words = names[(i + 3) % count]};
		*node = make_node(names[i], names[(i + 1) % 6], 3, 10, is_sure ? 12 : 10.9);
		node->mechanism = i > 0 ? mechanism : NULL;
		node->library = names[(i + 2) % count];
		if (is_sure)
			node->share_of_change = 2.0 / 20.0;
		node->paths = fg_arena_array(&verdict->arena, 1, sizeof(node->paths[0]));
		node->path_count = 1;
		node->paths[0] = make_path(NULL, count, 2);
		node->paths[0].frames = frames;
		for (size_t f = 0; f < count; f++)
			frames[f] = names[(i + f) % count];
	}
	benchmark->time.moved[0].from = names[0];
	benchmark->time.moved[0].to = names[4];
}

static void poison(struct fg_fixture *fixture)
{
	const char *const *names = fg_hostile_names();
	struct fg_verdict *verdict = &fixture->verdict;
	struct fg_profile_set *set = &fixture->sets[0];
	uint32_t parent = 0;

	free(fixture->run.project);
	fixture->run.project = fg_xstrdup("--> <b>\"p\"\xff");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_side *side = &fixture->run.sides[arm];

		free(side->describe);
		free(side->branch);
		side->describe = fg_xstrdup(names[3]);
		side->branch = fg_xstrdup(names[5]);
	}
	poison_functions(verdict, &verdict->benchmarks[0]);
	for (size_t i = 0; i < verdict->benchmark_count && names[i]; i++) {
		struct fg_series *series = &fixture->run.series[i];

		verdict->benchmarks[i].name = names[i];
		free(series->name);
		series->name = fg_xstrdup(names[i]);
	}
	verdict->benchmarks[0].metrics[0].unit = "ns";
	verdict->benchmarks[0].metrics[1].label = names[3];
	verdict->benchmarks[0].metrics[1].unit = names[4];
	fg_notes_add(&verdict->notes, &verdict->arena, "%s", names[6]);
	verdict->benchmarks[0].error = "/approve";
	verdict->benchmarks[0].error_tail = "/merge\n  /close\n@someone ::error::x\n";
	add_difference(verdict, names[2], names[3], names[0], true);
	fg_profile_set_release(set);
	fg_profile_set_init(set, names[0]);
	for (size_t i = 0; names[i]; i++) {
		const double weight[1] = {5};
		const struct fg_profile_function function = {.name = names[i],
							     .library = names[(i + 3) % 6]};

		parent = fg_profile_set_node(set, parent, fg_profile_set_function(set, &function));
		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
			fg_fixture_add_row(set, arm, 1, weight, 1);
			set->rows[set->row_count - 1].nodes[0] = parent;
		}
	}
}

/* --- the interface --- */

static void add_by_name(struct fg_fixture *fixture, const char *name)
{
	enum fg_outcome outcome = FG_OUTCOME_PASS;

	if (strcmp(name, "nothing") == 0) {
		fixture->verdict.outcome = FG_OUTCOME_ERROR;
	} else if (strcmp(name, "mixed") == 0 || strcmp(name, "hostile") == 0) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(specs); i++)
			add_benchmark(fixture, &specs[i]);
		add_difference(&fixture->verdict, "build.compiler.version", "12.2.0", "13.1.0",
			       true);
		add_difference(&fixture->verdict, "build.id", "4f5e", "a90c", false);
		fg_notes_add(&fixture->verdict.notes, &fixture->verdict.arena,
			     "the sides were built by different compilers");
	} else if (fg_outcome_parse(name, &outcome)) {
		add_benchmark(fixture, find_spec(outcome));
	} else if (!add_variation(fixture, name)) {
		fail_msg("no fixture is called '%s'", name);
	}
}

/* Returns the exit code under the default policy. */
static enum fg_exit exit_code_of(enum fg_outcome outcome)
{
	return outcome == FG_OUTCOME_ERROR        ? FG_EXIT_NOT_MEASURED
	       : outcome == FG_OUTCOME_REGRESSION ? FG_EXIT_REGRESSION
						  : FG_EXIT_PASS;
}

void fg_fixture_init(struct fg_fixture *fixture, const char *name)
{
	struct fg_verdict *verdict = &fixture->verdict;

	*fixture = (struct fg_fixture){0};
	set_run(fixture);
	verdict->benchmarks = fg_arena_array(&verdict->arena, FG_FIXTURE_MAX_BENCHMARKS,
					     sizeof(verdict->benchmarks[0]));
	add_by_name(fixture, name);
	if (strcmp(name, "regression") == 0)
		verdict->benchmarks[0].sampling = (struct fg_sampling){
			.rate_hz = 418,
			.budget = 0.03,
			.signal_ns = 47000,
			.handler_ns = 2300,
			.switch_ns = 21000,
			.switches_hz = 640,
			.start_share = 0.0004,
			.expected_cost = 0.0299,
			.clock = "user time by the kernel's task clock",
			.unseen = "time spent waiting",
		};
	if (strcmp(name, "hostile") == 0)
		poison(fixture);
	verdict->exit_code = exit_code_of(verdict->outcome);
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		verdict->benchmarks[i].exit_code = exit_code_of(verdict->benchmarks[i].outcome);
	fixture->report = (struct fg_report){
		.run = &fixture->run, .verdict = verdict, .profiles = fixture->profiles};
}

void fg_fixture_release(struct fg_fixture *fixture)
{
	for (size_t i = 0; i < FG_FIXTURE_MAX_BENCHMARKS; i++)
		fg_profile_set_release(&fixture->sets[i]);
	fg_run_release(&fixture->run);
	fg_verdict_release(&fixture->verdict);
}

void fg_fixture_write_report(const struct fg_fixture *fixture, const char *format,
			     const struct fg_report_options *options, struct fg_strbuf *text)
{
	const struct fg_report_options plain = {0};
	struct fg_error err = {0};
	const struct fg_reporter *reporter = fg_reporter_find(format, &err);

	fg_strbuf_clear(text);
	if (!reporter)
		fail_msg("%s as %s: %s", fixture->run.project, format, err.message);
	reporter->write(&fixture->report, options ? options : &plain, text);
}

void fg_fixture_write(const char *name, const char *format, const struct fg_report_options *options,
		      struct fg_strbuf *text)
{
	struct fg_fixture fixture;

	fg_fixture_init(&fixture, name);
	fg_fixture_write_report(&fixture, format, options, text);
	fg_fixture_release(&fixture);
}

void fg_fixture_check_one(const char *fixture, const char *format,
			  const struct fg_report_options *options, const char *suffix)
{
	struct fg_strbuf text = {0};
	char name[128];

	fg_fixture_write(fixture, format, options, &text);
	(void)snprintf(name, sizeof(name), "report/%s%s", fixture, suffix);
	fg_golden_check(name, &text);
	fg_strbuf_release(&text);
}

void fg_fixture_check_golden(const char *format, const struct fg_report_options *options,
			     const char *suffix)
{
	for (size_t i = 0; fg_fixture_names[i]; i++)
		fg_fixture_check_one(fg_fixture_names[i], format, options, suffix);
}

void fg_fixture_repeat(struct fg_fixture *fixture, size_t count)
{
	struct fg_verdict *verdict = &fixture->verdict;
	struct fg_benchmark_verdict *many = fg_arena_array(&verdict->arena, count, sizeof(many[0]));

	for (size_t i = 0; i < count; i++)
		many[i] = verdict->benchmarks[0];
	verdict->benchmarks = many;
	verdict->benchmark_count = count;
	fixture->report.profiles = NULL;
}
