// SPDX-License-Identifier: Apache-2.0
/*
 * Each possible cause contributes time to the change of a function, by the weights of KCachegrind's
 * cycle estimation: 10 cycles per mispredicted branch, 10 per first-level cache miss, 100 per
 * last-level cache miss. The time per instruction comes from the baseline: the function's measured
 * time minus the time of its misses, divided by its instructions.
 *
 *	calls          the baseline's time per call, for each additional call
 *	allocations    additional time per call in the allocator, if each call allocates more often
 *	not inlined    additional instructions per call, at most those in callees that only the
 *	               candidate calls and that the baseline has inlined
 *	instructions   all other additional instructions per call; if the candidate's machine code
 *	               lost vector instructions or tail calls, these are named
 *	cache misses, mispredicted branches
 *	               the time of additional misses per call
 *
 * The largest contribution names the mechanism if it explains at least FG_EXPLAINS_MIN of the
 * function's measured change, both as logarithms of ratios, as the gate compares times. Otherwise
 * the mechanism is placement if the function's code is the same, and unknown if it differs. If wall
 * time is gated and CPU time grew by less than FG_EXPLAINS_MIN of the growth of wall time, cycles
 * cannot explain the change: the function waits.
 *
 * Samples show inlined functions, but callgrind does not. A function is inlined on a side where it
 * was sampled but callgrind counted no instruction in the function or a clone of it. A function
 * that is inlined on at least one side counts, on both sides, as a part of the function that
 * contains it. If the time that a function is blamed for was spent in another function, such as a
 * callee whose code is the same, that function's counts are used.
 */
#include "gate/mechanism.h"

#include "base/number.h"
#include "base/text.h"
#include "gate/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum count {
	INSTRUCTIONS,
	MISSES,
	FIRST_MISSES,
	BRANCH_MISSES,
	CALLS,
	COUNTS,
};

static const struct {
	uint16_t measure;
	double cycles;
} counted[COUNTS] = {
	[INSTRUCTIONS] = {FG_MEASURE_INSTRUCTIONS, 1},
	[MISSES] = {FG_MEASURE_CACHE_MISSES, 100},
	[FIRST_MISSES] = {FG_MEASURE_CACHE_FIRST_MISSES, 10},
	[BRANCH_MISSES] = {FG_MEASURE_BRANCH_MISSES, 10},
	[CALLS] = {FG_MEASURE_CALLS, 0},
};

/* Assumes a CPU with a clock of about 3 GHz that completes at most 4 instructions per cycle. */
static const double cycle_ns = 1.0 / 3;
static const double instruction_least_ns = 1.0 / 12;

/* Counts that differ by less than this share look equal to a reader. */
static const double same_min = 0.005;

struct counter {
	const struct fg_profile_set *set;
	const uint32_t *blamed;
	const struct fg_code_fact *code;      /* per function; NULL: nothing is known */
	double *counts[COUNTS][FG_ARM_COUNT]; /* per node, in one execution */
	double *time[FG_ARM_COUNT];           /* per node */
	bool is_time;        /* explain the change of time, not the change of instructions */
	bool *is_inlined;    /* per function: one side inlines it */
	bool *is_called_now; /* per function: only the baseline inlines it */
	bool *is_allocator;  /* per node: part of an allocation or of a release */
};

/* One side of a function, including code inlined into it and its work in other libraries. */
struct tally {
	double counts[COUNTS];    /* outside the allocator */
	double allocator[COUNTS]; /* inside the allocator, without calls */
	double time;
	double allocations;
	double new_calls; /* calls of callees that are no longer inlined */
	double new_instructions;
};

struct contribution {
	enum fg_mechanism_kind kind;
	double cost;
};

static const struct fg_profile_function *function_at(const struct counter *c, uint32_t node)
{
	return &c->set->functions[c->set->nodes[node].function];
}

static bool is_allocation(const char *name)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "aligned_alloc",
					    "posix_memalign"};

	if (FG_TEXT_IS_AMONG(name, names))
		return true;
	return fg_text_starts_with(name, "operator new");
}

static bool is_release(const char *name)
{
	return strcmp(name, "free") == 0 || fg_text_starts_with(name, "operator delete");
}

