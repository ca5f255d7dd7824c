// SPDX-License-Identifier: Apache-2.0
#include "tests/web/gated_runs.h"

#include "base/random.h"
#include "gate/creep.h"
#include "gate/gate.h"
#include "reporters/reporter.h"
#include "tests/unit/store/samples.h"

#include <math.h>

enum {
	PAIRS = 24,
	PERIOD_NS = 1000000,
	FAIL_EVERY = 50, /* one benchmark in this many fails: 7, 57, 107, ... */
	FAIL_AT = 7,
	CULPRIT = 5,  /* row in the table of frames */
	CREEPING = 5, /* number of benchmarks */
	NEWEST = FG_GATED_RUNS - 1,
};

static const double slower = 0.097;
static const double faster = -0.12;
static const double creeping = 0.004;
static const double step_error = 0.0012;

static const struct {
	const char *name;
	const char *library;
	const char *file;
	unsigned line;
	unsigned parent; /* row in this table; the first row is its own parent */
	double share;    /* share of the baseline's time */
} frames[] = {
	{"main", "json-bench", "bench/main.cpp", 12, 0, 0},
	{"bench::run(std::vector<bench::Case> const&, bench::Options const&)", "json-bench",
	 "bench/run.cpp", 31, 0, 0.02},
	{"json::Document json::parse<std::pmr::polymorphic_allocator<char>>(std::string_view)",
	 "json-bench", "src/json.cpp", 88, 1, 0.08},
	{"json::Tokenizer::next()", "json-bench", "src/json.cpp", 41, 2, 0.14},
	{"json::Tokenizer::read_string()", "json-bench", "src/json.cpp", 57, 3, 0.22},
	{"json::Tokenizer::valid_utf8(unsigned long) const", "json-bench", "src/json.cpp", 22, 4,
	 0.03},
	{"json::Tokenizer::read_number()", "json-bench", "src/json.cpp", 70, 3, 0.16},
	{"json::Tokenizer::skip_blanks()", "json-bench", "src/json.cpp", 30, 3, 0.07},
	{"json::Value& std::vector<json::Value, std::pmr::polymorphic_allocator<json::Value>>::"
	 "emplace_back<json::Kind, std::string_view>(json::Kind&&, std::string_view&&)",
	 "json-bench", "include/json/value.h", 114, 2, 0.15},
	{"std::pmr::monotonic_buffer_resource::do_allocate(unsigned long, unsigned long)",
	 "libstdc++.so.6", NULL, 0, 8, 0.09},
	{"__memcmp_evex_movbe", "libc.so.6", NULL, 0, 4, 0.04},
};

static const char *const names[] = {
	"json/tokenize",
	"json/parse<std::pmr::polymorphic_allocator<char>>",
	"lz/compress/level:9",
	"lz/decompress",
	"containers/BM_Copy<std::unordered_map<std::string, std::vector<int>>>/16",
	"sort/BM_StableSort<std::less<>, std::string_view>",
};

static const char *const subjects[FG_GATED_RUNS] = {
	"json: read numbers without a copy (#28)",
	"docs: how values are owned (#29)",
	"lz: a table for short matches (#30)",
	"tests: strings with escapes (#31)",
	"json: a pool for values (#32)",
	"json: skip blanks eight bytes at a time (#33)",
	"build: C++20 (#34)",
	"sort: keep keys of equal length apart (#35)",
	"json: errors with a line and a column (#36)",
	"ci: gate pull requests (#37)",
	"containers: benchmarks of copies (#38)",
	"json: values compare by kind first (#39)",
	"lz: level 9 looks further back (#40)",
	"json: reject strings that are not UTF-8 (#41)",
};

static char *name_of(unsigned index, unsigned benchmarks)
{
	if (benchmarks <= FG_ARRAY_SIZE(names))
		return fg_xstrdup(names[index]);
	return fg_xasprintf("containers/BM_Copy<std::unordered_map<std::string, std::vector<int>>, "
			    "%u>/16",
			    index);
}

static bool changes(unsigned index, unsigned benchmarks, enum fg_gated_end end)
{
	if (end == FG_GATED_CREEPS)
		return index < CREEPING;
	return benchmarks <= FG_ARRAY_SIZE(names) ? index == 0 : index % FAIL_EVERY == FAIL_AT;
}

/* Change relative to the previous commit. */
static double step_of(unsigned number, unsigned index, unsigned benchmarks, enum fg_gated_end end)
{
	if (!changes(index, benchmarks, end))
		return 0;
	if (end == FG_GATED_CREEPS)
		return creeping;
	if (number == NEWEST && end == FG_GATED_FAILS)
		return slower + index / 1000.0;
	return number == FG_GATED_FASTER ? faster : 0;
}

