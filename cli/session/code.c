// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/steps.h"
#include "profile/listing.h"
#include "runner/facts/code_facts.h"

enum {
	COMPARED_MAX = 64, /* maximum number of functions per benchmark */
};

/* ---- hot functions ---- */

struct hot {
	double samples;
	uint32_t function;
};

static int by_samples(const void *left, const void *right)
{
	const struct hot *a = left;
	const struct hot *b = right;

	if (a->samples < b->samples)
		return 1;
	if (a->samples > b->samples)
		return -1;
	return (a->function > b->function) - (a->function < b->function);
}

/*
 * Lists the linkage names of the functions with the most samples of time, most samples first. The
 * set owns the strings, and the caller frees the array.
 */
static void find_hot(const struct fg_profile_set *set, struct fg_code_names *names)
{
	double sum = 0;
	double *samples = fg_profile_set_time_samples(set, &sum);
	struct hot *all = fg_xcalloc(set->function_count, sizeof(all[0]));

	for (uint32_t f = 0; f < set->function_count; f++)
		all[f] = (struct hot){.samples = samples[f], .function = f};
	qsort(all, set->function_count, sizeof(all[0]), by_samples);
	names->items = fg_xcalloc(COMPARED_MAX, sizeof(names->items[0]));
	for (size_t i = 0; i < set->function_count && names->count < COMPARED_MAX; i++) {
		const struct fg_profile_function *f = &set->functions[all[i].function];

		if (!(all[i].samples > 0))
			break;
		names->items[names->count++] = f->linkage ? f->linkage : f->name;
	}
	free(all);
	free(samples);
}

void fg_session_compare_code(const struct fg_session *session, struct fg_runner_job *job)
{
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	const struct fg_profile_set *set = count && indexes[0] < session->result.profile_count
						   ? session->result.profiles[indexes[0]]
						   : NULL;
	struct fg_code_names names = {0};

	if (!session->open.roots[FG_ARM_BASELINE])
		return;
	if (set)
		find_hot(set, &names);
	fg_runner_compare_code(job, &names);
	free(names.items);
}

/* ---- source lines ---- */

enum {
	LISTED_MAX = 3,    /* maximum number of functions listed per benchmark */
	LISTINGS_MAX = 60, /* maximum number of functions listed per run */
	FILE_MAX_BYTES = 8 << 20,
};

static const double ms_per_ns = 1e-6;

static const char *tree_of(const struct fg_session *session, size_t arm)
{
	return session->open.checkouts[arm] ? session->open.checkouts[arm]
					    : session->open.roots[arm];
}

/*
 * Returns the file's name within the tree, or NULL. With a compiler cache, debug information may
 * name the other side's folder. A relative path starts at the tree's root.
 */
static const char *name_in_tree(const struct fg_session *session, const char *file)
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const char *name = fg_fs_rest_below(tree_of(session, arm), file);

		if (name)
			return name;
	}
	if (fg_fs_rest_below(session->request.plan->root, file))
		return fg_fs_rest_below(session->request.plan->root, file);
	return *file == '/' ? NULL : file;
}

void fg_session_name_files(const struct fg_session *session, struct fg_profile_set *set)
{
	const char *root = session->request.plan->root;
	char *repository = fg_fs_find_above(root, ".git");
	const char *const folders[] = {session->open.checkouts[FG_ARM_BASELINE],
				       session->open.checkouts[FG_ARM_CANDIDATE],
				       repository ? repository : root};

	for (size_t i = 0; i < set->function_count; i++) {
		struct fg_profile_function *function = &set->functions[i];
		const char *name = NULL;

		for (size_t k = 0; function->file && k < FG_ARRAY_SIZE(folders) && !name; k++)
			name = fg_fs_rest_below(folders[k], function->file);
		if (name)
			function->file = name;
	}
	free(repository);
}

/*
 * Returns a file's text on this side, which the caller frees; NULL if the file is not part of the
 * project.
 */
static char *read_source(const struct fg_session *session, size_t arm, const char *file)
{
	const char *folders[] = {session->open.roots[arm], tree_of(session, arm)};
	const char *name = file ? name_in_tree(session, file) : NULL;
	char *text = NULL;
	size_t size = 0;

	for (size_t i = 0; name && folders[1] && i < FG_ARRAY_SIZE(folders) && !text; i++) {
		char *path = fg_fs_join(folders[i], name);

		if (fg_fs_is_below(folders[1], path) &&
		    fg_fs_read_regular(path, FILE_MAX_BYTES, &text, &size, NULL) != FG_OK)
			text = NULL;
		free(path);
	}
	return text;
}

/*
 * Returns the factor that turns line costs into times that agree with the function's row. The row
 * takes the baseline's time from its samples and the candidate's from the fitted difference, so the
 * candidate's lines are scaled by the ratio of fitted to sampled self time.
 */
static double scale_of(const struct fg_node_verdict *node, size_t arm, double total)
{
	const double fitted = node->self[FG_ARM_BASELINE] + node->delta;
	double scale = total > 0 ? node->inclusive[arm] / total : ms_per_ns;

	if (arm == FG_ARM_CANDIDATE && fitted > 0 && node->self[arm] > 0)
		scale *= fitted / node->self[arm];
	return scale;
}