static void find_allocator(struct counter *c)
{
	for (uint32_t n = 1; n < c->set->node_count; n++) {
		const char *name = function_at(c, n)->name;

		c->is_allocator[n] = c->is_allocator[c->set->nodes[n].parent] ||
				     is_allocation(name) || is_release(name);
	}
}

/* Is a part or clone of this function counted, such as `fit.isra.0`? */
static bool has_clone(const struct counter *c, const bool *is_counted, const char *name)
{
	const size_t length = strlen(name);

	for (size_t f = 1; f < c->set->function_count; f++) {
		const char *other = c->set->functions[f].name;

		if (is_counted[f] && strncmp(other, name, length) == 0 && other[length] == '.')
			return true;
	}
	return false;
}

static void find_inlined(struct counter *c)
{
	const struct fg_profile_set *set = c->set;
	bool *is_counted = fg_xcalloc(set->function_count, sizeof(bool));
	bool *is_sampled = fg_xcalloc(set->function_count, sizeof(bool));

	/* Start with the candidate: it may call a function that the baseline inlines. */
	for (size_t arm = FG_ARM_COUNT; arm-- > 0;) {
		memset(is_sampled, 0, set->function_count * sizeof(bool));
		for (size_t n = 1; n < set->node_count; n++)
			is_sampled[set->nodes[n].function] |= c->time[arm][n] > 0;
		for (size_t f = 1; arm == 0 && f < set->function_count; f++)
			c->is_called_now[f] = is_counted[f];
		memset(is_counted, 0, set->function_count * sizeof(bool));
		for (size_t n = 1; n < set->node_count; n++)
			is_counted[set->nodes[n].function] |= c->counts[INSTRUCTIONS][arm][n] > 0;
		for (size_t f = 1; f < set->function_count; f++) {
			const bool is_inlined = is_sampled[f] && !is_counted[f] &&
						!has_clone(c, is_counted, set->functions[f].name);

			c->is_inlined[f] |= is_inlined;
			c->is_called_now[f] &= is_inlined;
		}
	}
	free(is_counted);
	free(is_sampled);
}

/*
 * Collects the counts that may explain a change of `measure`. Returns false if a side was not
 * counted.
 */
static bool counter_init(const struct fg_profile_set *set, const uint32_t *blamed, uint16_t measure,
			 struct counter *c)
{
	bool is_counted = true;

	*c = (struct counter){
		.set = set,
		.blamed = blamed,
		.is_time = fg_measure_is_time(measure),
		.is_inlined = fg_xcalloc(set->function_count, sizeof(bool)),
		.is_called_now = fg_xcalloc(set->function_count, sizeof(bool)),
		.is_allocator = fg_xcalloc(set->node_count, sizeof(bool)),
	};
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		c->time[arm] = fg_xcalloc(set->node_count, sizeof(double));
		(void)fg_profile_set_mean(set, fg_profile_set_time(set), (uint8_t)arm, c->time[arm],
					  NULL);
		for (size_t i = 0; i < COUNTS; i++) {
			c->counts[i][arm] = fg_xcalloc(set->node_count, sizeof(double));
			if (!c->is_time && i != INSTRUCTIONS && i != CALLS)
				continue;
			is_counted &= fg_profile_set_mean(set, counted[i].measure, (uint8_t)arm,
							  c->counts[i][arm], NULL) > 0 ||
				      i != INSTRUCTIONS;
		}
	}
	find_allocator(c);
	if (is_counted)
		find_inlined(c);
	return is_counted;
}

static void counter_release(struct counter *c)
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(c->time[arm]);
		for (size_t i = 0; i < COUNTS; i++)
			free(c->counts[i][arm]);
	}
	free(c->is_inlined);
	free(c->is_called_now);
	free(c->is_allocator);
}

/*
 * Returns the function whose counts include the node: its own, charged to it, or inlined into it.
 */
static uint32_t owner_at(const struct counter *c, uint32_t node)
{
	node = c->blamed[node];
	while (node > 0 && c->is_inlined[c->set->nodes[node].function])
		node = c->blamed[c->set->nodes[node].parent];
	return c->set->nodes[node].function;
}