static void add_row(struct fg_profile_set *set, struct fg_random *random, uint8_t arm,
		    uint32_t pair, const struct fg_repetition *r, double extra)
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, FG_ARRAY_SIZE(frames));
	const double whole = r->values[FG_METRIC_CPU_TIME];

	row->arm = arm;
	row->pair = pair;
	row->count = 0;
	for (size_t i = 0; i < FG_ARRAY_SIZE(frames); i++) {
		const double share = (frames[i].share + (i == CULPRIT ? extra : 0)) / (1 + extra);
		const double samples =
			floor(share * whole / PERIOD_NS + 0.5 * fg_random_normal(random) + 0.5);

		if (!(samples > 0))
			continue;
		row->nodes[row->count] = (uint32_t)i + 1;
		row->samples[row->count] = (uint32_t)samples;
		row->values[row->count++] = samples * PERIOD_NS;
		row->total += samples * PERIOD_NS;
	}
}

static struct fg_profile_set *make_profile(struct fg_random *random, const struct fg_series *series,
					   double step)
{
	struct fg_profile_set *set = fg_xcalloc(1, sizeof(*set));

	fg_profile_set_init(set, "json-bench");
	for (size_t i = 0; i < FG_ARRAY_SIZE(frames); i++) {
		const struct fg_profile_function function = {.name = frames[i].name,
							     .library = frames[i].library,
							     .file = frames[i].file,
							     .line = frames[i].line};

		(void)fg_profile_set_node(set, i == 0 ? 0 : frames[i].parent + 1,
					  fg_profile_set_function(set, &function));
	}
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		add_row(set, random, r->arm, r->pair, r, r->arm == FG_ARM_CANDIDATE ? step : 0);
	}
	return set;
}

static void measure(struct fg_series *series, struct fg_random *random, double level_ns,
		    double step)
{
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		const double moment = level_ns * (1 + 0.02 * fg_random_normal(random));

		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_repetition *r = fg_sample_repetition(series, arm, pair);
			const double here = moment * (1 + 0.004 * fg_random_normal(random)) *
					    (arm == FG_ARM_CANDIDATE ? 1 + step : 1);

			r->values[FG_METRIC_CPU_TIME] = floor(here);
			r->values[FG_METRIC_WALL_TIME] = floor(here * 1.02);
			r->values[FG_METRIC_MAX_RSS] = 52e6;
		}
	}
}

static void add_benchmark(struct fg_stored_run *stored, unsigned index, unsigned benchmarks,
			  enum fg_gated_end end)
{
	struct fg_random random;
	char *name = name_of(index, benchmarks);
	struct fg_series *series = fg_run_add_series(&stored->run, name);
	const unsigned number = (unsigned)(stored->run.seed % FG_GATED_RUNS);
	/* the host's frequency, not the program */
	const double drift = 1 + 0.2 * sin(number * 2.1);
	const double step = step_of(number, index, benchmarks, end);

	fg_random_seed(&random, stored->run.seed * 1000 + index);
	series->command = fg_xasprintf("./json-bench --only %u", index);
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	series->seconds = 9.5;
	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&series->build[arm], "build.id", arm ? "fedcba" : "abcdef");
	measure(series, &random, (40e6 + 1e7 * (index % 11)) * drift, step);
	if (changes(index, benchmarks, end))
		stored->profiles[index] = make_profile(&random, series, step);
	free(name);
}

static char *commit_of(const char *project, unsigned number)
{
	return fg_xasprintf("%08x%08zx%024x", 0x1eca4e8 + number * 0x9e3779b, strlen(project),
			    number);
}

static void describe_commit(struct fg_side *side, const char *project, unsigned number)
{
	side->commit = commit_of(project, number);
	side->branch = fg_xstrdup("main");
}

static const char *project_of(unsigned benchmarks, enum fg_gated_end end)
{
	if (benchmarks > FG_ARRAY_SIZE(names))
		return end == FG_GATED_FAILS ? "containers" : "suite";
	return end == FG_GATED_FAILS ? "meteor" : end == FG_GATED_CREEPS ? "slowly" : "green";
}

static void describe(struct fg_run *run, unsigned number, unsigned benchmarks,
		     enum fg_gated_end end)
{
	struct fg_environment *build = &run->sides[FG_ARM_CANDIDATE].build;

	run->seed = (benchmarks + end) * FG_GATED_RUNS + number;
	run->project = fg_xstrdup(project_of(benchmarks, end));
	(void)snprintf(run->id, sizeof(run->id), "0199a0%02x-%04x-7000-8000-0000000000%02x", number,
		       (benchmarks * 3 + end) & 0xffff, number);
	run->started_ns = INT64_C(1790000000000000000) + number * INT64_C(86400000000000);
	run->ended_ns = run->started_ns + INT64_C(60000000000);
	run->complete = true;
	run->has_baseline = true;
	run->tool_version = fg_xstrdup("0.1.0");
	describe_commit(&run->sides[FG_ARM_BASELINE], run->project, number);
	describe_commit(&run->sides[FG_ARM_CANDIDATE], run->project, number + 1);
	fg_environment_set(&run->host, "host.cpu.model", "AMD EPYC", true);
	fg_environment_set(build, "git.subject", subjects[number], false);
	fg_environment_set(build, "git.author", "Ann Author", false);
	fg_environment_set(build, "link.commit", "https://git.example.org/{project}/{commit}",
			   false);
	fg_environment_set(build, "link.line",
			   "https://git.example.org/{project}/{commit}/{file}#L{line}", false);
	if (number == 2)
		fg_environment_set(build, "git.tag", "v1.4", false);
}

