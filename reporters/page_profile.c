// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the profile in the form that a page draws.
 *
 * Columns (names separate from weights, the parent as a distance) need a third of the space of
 * nested objects, and the flame graph computes with them directly. Weights are microseconds per
 * repetition with four digits. Call paths without a sample in a repetition that counts are left
 * out; if more than MAX_NODES remain, the paths too small to fill half a pixel of a wide screen are
 * added to their callers' own time, and the page shows their number. The totals of functions are
 * computed first, so the table of functions is exact.
 */
#include "base/sort.h"
#include "model/run.h"
#include "reporters/figures.h"
#include "reporters/page_data.h"

enum {
	MAX_NODES = 50000,
	/* paths below 1/8192 of the whole, half a pixel of 4096, are folded */
	SMALLEST_PART = 8192,
};

static const uint32_t no_place = UINT32_MAX;

/*
 * A deterministic order of a profile's call paths and functions, independent of how they were
 * collected or stored: functions by name and library (the root's function stays first), paths depth
 * first, callees in the order of functions.
 */
struct order {
	uint32_t *nodes;     /* node_count indexes; parents precede children */
	uint32_t *functions; /* function_count indexes */
};

struct named {
	const char *name;
	const char *library;
	uint32_t function;
};

/* A node with its sort keys among its siblings. */
struct child {
	uint32_t parent;
	uint32_t rank;
	uint32_t node;
};

FG_ORDER_BY(compare_named, struct named, FG_TEXT_UP(name), FG_TEXT_UP(library))

FG_ORDER_BY(compare_child, struct child, FG_UP(parent), FG_UP(rank))

/* Fills order->functions. Returns each function's rank. */
static uint32_t *order_functions(struct order *order, const struct fg_profile_set *set)
{
	struct named *named = fg_xcalloc(set->function_count, sizeof(named[0]));
	uint32_t *ranks = fg_xcalloc(set->function_count, sizeof(ranks[0]));

	for (size_t f = 0; f < set->function_count; f++)
		named[f] = (struct named){set->functions[f].name, set->functions[f].library,
					  (uint32_t)f};
	if (set->function_count > 1)
		qsort(named + 1, set->function_count - 1, sizeof(named[0]), compare_named);
	for (size_t i = 0; i < set->function_count; i++) {
		order->functions[i] = named[i].function;
		ranks[named[i].function] = (uint32_t)i;
	}
	free(named);
	return ranks;
}

static void order_nodes(struct order *order, const struct fg_profile_set *set,
			const uint32_t *ranks)
{
	struct child *children = fg_xcalloc(set->node_count, sizeof(children[0]));
	size_t *first =
		fg_xcalloc(set->node_count + 1, sizeof(first[0])); /* first child of each node */
	uint32_t *stack = fg_xcalloc(set->node_count, sizeof(stack[0]));
	size_t waiting = 1;

	for (size_t i = 1; i < set->node_count; i++) {
		children[i] = (struct child){set->nodes[i].parent, ranks[set->nodes[i].function],
					     (uint32_t)i};
		first[set->nodes[i].parent + 1]++;
	}
	if (set->node_count > 1)
		qsort(children + 1, set->node_count - 1, sizeof(children[0]), compare_child);
	first[0] = 1;
	for (size_t i = 0; i < set->node_count; i++)
		first[i + 1] += first[i];
	for (size_t done = 0; waiting > 0; done++) {
		const uint32_t node = stack[--waiting];

		order->nodes[done] = node;
		for (size_t c = first[node + 1]; c > first[node]; c--)
			stack[waiting++] = children[c - 1].node;
	}
	free(children);
	free(first);
	free(stack);
}

static void init_order(struct order *order, const struct fg_profile_set *set)
{
	uint32_t *ranks = NULL;

	order->nodes = fg_xcalloc(set->node_count, sizeof(order->nodes[0]));
	order->functions = fg_xcalloc(set->function_count, sizeof(order->functions[0]));
	ranks = order_functions(order, set);
	order_nodes(order, set, ranks);
	free(ranks);
}