/* Returns the function whose cost grew most within the row. */
static uint32_t subject_of(const struct counter *counter, const struct fg_node_context *c,
			   uint32_t row)
{
	double *change = fg_xcalloc(c->set->function_count, sizeof(change[0]));
	uint32_t found = row;

	for (uint32_t n = 1; n < c->set->node_count; n++) {
		if (c->row_of[c->set->nodes[c->blamed[n]].function] != row)
			continue;
		change[owner_at(counter, n)] += c->self[1][n] - c->self[0][n];
	}
	for (uint32_t f = 1; f < c->set->function_count; f++) {
		if (change[f] > change[found])
			found = f;
	}
	free(change);
	return found;
}

static void add_node(const struct counter *c, uint32_t n, size_t arm, uint32_t owner,
		     struct tally *tally)
{
	const uint32_t f = c->set->nodes[n].function;
	const double calls = c->counts[CALLS][arm][n];

	tally->time += c->time[arm][n];
	if (f == owner)
		tally->counts[CALLS] += calls;
	if (c->is_called_now[f]) {
		tally->new_calls += calls;
		tally->new_instructions += c->counts[INSTRUCTIONS][arm][n];
	}
	if (is_allocation(c->set->functions[f].name) && !c->is_allocator[c->set->nodes[n].parent])
		tally->allocations += calls;
	for (size_t i = 0; i < CALLS; i++) {
		double *counts = c->is_allocator[n] ? tally->allocator : tally->counts;

		counts[i] += c->counts[i][arm][n];
	}
}

static void tally_up(const struct counter *c, uint32_t owner, struct tally tallies[FG_ARM_COUNT])
{
	memset(tallies, 0, FG_ARM_COUNT * sizeof(tallies[0]));
	for (uint32_t n = 1; n < c->set->node_count; n++) {
		if (fg_blame_is_linker(function_at(c, n)) || owner_at(c, n) != owner)
			continue;
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
			add_node(c, n, arm, owner, &tallies[arm]);
	}
}

/* ---- contributions ---- */

static double misses_ns(const struct tally *tally)
{
	double sum = 0;

	for (size_t i = MISSES; i < CALLS; i++)
		sum += cycle_ns * counted[i].cycles * (tally->counts[i] + tally->allocator[i]);
	return sum;
}

static double instructions_of(const struct tally *tally)
{
	return tally->counts[INSTRUCTIONS] + tally->allocator[INSTRUCTIONS];
}

/*
 * Computes the cost of each count, in nanoseconds or, if time is not to be explained, in
 * instructions.
 */
static void find_costs(const struct counter *c, const struct tally *baseline, double costs[COUNTS])
{
	for (size_t i = 0; i < COUNTS; i++)
		costs[i] = c->is_time ? cycle_ns * counted[i].cycles : i == INSTRUCTIONS;
	if (c->is_time && instructions_of(baseline) > 0)
		costs[INSTRUCTIONS] =
			fmax(instruction_least_ns,
			     (baseline->time - misses_ns(baseline)) / instructions_of(baseline));
}

/*
 * Returns the candidate's calls per call in the baseline; 1 if the baseline never calls the
 * function.
 */
static double times_called(const struct tally t[2])
{
	return t[0].counts[CALLS] > 0 ? t[1].counts[CALLS] / t[0].counts[CALLS] : 1;
}

/* Returns the largest contribution in the direction of the change, `sign`. */
static struct contribution largest(const struct tally t[2], const double costs[COUNTS],
				   double before, double sign)
{
	const double times = times_called(t);
	double more[COUNTS]; /* additional costs at the candidate's number of calls */
	double allocator = 0;
	double called = 0;
	struct contribution found = {.kind = FG_MECHANISM_UNKNOWN};

	for (size_t i = 0; i < COUNTS; i++)
		more[i] = costs[i] * (t[1].counts[i] - times * t[0].counts[i]);
	for (size_t i = 0; sign * (t[1].allocations - times * t[0].allocations) > 0 && i < COUNTS;
	     i++)
		allocator += costs[i] * (t[1].allocator[i] - times * t[0].allocator[i]);
	if (t[1].new_calls > 0)
		called = fmin(fmax(0, more[INSTRUCTIONS]),
			      costs[INSTRUCTIONS] * t[1].new_instructions);
	const struct contribution all[] = {
		{FG_MECHANISM_CALLS, (times - 1) * before},
		{FG_MECHANISM_ALLOCATIONS, allocator},
		{FG_MECHANISM_NOT_INLINED, called},
		{FG_MECHANISM_INSTRUCTIONS, more[INSTRUCTIONS] - called},
		{FG_MECHANISM_CACHE, more[MISSES] + more[FIRST_MISSES]},
		{FG_MECHANISM_BRANCHES, more[BRANCH_MISSES]},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(all); i++) {
		if (sign * all[i].cost > sign * found.cost)
			found = all[i];
	}
	return found;
}

