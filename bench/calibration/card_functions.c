// SPDX-License-Identifier: Apache-2.0
/*
 * The rows about functions: decisions on recorded profiles of a program of 219 functions
 * (programs/many.c), each on DRAWN pairs that are drawn with replacement.
 *
 * For functions that are equal in both programs, the arms of each drawn pair are swapped at random.
 * Without the swap, every decision would repeat the chance effects of the one recording: a function
 * that happens to lie three standard errors above zero would be flagged in most draws, and the
 * share of false flags would describe this recording, not the method.
 */
#include "base/random.h"
#include "bench/calibration/card.h"
#include "bench/calibration/profile_file.h"
#include "gate/gate.h"

#include <math.h>

enum {
	DRAWN = 60,
	RECORDED_MIN = 20, /* fewer recorded pairs are not replayed */
};

enum count {
	ANY_FLAG,   /* some function was reported slower */
	RIGHT_FLAG, /* the changed function was reported slower */
	FIRST,      /* the changed function was reported first */
	PATH_FIRST, /* the changed function was first, under the right caller */
	MOVED,      /* the change was reported as moved */
	COUNTS,
};

struct function_question {
	const char *name;
	int variant; /* VARIANT of programs/many.c */
	enum count counted;
	bool at_least;
	double goal;
};

static const struct function_question questions[] = {
	{"functions: any false flag", 0, ANY_FLAG, false, 0.05},
	{"function +10 %: flagged", 1, RIGHT_FLAG, true, 0.90},
	{"function +10 %: first", 1, FIRST, true, 0.95},
	{"right path of two: first", 2, PATH_FIRST, true, 0.90},
	{"extracted: any flag", 3, ANY_FLAG, false, 0.05},
	{"extracted: said to be moved", 3, MOVED, true, 0.95},
	{"renamed: any flag", 4, ANY_FLAG, false, 0.05},
	{"renamed: said to be moved", 4, MOVED, true, 0.95},
};

enum {
	VARIANTS = 5,
};

static const char *const culprits[VARIANTS] = {"", "hot", "shared", "", ""};
/* Functions changed by the variant; all other functions are identical in both programs. */
static const char *const touched[VARIANTS][2] = {
	{"", ""}, {"hot", ""}, {"shared", ""}, {"hot", "extracted"}, {"hot", "renamed"}};

struct counts {
	size_t hits[COUNTS];
	size_t decisions;
	size_t tested; /* functions, over all decisions */
	size_t recorded;
	double load;
};

static bool is_path_through(const struct fg_node_verdict *f, const char *caller)
{
	const struct fg_path_verdict *path = f->paths;

	return f->path_count > 0 && path->frame_count > 1 &&
	       strcmp(path->frames[path->frame_count - 2], caller) == 0;
}

static void count_verdict(const struct fg_benchmark_verdict *b, const char *culprit,
			  struct counts *counts)
{
	bool any = false;

	for (size_t i = 0; i < b->time.function_count; i++) {
		const struct fg_node_verdict *f = &b->time.functions[i];
		bool right = strcmp(f->name, culprit) == 0;

		if (f->outcome != FG_OUTCOME_REGRESSION)
			continue;
		any = true;
		counts->hits[RIGHT_FLAG] += right;
		counts->hits[FIRST] += right && i == 0;
		counts->hits[PATH_FIRST] += right && i == 0 && is_path_through(f, "caller_b");
	}
	counts->hits[ANY_FLAG] += any;
	counts->hits[MOVED] += b->time.moved_count > 0;
	counts->tested += b->time.functions_tested;
	counts->decisions++;
}

/* Recorded rows by pair: rows[2 * pair + arm], or NULL. */
static const struct fg_profile_row **index_rows(const struct profile_file *file)
{
	size_t pairs = profile_file_pairs(file);
	const struct fg_profile_row **index = fg_xcalloc(2 * pairs + 1, sizeof(index[0]));

	for (size_t i = 0; i < file->set.row_count; i++)
		index[2 * file->set.rows[i].pair + file->set.rows[i].arm] = &file->set.rows[i];
	return index;
}

/* The drawn pairs of one decision; shares functions and nodes with the recording. */
struct drawing {
	const struct profile_file *file;
	const bool *touched; /* per node */
	struct profile_file drawn;
	struct fg_profile_row rows[2 * DRAWN];
	struct fg_arena arena;
};

/*
 * Takes the touched nodes from `own` and the untouched ones from `other`, which may be the other
 * arm's row. Both rows are ascending by node.
 */
static void mix_rows(struct drawing *d, const struct fg_profile_row *own,
		     const struct fg_profile_row *other, struct fg_profile_row *out)
{
	size_t most = (size_t)own->count + other->count + 1;
	uint32_t i = 0;
	uint32_t k = 0;

	*out = (struct fg_profile_row){
		.nodes = fg_arena_array(&d->arena, most, sizeof(out->nodes[0])),
		.values = fg_arena_array(&d->arena, most, sizeof(out->values[0])),
		.samples = fg_arena_array(&d->arena, most, sizeof(out->samples[0]))};
	while (i < own->count || k < other->count) {
		bool from_own =
			k == other->count || (i < own->count && own->nodes[i] <= other->nodes[k]);
		const struct fg_profile_row *from = from_own ? own : other;
		uint32_t at = from_own ? i++ : k++;

		if (d->touched[from->nodes[at]] != from_own)
			continue;
		out->nodes[out->count] = from->nodes[at];
		out->values[out->count] = from->values[at];
		out->samples[out->count++] = from->samples[at];
		out->total += from->values[at];
	}
}