static const struct fg_source_listing *list_function(const struct fg_session *session,
						     const struct fg_profile_set *set,
						     const struct fg_node_verdict *node,
						     uint32_t function, struct fg_arena *arena)
{
	struct fg_function_lines lines[FG_ARM_COUNT];
	struct fg_source_side sides[FG_ARM_COUNT] = {0};
	char *texts[FG_ARM_COUNT] = {0};
	const struct fg_source_listing *listing = NULL;
	const char *file = NULL;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		lines[arm] = fg_line_costs_of(&set->lines, function, (uint32_t)arm);
		texts[arm] = read_source(session, arm, lines[arm].file);
		sides[arm] = (struct fg_source_side){
			.text = texts[arm],
			.costs = lines[arm].items,
			.cost_count = lines[arm].count,
			.first = node->line,
			.scale = scale_of(node, arm, lines[arm].total),
		};
		if (texts[arm])
			file = name_in_tree(session, lines[arm].file);
	}
	if (file)
		listing = fg_source_listing_make(sides, file, arena);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(texts[arm]);
		free(lines[arm].items);
	}
	return listing;
}

/* ---- instructions ---- */

/* One side's code, with the cost of each instruction. */
struct code_side {
	const char *binary; /* "BUILD_ID PATH"; NULL if no binary was seen */
	struct fg_code_text code;
	struct fg_line_cost *costs; /* per instruction */
	size_t cost_count;
	double total;
};

static uint64_t costliest_address(const struct fg_function_lines *addresses)
{
	size_t best = 0;

	for (size_t i = 1; i < addresses->count; i++) {
		if (addresses->items[i].cost > addresses->items[best].cost)
			best = i;
	}
	return addresses->items[best].line;
}

/*
 * Adds up costs per instruction, because the address recorded for a call lies inside the call
 * instruction, not at its start.
 */
static void take_costs(struct code_side *side, const struct fg_function_lines *addresses)
{
	side->costs = fg_xcalloc(addresses->count, sizeof(side->costs[0]));
	for (size_t i = 0; i < addresses->count; i++) {
		const unsigned line = fg_code_text_line(&side->code, addresses->items[i].line);
		const bool again =
			side->cost_count > 0 && side->costs[side->cost_count - 1].line == line;

		if (line == 0)
			continue;
		if (again)
			side->costs[side->cost_count - 1].cost += addresses->items[i].cost;
		else
			side->costs[side->cost_count++] = (struct fg_line_cost){
				.line = line, .cost = addresses->items[i].cost};
	}
}

static void read_code(const struct fg_session *session, const struct fg_profile_set *set,
		      uint32_t function, size_t arm, struct code_side *side)
{
	struct fg_function_lines addresses =
		fg_line_costs_of(&set->instructions, function, (uint32_t)arm);
	struct fg_error why = {0};

	side->binary = addresses.file;
	side->total = addresses.total;
	if (addresses.count > 0 &&
	    fg_code_text_read(session->open.symbolizer,
			      fg_code_text_module(session->open.symbolizer, addresses.file),
			      costliest_address(&addresses), &side->code, &why) == FG_OK)
		take_costs(side, &addresses);
	free(addresses.items);
}

static const struct fg_source_listing *list_code(const struct fg_session *session,
						 const struct fg_profile_set *set,
						 const struct fg_node_verdict *node,
						 uint32_t function, struct fg_arena *arena)
{
	struct code_side code[FG_ARM_COUNT] = {0};
	struct fg_source_side sides[FG_ARM_COUNT] = {0};
	const struct fg_source_listing *listing = NULL;
	const char *binary = NULL;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		read_code(session, set, function, arm, &code[arm]);
		sides[arm] = (struct fg_source_side){
			.text = code[arm].code.text,
			.costs = code[arm].costs,
			.cost_count = code[arm].cost_count,
			.first = 1,
			.last = (unsigned)code[arm].code.count,
			.scale = scale_of(node, arm, code[arm].total),
		};
		if (code[arm].cost_count > 0)
			binary = code[arm].binary;
	}
	if (binary)
		listing = fg_source_listing_make(sides, fg_fs_base_name(binary), arena);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_code_text_release(&code[arm].code);
		free(code[arm].costs);
	}
	return listing;
}

/* ---- all benchmarks ---- */

static const struct fg_profile_set *profiles_of(const struct fg_session *session, const char *name)
{
	for (size_t i = 0;
	     i < session->result.run.series_count && i < session->result.profile_count; i++) {
		if (strcmp(session->result.run.series[i].name, name) == 0)
			return session->result.profiles[i];
	}
	return NULL;
}

void fg_session_add_sources(struct fg_session *session)
{
	struct fg_verdict *verdict = &session->result.verdict;
	unsigned listings = 0;

	if (session->request.plan->hide_source)
		return;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_blame *blame = &verdict->benchmarks[i].time;
		const struct fg_profile_set *set =
			profiles_of(session, verdict->benchmarks[i].name);

		for (size_t k = 0;
		     set && k < blame->function_count && k < LISTED_MAX && listings < LISTINGS_MAX;
		     k++) {
			struct fg_node_verdict *node = &blame->functions[k];
			const uint32_t function =
				fg_profile_set_find(set, node->name, node->library);

			if (function == UINT32_MAX || (node->standing != FG_STANDING_GUILTY &&
						       node->standing != FG_STANDING_FASTER))
				continue;
			node->source = list_function(session, set, node, function, &verdict->arena);
			node->assembly = list_code(session, set, node, function, &verdict->arena);
			listings += node->source || node->assembly;
		}
	}
}