/*
 * Refines the kind if the machine code lost vector instructions, which leads to more instructions,
 * or a tail call, which also adds calls from the function to itself.
 */
static enum fg_mechanism_kind kind_by_form(enum fg_mechanism_kind kind,
					   const struct fg_code_form form[FG_ARM_COUNT])
{
	if (kind == FG_MECHANISM_INSTRUCTIONS && form[0].vectors > 2 * form[1].vectors)
		return FG_MECHANISM_NOT_VECTORISED;
	if ((kind == FG_MECHANISM_INSTRUCTIONS || kind == FG_MECHANISM_CALLS) &&
	    form[0].tail_calls > form[1].tail_calls)
		return FG_MECHANISM_NOT_TAIL_CALLED;
	return kind;
}

/* ---- sentences ---- */

static void set_counts(struct fg_mechanism *mechanism, double before, double after)
{
	mechanism->counts[0] = before;
	mechanism->counts[1] = after;
}

/* Adds "3.1 × the misses (400 → 1 240)", without the ratio if that is meaningless. */
static void add_growth(struct fg_strbuf *text, const char *what, const double counts[2])
{
	char before[FG_NUMBER_TEXT_SIZE];
	char after[FG_NUMBER_TEXT_SIZE];
	const double ratio = counts[0] > 0 ? counts[1] / counts[0] : (double)INFINITY;

	fg_format_count(counts[0], before);
	fg_format_count(counts[1], after);
	if (ratio < 1000)
		fg_strbuf_printf(text, "%.3g × the %s (%s → %s)", ratio, what, before, after);
	else
		fg_strbuf_printf(text, "%s → %s %s", before, after, what);
}

static void describe_calls(const struct tally t[2], struct fg_strbuf *text)
{
	char before[FG_NUMBER_TEXT_SIZE];
	char after[FG_NUMBER_TEXT_SIZE];

	fg_format_count(t[0].counts[CALLS], before);
	fg_format_count(t[1].counts[CALLS], after);
	if (!(t[1].counts[CALLS] > 0))
		fg_strbuf_printf(text, "no longer called (%s times by the baseline)", before);
	else if (t[0].counts[CALLS] > 0)
		fg_strbuf_printf(text, "called %.3g times as often (%s → %s)", times_called(t),
				 before, after);
	else
		fg_strbuf_printf(text, "called %s times, never by the baseline", after);
}

/* A thread's first function has no counted calls: its instructions are not given per call. */
static void describe_instructions(const struct tally t[2], struct fg_mechanism *mechanism,
				  struct fg_strbuf *text)
{
	const char *per_call = t[1].counts[CALLS] > 0 ? " per call" : "";
	const double *counts = mechanism->counts;
	char before[FG_NUMBER_TEXT_SIZE];
	char after[FG_NUMBER_TEXT_SIZE];
	char change[FG_NUMBER_TEXT_SIZE];

	set_counts(mechanism, t[0].counts[INSTRUCTIONS] / fmax(1, t[0].counts[CALLS]),
		   t[1].counts[INSTRUCTIONS] / fmax(1, t[1].counts[CALLS]));
	fg_format_count(counts[0], before);
	fg_format_count(counts[1], after);
	if (counts[0] > 0)
		fg_strbuf_printf(text, "%s %% instructions%s (%s → %s)",
				 fg_format_signed(100 * (counts[1] / counts[0] - 1), 2, change),
				 per_call, before, after);
	else
		fg_strbuf_printf(text, "%s → %s instructions%s", before, after, per_call);
}

static void describe_misses(const struct tally t[2], enum count count, const char *what,
			    struct fg_mechanism *mechanism, struct fg_strbuf *text)
{
	const double change = t[1].counts[INSTRUCTIONS] / t[0].counts[INSTRUCTIONS] - 1;

	set_counts(mechanism, t[0].counts[count], t[1].counts[count]);
	if (fabs(change) < same_min)
		fg_strbuf_add_text(text, "same instructions, ");
	add_growth(text, what, mechanism->counts);
}