/* Adds source lines of both sides. */
static void add_source(struct fg_verdict *verdict)
{
	static struct fg_source_row rows[] = {
		{.line = {57, 57},
		 .cost = {(double)NAN, (double)NAN},
		 .text = "std::string_view Tokenizer::read_string()"},
		{.line = {61, 0},
		 .cost = {8.1, (double)NAN},
		 .text = "    while (at_ < size_ && text_[at_] != '\"') at_ += step();"},
		{.line = {0, 61},
		 .cost = {(double)NAN, 3.4},
		 .text = "    while (at_ < size_ && text_[at_] != '\"') {"},
		{.line = {0, 62},
		 .cost = {(double)NAN, 5.2},
		 .text = "        if (!valid_utf8(at_)) throw Error(at_);"},
		{.line = {0, 63}, .cost = {(double)NAN, 3.3}, .text = "        at_ += step();"},
		{.line = {0, 64}, .cost = {(double)NAN, (double)NAN}, .text = "    }"},
		{.line = {62, 65},
		 .cost = {(double)NAN, (double)NAN},
		 .text = "    return take(at_);"},
	};
	static const struct fg_source_listing listing = {.file = "src/json.cpp",
							 .has_side = {true, true},
							 .rows = rows,
							 .row_count = FG_ARRAY_SIZE(rows),
							 .hottest = 3};

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_blame *blame = &verdict->benchmarks[i].time;

		for (size_t f = 0; f < blame->function_count; f++) {
			if (blame->functions[f].standing == FG_STANDING_GUILTY)
				blame->functions[f].source = &listing;
		}
	}
}

/* Adds the creep over all runs, as reported by the newest one. */
static void add_creep(const struct fg_run *run, const struct fg_policy *policy,
		      struct fg_verdict *verdict)
{
	char *commits[FG_GATED_RUNS + 1];
	struct fg_chain_edge edges[FG_GATED_RUNS];
	struct fg_chain chain = {0};

	for (unsigned i = 0; i < FG_ARRAY_SIZE(commits); i++)
		commits[i] = commit_of(run->project, i);
	for (unsigned i = 0; i < FG_GATED_RUNS; i++)
		edges[i] = (struct fg_chain_edge){.run = run->id,
						  .from = commits[i],
						  .to = commits[i + 1],
						  .pairs = PAIRS,
						  .change = log1p(creeping),
						  .error = step_error};
	fg_chain_build(edges, FG_GATED_RUNS, NULL, &chain);
	for (size_t i = 0; i < CREEPING; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		struct fg_creep_verdict *creep =
			fg_creep_judge(&chain, policy, FG_BETTER_LOWER, &verdict->arena);

		creep->metric = "cpu_time";
		creep->label = "cpu time";
		creep->sentence = fg_creep_words(creep, &verdict->arena);
		benchmark->creep = creep;
		benchmark->outcome = FG_OUTCOME_CREEP;
		benchmark->metrics[0].outcome = FG_OUTCOME_CREEP;
		fg_notes_add(&benchmark->notes, &verdict->arena, "creep: %s", creep->sentence);
	}
	verdict->outcome = FG_OUTCOME_CREEP;
	fg_chain_release(&chain);
	for (unsigned i = 0; i < FG_ARRAY_SIZE(commits); i++)
		free(commits[i]);
}

static int judge(struct fg_stored_run *stored, bool creeps, struct fg_error *err)
{
	struct fg_policy policy;
	struct fg_measuring measuring;
	const struct fg_gate_input input = {
		.run = &stored->run,
		.profiles = (const struct fg_profile_set *const *)stored->profiles,
		.policy = &policy,
		.measure = &measuring,
	};
	struct fg_verdict verdict = {0};
	const struct fg_report report = {
		.run = &stored->run, .verdict = &verdict, .profiles = input.profiles};
	const struct fg_report_options options = {0};
	struct fg_strbuf text = {0};

	fg_policy_defaults(&policy);
	fg_measuring_defaults(&measuring);
	FG_TRY(fg_gate_decide(&input, &verdict, err));
	add_source(&verdict);
	if (creeps)
		add_creep(&stored->run, &policy, &verdict);
	fg_reporter_find("json", NULL)->write(&report, &options, &text);
	stored->report = fg_xstrdup(fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	fg_verdict_release(&verdict);
	return FG_OK;
}

int fg_gated_run(struct fg_stored_run *stored, unsigned number, unsigned benchmarks,
		 enum fg_gated_end end, struct fg_error *err)
{
	*stored = (struct fg_stored_run){0};
	fg_run_init(&stored->run);
	describe(&stored->run, number, benchmarks, end);
	stored->profiles = fg_xcalloc(benchmarks, sizeof(struct fg_profile_set *));
	for (unsigned i = 0; i < benchmarks; i++)
		add_benchmark(stored, i, benchmarks, end);
	return judge(stored, end == FG_GATED_CREEPS && number == NEWEST, err);
}