static void add_pair(struct drawing *d, const struct fg_profile_row *const *recorded,
		     uint32_t number, bool swap)
{
	const struct fg_repetition *repetitions = d->file->run.series[0].repetitions;

	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_profile_row *own = recorded[arm];
		struct fg_repetition *r = fg_series_add_repetition(&d->drawn.run.series[0]);
		struct fg_profile_row *row = &d->rows[d->drawn.set.row_count++];

		mix_rows(d, own, recorded[swap ? 1 - arm : arm], row);
		row->pair = r->pair = number;
		row->arm = r->arm = (uint8_t)arm;
		r->values[FG_METRIC_CPU_TIME] =
			repetitions[own - d->file->set.rows].values[FG_METRIC_CPU_TIME];
	}
}

static void drawing_init(struct drawing *d, const struct profile_file *file, uint64_t seed)
{
	struct fg_series *series;

	d->drawn.set = file->set;
	d->drawn.set.rows = d->rows;
	d->drawn.set.row_count = 0;
	fg_run_init(&d->drawn.run);
	d->drawn.run.has_baseline = true;
	d->drawn.run.seed = seed;
	series = fg_run_add_series(&d->drawn.run, "many");
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_copy(&series->build[arm], &file->run.series[0].build[arm]);
}

static void decide_once(const struct profile_file *file, const struct fg_profile_row **index,
			const bool *is_touched, struct fg_random *random, const char *culprit,
			struct counts *counts)
{
	struct drawing d = {.file = file, .touched = is_touched};
	const struct fg_profile_set *sets[1] = {&d.drawn.set};
	struct fg_verdict verdict = {0};
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_gate_input input = {
		.run = &d.drawn.run, .profiles = sets, .policy = &policy, .measure = &measure};
	uint32_t pairs = profile_file_pairs(file);

	drawing_init(&d, file, fg_random_next(random));
	for (uint32_t i = 0; i < DRAWN;) {
		size_t chosen = (size_t)fg_random_below(random, pairs);
		bool swap = fg_random_below(random, 2) == 1;

		if (index[2 * chosen] && index[2 * chosen + 1])
			add_pair(&d, &index[2 * chosen], i++, swap);
	}
	fg_measuring_defaults(&measure);
	fg_policy_defaults(&policy);
	policy.functions = FG_FUNCTIONS_GATE; /* a benchmark that passes blames no function */
	if (fg_gate_decide(&input, &verdict, NULL) == FG_OK)
		count_verdict(&verdict.benchmarks[0], culprit, counts);
	fg_verdict_release(&verdict);
	fg_run_release(&d.drawn.run);
	fg_arena_release(&d.arena);
}

static bool *find_touched(const struct fg_profile_set *set, int variant)
{
	bool *found = fg_xcalloc(set->node_count + 1, sizeof(found[0]));

	for (size_t n = 1; n < set->node_count; n++) {
		const char *name = set->functions[set->nodes[n].function].name;

		found[n] = strcmp(name, touched[variant][0]) == 0 ||
			   strcmp(name, touched[variant][1]) == 0;
	}
	return found;
}

static void decide_all(const char *folder, const char *condition, int variant, size_t decisions,
		       struct counts *counts)
{
	char *path = fg_xasprintf("%s/%s.functions.%d.profile", folder, condition, variant);
	const struct fg_profile_row **index = NULL;
	struct fg_random random;
	struct profile_file file;
	bool *is_touched = NULL;

	profile_file_init(&file);
	if (profile_file_load(&file, path, NULL) == FG_OK &&
	    file.set.row_count / 2 >= RECORDED_MIN) {
		index = index_rows(&file);
		is_touched = find_touched(&file.set, variant);
		fg_random_seed(&random, (uint64_t)variant + 1);
		counts->recorded = file.set.row_count / 2;
		for (size_t i = 0; i < file.set.row_count; i++)
			counts->load += (double)file.run.series[0].repetitions[i].load /
					(double)file.set.row_count;
		for (size_t i = 0; i < decisions; i++)
			decide_once(&file, index, is_touched, &random, culprits[variant], counts);
	}
	free(is_touched);
	free(index);
	free(path);
	profile_file_release(&file);
}

void card_add_functions(const char *folder, const char *condition, size_t decisions,
			struct card *card)
{
	struct counts counts[VARIANTS] = {0};

	for (int variant = 0; variant < VARIANTS; variant++)
		decide_all(folder, condition, variant, decisions, &counts[variant]);
	for (size_t q = 0; q < FG_ARRAY_SIZE(questions); q++) {
		const struct counts *c = &counts[questions[q].variant];
		struct card_row row = {.name = questions[q].name,
				       .setting = "60 pairs",
				       .condition = condition,
				       .at_least = questions[q].at_least,
				       .goal = questions[q].goal,
				       .hits = c->hits[questions[q].counted],
				       .trials = c->decisions,
				       .median_pairs = (double)NAN,
				       .effect = (double)NAN,
				       .load = c->decisions ? c->load : (double)NAN,
				       .recorded_pairs = c->recorded};

		if (c->decisions > 0)
			row.tested = c->tested / c->decisions;
		card_add(card, &row);
	}
}