/* Describes the cache level whose additional misses take longer. */
static void describe_cache(const struct tally t[2], struct fg_mechanism *mechanism,
			   struct fg_strbuf *text)
{
	const double last = t[1].counts[MISSES] - t[0].counts[MISSES];
	const double first = t[1].counts[FIRST_MISSES] - t[0].counts[FIRST_MISSES];

	if (counted[MISSES].cycles * fabs(last) >= counted[FIRST_MISSES].cycles * fabs(first))
		describe_misses(t, MISSES, "misses of the last-level cache", mechanism, text);
	else
		describe_misses(t, FIRST_MISSES, "misses of the first-level caches", mechanism,
				text);
}

/* Finds the formerly inlined callee that the candidate calls most often. */
static const char *new_callee(const struct counter *c, uint32_t owner)
{
	const char *found = NULL;
	double most = 0;

	for (uint32_t n = 1; n < c->set->node_count; n++) {
		const double calls = c->counts[CALLS][1][n];

		if (!c->is_called_now[c->set->nodes[n].function] || !(calls > most) ||
		    owner_at(c, n) != owner)
			continue;
		most = calls;
		found = function_at(c, n)->name;
	}
	return found;
}

static void describe_not_inlined(const struct counter *c, const struct tally t[2],
				 uint32_t function, uint32_t subject,
				 struct fg_mechanism *mechanism, struct fg_strbuf *text)
{
	char calls[FG_NUMBER_TEXT_SIZE];

	set_counts(mechanism, 0, t[1].new_calls);
	fg_format_count(t[1].new_calls, calls);
	if (c->is_called_now[function])
		fg_strbuf_printf(text, "no longer inlined into %s: %s calls",
				 c->set->functions[subject].name, calls);
	else
		fg_strbuf_printf(text, "%s is no longer inlined: %s calls", new_callee(c, subject),
				 calls);
}

/* Adds "fewer vector instructions (16 → 0), " and sets the kind accordingly. */
static void name_form(const struct fg_code_form form[FG_ARM_COUNT], struct fg_mechanism *mechanism,
		      struct fg_strbuf *text)
{
	mechanism->kind = kind_by_form(mechanism->kind, form);
	if (mechanism->kind == FG_MECHANISM_NOT_VECTORISED)
		fg_strbuf_printf(text, "fewer vector instructions (%u → %u), ", form[0].vectors,
				 form[1].vectors);
	if (mechanism->kind == FG_MECHANISM_NOT_TAIL_CALLED)
		fg_strbuf_printf(text, "tail calls became calls (%u → %u jumps), ",
				 form[0].tail_calls, form[1].tail_calls);
}

static void describe(const struct counter *c, const struct tally t[2], uint32_t function,
		     uint32_t subject, struct fg_arena *arena, struct fg_mechanism *mechanism)
{
	const enum fg_mechanism_kind kind = mechanism->kind;
	const bool is_elsewhere = function != subject && kind != FG_MECHANISM_NOT_INLINED;
	const char *name = c->set->functions[subject].name;
	struct fg_strbuf text = {0};

	if (is_elsewhere && !c->is_inlined[function])
		fg_strbuf_printf(&text, "%s: ", name);
	if (c->code)
		name_form(c->code[subject].form, mechanism, &text);
	if (kind == FG_MECHANISM_CALLS) {
		set_counts(mechanism, t[0].counts[CALLS], t[1].counts[CALLS]);
		describe_calls(t, &text);
	} else if (kind == FG_MECHANISM_INSTRUCTIONS) {
		describe_instructions(t, mechanism, &text);
	} else if (kind == FG_MECHANISM_CACHE) {
		describe_cache(t, mechanism, &text);
	} else if (kind == FG_MECHANISM_BRANCHES) {
		describe_misses(t, BRANCH_MISSES, "mispredicted branches", mechanism, &text);
	} else if (kind == FG_MECHANISM_ALLOCATIONS) {
		set_counts(mechanism, t[0].allocations, t[1].allocations);
		add_growth(&text, "allocations", mechanism->counts);
	} else {
		describe_not_inlined(c, t, function, subject, mechanism, &text);
	}
	if (is_elsewhere && c->is_inlined[function])
		fg_strbuf_printf(&text, ", counted in %s, into which it is inlined", name);
	mechanism->words = fg_strbuf_keep(&text, arena);
}