static void release_order(struct order *order)
{
	free(order->nodes);
	free(order->functions);
	*order = (struct order){0};
}

struct flat {
	const struct fg_profile_set *set;
	struct order order;
	size_t count;
	double *self[FG_ARM_COUNT];
	double *inclusive[FG_ARM_COUNT];
	uint32_t *node_place;     /* index in the page, or no_place */
	uint32_t *function_place; /* index in the page, or no_place */
	size_t folded;
};

static void load(struct flat *flat, const struct fg_profile_set *set)
{
	const uint16_t time = fg_profile_set_time(set);

	flat->set = set;
	flat->count = set->node_count;
	init_order(&flat->order, set);
	for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
		flat->self[arm] = fg_xcalloc(set->node_count, sizeof(double));
		flat->inclusive[arm] = fg_xcalloc(set->node_count, sizeof(double));
		(void)fg_profile_set_mean(set, time, (uint8_t)arm, flat->self[arm],
					  flat->inclusive[arm]);
	}
	flat->node_place = fg_xcalloc(set->node_count, sizeof(uint32_t));
	flat->function_place = fg_xcalloc(set->function_count, sizeof(uint32_t));
}

static void unload(struct flat *flat)
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(flat->self[arm]);
		free(flat->inclusive[arm]);
	}
	release_order(&flat->order);
	free(flat->node_place);
	free(flat->function_place);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static size_t count_at_least(const struct flat *flat, double limit)
{
	size_t count = 1;

	for (size_t i = 1; i < flat->count; i++)
		count += larger(flat->inclusive[0][i], flat->inclusive[1][i]) > limit;
	return count;
}

/* Chooses the nodes to keep; the weight of other nodes goes to their nearest kept ancestor. */
static void choose_nodes(struct flat *flat)
{
	const double whole = larger(flat->inclusive[0][0], flat->inclusive[1][0]);
	const size_t all = count_at_least(flat, 0);
	const double limit = all > MAX_NODES ? whole / SMALLEST_PART : 0;
	uint32_t next = 0;

	for (size_t n = 0; n < flat->count; n++) {
		const uint32_t i = flat->order.nodes[n];
		const bool stays =
			i == 0 || larger(flat->inclusive[0][i], flat->inclusive[1][i]) > limit;

		flat->node_place[i] = stays ? next++ : no_place;
	}
	flat->folded = all - next;
	for (size_t n = flat->count; n-- > 1;) {
		const uint32_t i = flat->order.nodes[n];
		const uint32_t parent = flat->set->nodes[i].parent;

		if (flat->node_place[i] != no_place)
			continue;
		flat->self[0][parent] += flat->self[0][i];
		flat->self[1][parent] += flat->self[1][i];
	}
}

struct totals {
	double self[FG_ARM_COUNT];
	double inclusive[FG_ARM_COUNT];
};

/*
 * Sums the times of functions; call this before nodes are folded. Inclusive time counts each
 * outermost occurrence of a function.
 */
static struct totals *sum_functions(const struct flat *flat)
{
	struct totals *totals = fg_xcalloc(flat->set->function_count, sizeof(totals[0]));
	bool *recursive = fg_profile_set_is_recursive(flat->set);

	for (size_t n = 0; n < flat->count; n++) {
		const uint32_t i = flat->order.nodes[n];
		struct totals *sum = &totals[flat->set->nodes[i].function];

		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			sum->self[arm] += flat->self[arm][i];
			if (!recursive[i])
				sum->inclusive[arm] += flat->inclusive[arm][i];
		}
	}
	free(recursive);
	return totals;
}

