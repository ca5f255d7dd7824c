// SPDX-License-Identifier: Apache-2.0
/*
 * Puts runs into a spool:
 *
 *	make_runs SPOOL [FIRST COUNT]     from the ninth run on, one function is slower
 *	make_runs SPOOL --hostile         every name in the run is markup
 *	make_runs SPOOL --unmeasured      one run of a benchmark without any value
 *	make_runs SPOOL --failed          one run that failed its gate
 *	make_runs SPOOL --gated BENCHMARKS fails|passes|creeps
 *	                                  the commits of a C++ project, each judged by the gate
 */
#include "base/number.h"
#include "perfdb/client/client.h"
#include "perfdb/protocol.h"
#include "store/bundle.h"
#include "tests/unit/store/samples.h"
#include "tests/web/gated_runs.h"

enum {
	RUNS = 16,
	HOSTILE_FIRST = 900,
	HOSTILE_RUNS = 3,
	UNMEASURED = 800,
	FAILED_GATE = 700,
	SLOW_FROM = 9,
	SLOW_FUNCTION = 5,
	EXTRA_SAMPLES = 60 /* of 1 ms each: 30 % of a repetition */
};

static const struct fg_sample_shape shape = {
	.functions = 40, .paths = 300, .pairs = 20, .samples = 20000};

/* Names the slow function, and gives two other functions markup as their names. */
static void rename_functions(struct fg_profile_set *set)
{
	set->functions[SLOW_FUNCTION].name = "guilty::Loop<std::vector<int>>::spin(int)";
	set->functions[SLOW_FUNCTION + 1].name = "<img src=x onerror=alert(1)>";
	set->functions[SLOW_FUNCTION + 2].name = "</script><script>alert(2)</script>";
}

static uint32_t count_slow(const struct fg_profile_set *set, const struct fg_profile_row *row)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < row->count; i++)
		count += set->nodes[row->nodes[i]].function == SLOW_FUNCTION;
	return count;
}

/* Slows down the paths that end in the slow function, by EXTRA_SAMPLES in total. */
static void slow_profile(struct fg_profile_set *set)
{
	for (size_t r = 0; r < set->row_count; r++) {
		struct fg_profile_row *row = &set->rows[r];
		uint32_t left = row->arm == FG_ARM_CANDIDATE ? count_slow(set, row) : 0;
		uint32_t samples = EXTRA_SAMPLES;

		for (uint32_t i = 0; i < row->count && left > 0; i++) {
			if (set->nodes[row->nodes[i]].function != SLOW_FUNCTION)
				continue;
			row->samples[i] += samples / left;
			row->values[i] += samples / left * 1e6;
			row->total += samples / left * 1e6;
			samples -= samples / left;
			left--;
		}
	}
}

static void slow_down(struct fg_stored_run *run)
{
	struct fg_series *series = &run->run.series[0];

	fg_build_facts_set(&series->build[FG_ARM_CANDIDATE], "build.id", "fedcba");
	slow_profile(run->profiles[0]);
	for (size_t i = 0; i < series->repetition_count; i++) {
		if (series->repetitions[i].arm == FG_ARM_CANDIDATE)
			series->repetitions[i].values[FG_METRIC_CPU_TIME] *= 1.3;
	}
}

/* Markup, a quotation mark that ends an attribute, and text that ends an SQL statement. */
#define MARKUP(name) "\"'><img src=x onerror=alert('" name "')>;DROP TABLE run;--"

static void replace(char **text, const char *with)
{
	free(*text);
	*text = fg_xstrdup(with);
}

static void poison(struct fg_stored_run *stored)
{
	static const struct fg_metric metric = {.name = MARKUP("metric"),
						.label = MARKUP("label"),
						.unit = MARKUP("unit"),
						.gated = true,
						.min_effect = 0.02,
						.margin = 0.02};
	struct fg_run *run = &stored->run;
	struct fg_series *series = &run->series[0];
	struct fg_profile_set *set = stored->profiles[0];

	replace(&run->project, MARKUP("project"));
	replace(&run->tool_version, MARKUP("version"));
	replace(&series->name, MARKUP("benchmark"));
	replace(&series->command, MARKUP("command"));
	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		replace(&run->sides[arm].commit, MARKUP("commit"));
		replace(&run->sides[arm].branch, MARKUP("branch"));
		replace(&run->sides[arm].describe, MARKUP("described"));
		fg_environment_set(&run->sides[arm].build, "build." MARKUP("key"),
				   arm ? MARKUP("value") : "1", true);
	}
	fg_environment_set(&run->sides[FG_ARM_CANDIDATE].build, "link.commit",
			   "javascript:alert('{commit}')", false);
	fg_environment_set(&run->sides[FG_ARM_CANDIDATE].build, "link.line",
			   "https://" MARKUP("link") "{file}", false);
	fg_environment_set(&run->host, "host." MARKUP("host key"), MARKUP("host value"), true);
	(void)fg_series_add_metric(series, &metric);
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[series->metric_count - 1] = 1000 + (double)i;
	for (size_t i = 0; i < set->function_count; i++) {
		set->functions[i].name =
			fg_arena_printf(&set->arena, "%s%zu", MARKUP("function"), i);
		set->functions[i].library = MARKUP("library");
		set->functions[i].file = MARKUP("file");
	}
}