/* ---- the decision ---- */

static struct fg_mechanism nothing(enum fg_mechanism_kind kind, const char *words)
{
	return (struct fg_mechanism){
		.kind = kind,
		.words = words,
		.counts = {(double)NAN, (double)NAN},
		.explains = (double)NAN,
	};
}

static const char not_known[] =
	"not known: calls, instructions, caches and branches do not explain the change";

/* `change` is the measured change, in nanoseconds or instructions; NaN: not measured. */
static struct fg_mechanism mechanism_of(const struct counter *c, uint32_t function,
					uint32_t subject, double change, struct fg_arena *arena)
{
	struct fg_mechanism mechanism = nothing(FG_MECHANISM_UNKNOWN, not_known);
	struct tally t[FG_ARM_COUNT];
	struct contribution found;
	double costs[COUNTS];
	double before = 0;
	bool is_less = change < 0;

	tally_up(c, subject, t);
	find_costs(c, &t[0], costs);
	before = c->is_time ? t[0].time : instructions_of(&t[0]);
	if (isnan(change))
		is_less = instructions_of(&t[1]) < instructions_of(&t[0]);
	if (before > 0 && instructions_of(&t[0]) > 0) {
		found = largest(t, costs, before, is_less ? -1 : 1);
		mechanism.explains = log1p(found.cost / before) / log1p(change / before);
		if (isnan(change) || mechanism.explains >= FG_EXPLAINS_MIN)
			mechanism.kind = found.kind;
	} else if (t[1].counts[CALLS] > 0 && !(t[0].counts[CALLS] > 0)) {
		mechanism.kind = FG_MECHANISM_CALLS;
	}
	if (mechanism.kind != FG_MECHANISM_UNKNOWN)
		describe(c, t, function, subject, arena, &mechanism);
	else
		mechanism.explains = (double)NAN;
	return mechanism;
}

struct fg_mechanism fg_mechanism_of_counts(const struct fg_profile_set *set, const uint32_t *blamed,
					   size_t function, struct fg_arena *arena)
{
	struct fg_mechanism mechanism;
	struct counter c;

	(void)counter_init(set, blamed, FG_MEASURE_INSTRUCTIONS, &c);
	mechanism = mechanism_of(&c, (uint32_t)function, (uint32_t)function, (double)NAN, arena);
	counter_release(&c);
	return mechanism;
}

static void keep(const struct fg_mechanism *mechanism, struct fg_arena *arena,
		 struct fg_node_verdict *node)
{
	node->mechanism = fg_arena_memdup(arena, mechanism, sizeof(*mechanism));
}

/* Is the function to blame, or slower although its code is the same? */
static bool is_slower(const struct fg_node_verdict *node)
{
	return node->outcome == FG_OUTCOME_REGRESSION ||
	       (node->standing == FG_STANDING_SAME_CODE && node->delta > 0);
}

void fg_mechanisms_add(const struct fg_node_context *c, const struct fg_series *series,
		       struct fg_blame *blame)
{
	uint32_t *blamed = NULL;
	struct counter counter;

	if (!fg_measure_is_time(c->id) && c->id != FG_MEASURE_INSTRUCTIONS)
		return;
	blamed = fg_blame_nodes(c->set, series);
	if (counter_init(c->set, blamed, c->id, &counter)) {
		counter.code = c->code;
		for (size_t i = 0; i < blame->function_count; i++) {
			struct fg_node_verdict *node = &blame->functions[i];
			const uint32_t function =
				fg_profile_set_find(c->set, node->name, node->library);
			struct fg_mechanism mechanism;

			if (!is_slower(node) || function == UINT32_MAX)
				continue;
			mechanism = mechanism_of(
				&counter, function, subject_of(&counter, c, function),
				counter.is_time ? node->delta * 1e6 : node->delta, c->arena);
			keep(&mechanism, c->arena, node);
		}
	}
	counter_release(&counter);
	free(blamed);
}

/* ---- causes without counts ---- */

/*
 * Did gated wall time grow without a similar growth of CPU time? Compares ratios, because on a busy
 * machine each millisecond of CPU time may take several milliseconds of wall time.
 */