static void choose_functions(struct flat *flat, const struct totals *totals)
{
	uint32_t next = 0;

	for (size_t n = 0; n < flat->set->function_count; n++) {
		const uint32_t f = flat->order.functions[n];
		const bool used =
			f == 0 || larger(totals[f].inclusive[0], totals[f].inclusive[1]) > 0;

		flat->function_place[f] = used ? next++ : no_place;
	}
}

static void add_function_texts(struct fg_json_writer *w, const struct flat *flat)
{
	static const char *const names[] = {"name", "library", "file"};

	for (size_t column = 0; column < FG_ARRAY_SIZE(names); column++) {
		fg_json_begin_array(w, names[column]);
		for (size_t n = 0; n < flat->set->function_count; n++) {
			const uint32_t f = flat->order.functions[n];
			const struct fg_profile_function *function = &flat->set->functions[f];
			const char *const texts[] = {function->name, function->library,
						     function->file};

			if (flat->function_place[f] != no_place)
				fg_json_text(w, NULL, texts[column]);
		}
		fg_json_end(w);
	}
}

static void add_pair_of_columns(struct fg_json_writer *w, const struct flat *flat,
				const struct totals *totals, bool inclusive)
{
	fg_json_begin_array(w, inclusive ? "inclusive" : "self");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_json_begin_array(w, NULL);
		for (size_t n = 0; n < flat->set->function_count; n++) {
			const uint32_t f = flat->order.functions[n];

			if (flat->function_place[f] != no_place)
				fg_json_double(
					w, NULL,
					fg_report_four_digits((inclusive ? totals[f].inclusive[arm]
									 : totals[f].self[arm]) /
							      1e3));
		}
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void add_functions(struct fg_json_writer *w, const struct flat *flat,
			  const struct totals *totals)
{
	fg_json_begin_object(w, "functions");
	add_function_texts(w, flat);
	fg_json_begin_array(w, "line");
	for (size_t n = 0; n < flat->set->function_count; n++) {
		const uint32_t f = flat->order.functions[n];

		if (flat->function_place[f] != no_place)
			fg_json_int(w, NULL, (int64_t)flat->set->functions[f].line);
	}
	fg_json_end(w);
	add_pair_of_columns(w, flat, totals, false);
	add_pair_of_columns(w, flat, totals, true);
	fg_json_end(w);
}

static void add_nodes(struct fg_json_writer *w, const struct flat *flat)
{
	const struct fg_profile_node *nodes = flat->set->nodes;

	fg_json_begin_object(w, "nodes");
	fg_json_begin_array(w, "parent");
	for (size_t n = 0; n < flat->count; n++) {
		const uint32_t i = flat->order.nodes[n];

		if (flat->node_place[i] != no_place)
			fg_json_int(w, NULL,
				    (int64_t)flat->node_place[i] -
					    (int64_t)flat->node_place[nodes[i].parent]);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "function");
	for (size_t n = 0; n < flat->count; n++) {
		const uint32_t i = flat->order.nodes[n];

		if (flat->node_place[i] != no_place)
			fg_json_int(w, NULL, (int64_t)flat->function_place[nodes[i].function]);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "self");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_json_begin_array(w, NULL);
		for (size_t n = 0; n < flat->count; n++) {
			const uint32_t i = flat->order.nodes[n];

			if (flat->node_place[i] != no_place)
				fg_json_double(w, NULL,
					       fg_report_four_digits(flat->self[arm][i] / 1e3));
		}
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_end(w);
}

void fg_report_add_profile(const struct fg_profile_set *set, struct fg_json_writer *w)
{
	struct flat flat = {0};
	struct totals *totals = NULL;

	if (!set || set->row_count == 0)
		return;
	load(&flat, set);
	totals = sum_functions(&flat);
	choose_nodes(&flat);
	choose_functions(&flat, totals);
	fg_json_begin_object(w, "profile");
	add_functions(w, &flat, totals);
	add_nodes(w, &flat);
	fg_json_int(w, "folded", (int64_t)flat.folded);
	fg_json_end(w);
	free(totals);
	unload(&flat);
}