/* Removes all values, as if the benchmark's program had not started. */
static void take_values(struct fg_stored_run *stored)
{
	struct fg_series *series = &stored->run.series[0];

	replace(&stored->run.project, "broken");
	replace(&series->name, "never");
	for (size_t i = 0; i < series->repetition_count; i++)
		free(series->repetitions[i].values);
	series->repetition_count = 0;
	fg_profile_set_release(stored->profiles[0]);
	free(stored->profiles[0]);
	stored->profiles[0] = NULL;
}

/* Adds the commit, and link templates for a project with readable source. */
static void add_links(struct fg_stored_run *stored)
{
	struct fg_environment *build = &stored->run.sides[FG_ARM_CANDIDATE].build;

	fg_environment_set(build, "git.subject", "keep the table of words", false);
	fg_environment_set(build, "git.author", "An Author", false);
	fg_environment_set(build, "link.commit", "https://git.example.org/{project}/{commit}",
			   false);
	fg_environment_set(build, "link.line",
			   "https://git.example.org/{project}/{commit}/{file}#L{line}", false);
}

enum kind {
	ORDINARY,
	HOSTILE,
	WITHOUT_VALUES,
	FAILED,
};

static void make_run(struct fg_stored_run *made, unsigned seed, enum kind kind)
{
	fg_sample_run(made, seed, &shape);
	if (kind == HOSTILE)
		poison(made);
	else
		rename_functions(made->profiles[0]);
	if (kind == ORDINARY)
		add_links(made);
	if (kind == FAILED) {
		replace(&made->run.project, "red");
		made->report = fg_sample_report("regression", 1.3);
	}
	if (kind == WITHOUT_VALUES)
		take_values(made);
	else if (seed >= SLOW_FROM)
		slow_down(made);
}

/* Writes the run into the spool, and releases it. */
static int spool_run(const char *spool, struct fg_stored_run *run, struct fg_error *err)
{
	struct fg_bundle bundle = {0};
	struct fg_strbuf text = {0};
	struct fg_wire wire;
	int status = FG_OK;

	status = fg_bundle_from_run(run, &bundle, err);
	if (status != FG_OK)
		goto out;
	wire = (struct fg_wire){.envelope = bundle.envelope.data,
				.envelope_size = bundle.envelope.length,
				.dictionary = bundle.dictionary.data,
				.dictionary_size = bundle.dictionary.size,
				.values = bundle.values.data,
				.values_size = bundle.values.size};
	status = fg_wire_write(&wire, &text, err);
	if (status != FG_OK)
		goto out;
	status = fg_spool_add(spool, run->run.id, text.data, text.length, err);
out:
	fg_strbuf_release(&text);
	fg_bundle_release(&bundle);
	fg_stored_run_release(run);
	return status;
}

static int spool_gated(const char *spool, const char *benchmarks, const char *end,
		       struct fg_error *err)
{
	static const char *const ends[] = {[FG_GATED_PASSES] = "passes",
					   [FG_GATED_FAILS] = "fails",
					   [FG_GATED_CREEPS] = "creeps"};
	unsigned wanted = 0;

	uint64_t count = 0;
	int status = fg_parse_uint64(benchmarks, &count, err);

	while (wanted < FG_ARRAY_SIZE(ends) && strcmp(ends[wanted], end) != 0)
		wanted++;
	if (wanted == FG_ARRAY_SIZE(ends))
		return fg_error_set(err, FG_EINVAL, "runs end with passes, fails or creeps");
	for (unsigned number = 0; status == FG_OK && number < FG_GATED_RUNS; number++) {
		struct fg_stored_run run;

		status = fg_gated_run(&run, number, (unsigned)count, wanted, err);
		if (status == FG_OK)
			status = spool_run(spool, &run, err);
	}
	return status;
}

int main(int argc, char **argv)
{
	uint64_t first = 1;
	uint64_t count = RUNS;
	enum kind kind = ORDINARY;
	struct fg_error err = {0};

	if (argc == 5 && strcmp(argv[2], "--gated") == 0) {
		if (spool_gated(argv[1], argv[3], argv[4], &err) == FG_OK)
			return 0;
		(void)fprintf(stderr, "make_runs: %s\n", err.message);
		return 1;
	}
	if (argc == 3 && strcmp(argv[2], "--hostile") == 0) {
		kind = HOSTILE;
		first = HOSTILE_FIRST;
		count = HOSTILE_RUNS;
	} else if (argc == 3 && strcmp(argv[2], "--unmeasured") == 0) {
		kind = WITHOUT_VALUES;
		first = UNMEASURED;
		count = 1;
	} else if (argc == 3 && strcmp(argv[2], "--failed") == 0) {
		kind = FAILED;
		first = FAILED_GATE;
		count = 1;
	} else if ((argc != 2 && argc != 4) ||
		   (argc == 4 && (fg_parse_uint64(argv[2], &first, &err) != FG_OK ||
				  fg_parse_uint64(argv[3], &count, &err) != FG_OK))) {
		(void)fprintf(
			stderr,
			"usage: make_runs SPOOL [FIRST COUNT | --hostile | --unmeasured | --failed "
			"| --gated BENCHMARKS fails|passes|creeps]\n");
		return 2;
	}
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct fg_stored_run run;

		make_run(&run, (unsigned)seed, kind);
		if (spool_run(argv[1], &run, &err) != FG_OK) {
			(void)fprintf(stderr, "make_runs: %s\n", err.message);
			return 1;
		}
	}
	return 0;
}