static bool is_waiting(const struct fg_metric_verdict *wall, const struct fg_metric_verdict *cpu)
{
	return wall && wall->gated && wall->outcome == FG_OUTCOME_REGRESSION && cpu &&
	       !isnan(cpu->ratio) && log(cpu->ratio) < FG_EXPLAINS_MIN * log(wall->ratio);
}

/*
 * Sums the time that the function itself waits for locks. Returns false if waits were not counted.
 */
static bool find_lock_time(const struct fg_profile_set *set, const struct fg_node_verdict *node,
			   double wait_ns[FG_ARM_COUNT])
{
	const uint32_t function =
		set ? fg_profile_set_find(set, node->name, node->library) : UINT32_MAX;
	bool is_counted = function != UINT32_MAX;
	double *self = NULL;

	for (size_t arm = 0; arm < FG_ARM_COUNT && is_counted; arm++) {
		self = fg_xcalloc(set->node_count, sizeof(self[0]));
		is_counted = fg_profile_set_mean(set, FG_MEASURE_LOCKS_WAIT_TIME, (uint8_t)arm,
						 self, NULL) > 0;
		wait_ns[arm] = 0;
		for (size_t n = 1; n < set->node_count; n++)
			wait_ns[arm] += set->nodes[n].function == function ? self[n] : 0;
		free(self);
	}
	return is_counted;
}

/*
 * Adds what the function waits for. The kernel and a lock are distinguished only if waits for locks
 * were counted (`measure.also`).
 */
static void add_awaited(const struct fg_profile_set *set, const struct fg_node_verdict *node,
			struct fg_strbuf *text)
{
	double wait_ns[FG_ARM_COUNT];
	char words[FG_ARM_COUNT][FG_NUMBER_TEXT_SIZE];

	if (!find_lock_time(set, node, wait_ns))
		fg_strbuf_add_text(text, "waits for the kernel or a lock");
	else if (!(wait_ns[1] > wait_ns[0]))
		fg_strbuf_add_text(text, "waits for the kernel");
	else
		fg_strbuf_printf(text, "waits for a lock (%s → %s)",
				 fg_format_duration(wait_ns[0], words[0]),
				 fg_format_duration(wait_ns[1], words[1]));
}

static struct fg_mechanism waiting(const struct fg_profile_set *set,
				   const struct fg_benchmark_verdict *verdict,
				   const struct fg_node_verdict *node, struct fg_arena *arena)
{
	const struct fg_metric_verdict *wall = fg_verdict_metric(verdict, "wall_time");
	const struct fg_metric_verdict *cpu = fg_verdict_metric(verdict, "cpu_time");
	char change[2][FG_NUMBER_TEXT_SIZE];
	struct fg_strbuf text = {0};

	add_awaited(set, node, &text);
	fg_strbuf_printf(&text, ": wall time %s, CPU time %s",
			 fg_format_change(wall->ratio - 1, change[0]),
			 fg_format_change(cpu->ratio - 1, change[1]));
	return nothing(FG_MECHANISM_WAITS, fg_strbuf_keep(&text, arena));
}

void fg_mechanisms_settle(const struct fg_profile_set *set, struct fg_arena *arena,
			  struct fg_benchmark_verdict *verdict)
{
	const struct fg_mechanism placed =
		nothing(FG_MECHANISM_PLACEMENT, "the same code at other addresses");
	const bool is_waits = is_waiting(fg_verdict_metric(verdict, "wall_time"),
					 fg_verdict_metric(verdict, "cpu_time"));

	/* Differences between two sessions do not show causes. */
	if (verdict->schedule == FG_SCHEDULE_STORED)
		return;
	for (size_t i = 0; i < verdict->time.function_count; i++) {
		struct fg_node_verdict *node = &verdict->time.functions[i];
		const bool is_unknown =
			node->mechanism && node->mechanism->kind == FG_MECHANISM_UNKNOWN;

		if (!is_slower(node))
			continue;
		if (node->standing == FG_STANDING_SAME_CODE &&
		    (is_unknown || verdict->outcome == FG_OUTCOME_PLACEMENT)) {
			keep(&placed, arena, node);
		} else if (is_waits) {
			const struct fg_mechanism waits = waiting(set, verdict, node, arena);

			keep(&waits, arena, node);
		}
	}
}
