// SPDX-License-Identifier: Apache-2.0
/*
 * The instructions at which samples ended, function by function, as disassembly with source lines.
 * Text shows instructions with samples and their neighbours; JSON and CSV show every instruction of
 * these functions.
 */
#include "base/fs.h"
#include "base/sort.h"
#include "profile/instruction_samples.h"
#include "profile/listing.h"
#include "profile/select.h"
#include "profile/selection.h"
#include "profile/views/view_private.h"

enum {
	FEW_FUNCTIONS = 3,
	FEW_INSTRUCTIONS = 30, /* maximum number of instructions shown per function */
	NEIGHBOURS = 2,
};

static const struct fg_view_column columns[] = {
	{"self_share", "self %", .kind = FG_CELL_SHARE, .has_error = true},
	{"self_ns", "self %t", .kind = FG_CELL_VALUE, .has_error = true},
	{"leaf_samples", "leaf", .kind = FG_CELL_COUNT},
	{"address", "address", .kind = FG_CELL_TEXT},
	{.title = "line", .kind = FG_CELL_TEXT, .left = true, .optional = 1},
	{"place", "place", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"inlined", "inlined", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"instruction", "instruction", .kind = FG_CELL_TEXT, .left = true},
};

/* The samples of one function, by address. */
struct group {
	const struct fg_listing *listing; /* NULL: the code is not available */
	const char *name;
	const char *library;
	const struct fg_instruction_sample *hits;
	size_t hit_count;
	struct fg_weight sum;
	size_t order; /* position by address */
};

struct maker {
	const struct fg_profile *profile;
	const struct fg_view_options *options;
	struct fg_view_table *table;
	struct fg_weight total;
	struct group *groups;
	size_t group_count;
};

/* ---- functions ---- */

static bool continues(const struct group *group, const struct fg_listing *listing,
		      const struct fg_profile *profile, const struct fg_frame *frame)
{
	const struct fg_frame *first = group->hits[0].frame;

	if (listing || group->listing)
		return listing == group->listing;
	return first->module == frame->module &&
	       strcmp(group->name, profile->functions[frame->function].name) == 0;
}

static void make_groups(struct maker *m, const struct fg_profile *selected,
			const struct fg_instruction_sample *hits, size_t count)
{
	struct group *group = NULL;

	m->groups = fg_xcalloc(count + 1, sizeof(m->groups[0]));
	for (size_t i = 0; i < count; i++) {
		const struct fg_frame *frame = hits[i].frame;
		const struct fg_listing *listing =
			fg_listings_find(m->profile, frame->module, frame->address);

		if (!group || !continues(group, listing, selected, frame)) {
			group = &m->groups[m->group_count];
			*group = (struct group){
				.listing = listing,
				.name = listing ? listing->name
						: selected->functions[frame->function].name,
				.library = selected->modules[frame->module].name,
				.hits = &hits[i],
				.order = m->group_count++,
			};
		}
		group->hit_count++;
		fg_weight_add(&m->table->measure, &group->sum, &hits[i].weight, 1.0);
	}
}

/* Returns true if the function, or a sampled function inlined into it, matches. */
static bool is_wanted(const struct group *group, const struct fg_profile *selected,
		      const struct fg_pattern *pattern)
{
	if (fg_matches_function(pattern, group->name, group->library))
		return true;
	for (size_t i = 0; i < group->hit_count; i++)
		if (fg_matches_function(pattern,
					selected->functions[group->hits[i].frame->function].name,
					group->library))
			return true;
	return false;
}

static int keep_wanted(struct maker *m, const struct fg_profile *selected, struct fg_error *err)
{
	struct fg_pattern pattern;
	size_t kept = 0;

	if (!m->options->function)
		return FG_OK;
	FG_TRY(fg_pattern_compile(m->options->function, &pattern, err));
	for (size_t i = 0; i < m->group_count; i++)
		if (is_wanted(&m->groups[i], selected, &pattern))
			m->groups[kept++] = m->groups[i];
	m->group_count = kept;
	fg_pattern_release(&pattern);
	return kept > 0 ? FG_OK
			: fg_error_set(err, FG_ENOENT,
				       "no sample ended in a function that matches '%s'",
				       m->options->function);
}

FG_ORDER_BY(by_sum, struct group, FG_DOWN(sum.value), FG_UP(order))

/* ---- rows ---- */

static const struct fg_weight no_weight;

/* Adds a row with the cells that rows of functions and of instructions share. */
static struct fg_view_row *add_row(struct maker *m, const struct fg_weight *weight)
{
	struct fg_view_row *row = fg_view_add_row(m->table);

	row->cells[0] = fg_cell_weight_share(weight, &m->total);
	row->cells[1] = fg_cell_weight(weight, &m->total);
	row->cells[2] = fg_cell_count((double)weight->samples);
	for (size_t i = 0; i < 3 && weight->samples == 0; i++)
		row->cells[i].text = ""; /* empty in text only: JSON and CSV have 0 */
	return row;
}

static void add_function_row(struct maker *m, const struct group *group)
{
	struct fg_view_row *row = add_row(m, &group->sum);

	row->rule_before = m->table->row_count > 1;
	row->style = FG_VIEW_PRIMARY;
	row->only_text = true;
	row->cells[FG_ARRAY_SIZE(columns) - 1] = (struct fg_view_cell){
		.kind = FG_CELL_TEXT,
		.text = fg_arena_printf(&m->table->arena, "%s  [%s]", group->name, group->library)};
}

static void add_gap(struct maker *m)
{
	struct fg_view_row *row = fg_view_add_row(m->table);

	row->style = FG_VIEW_FAINT;
	row->only_text = true;
	row->cells[FG_ARRAY_SIZE(columns) - 1] = fg_cell_text(m->table, "...");
}

static void add_instruction(struct maker *m, const struct group *group,
			    const struct fg_weight *weight, const struct fg_listed *line)
{
	struct fg_view_row *row = add_row(m, weight);
	struct fg_view_cell *cell = row->cells + 3;

	row->style = weight->samples > 0 ? FG_VIEW_PLAIN : FG_VIEW_FAINT;
	*cell++ = (struct fg_view_cell){.kind = FG_CELL_TEXT,
					.text = fg_arena_printf(&m->table->arena, "0x%llx",
								(unsigned long long)line->address)};
	*cell++ = fg_cell_place(m->table, line->file ? fg_fs_base_name(line->file) : NULL,
				line->line);
	*cell++ = fg_cell_place(m->table, line->file, line->line);
	*cell++ = fg_cell_text(m->table, line->inlined);
	*cell++ = fg_cell_text(m->table, group->library);
	*cell++ = fg_cell_text(m->table, group->name);
	*cell = fg_cell_text(m->table, line->text);
}

/* Returns the smallest value at which an instruction is shown. */
static double min_shown(const struct maker *m, const struct group *group)
{
	const size_t limit = fg_view_limit(m->options, FEW_INSTRUCTIONS);
	double *values = fg_xcalloc(group->hit_count, sizeof(values[0]));
	double least = 0;

	for (size_t i = 0; i < group->hit_count; i++)
		values[i] = group->hits[i].weight.value;
	fg_sort(values, group->hit_count);
	if (limit < group->hit_count && limit > 0)
		least = values[group->hit_count - limit];
	free(values);
	if (!m->options->all && least < m->options->floor * m->total.value)
		least = m->options->floor * m->total.value;
	return least;
}

/*
 * Finds each instruction's samples (or NULL), and marks for display the instructions with enough
 * samples and their neighbours.
 */
static void choose(const struct maker *m, const struct group *group,
		   const struct fg_instruction_sample **hits, bool *shown)
{
	const struct fg_listing *listing = group->listing;
	const double least = min_shown(m, group);
	size_t next = 0;

	for (size_t i = 0; i < listing->line_count; i++) {
		while (next < group->hit_count &&
		       group->hits[next].frame->address < listing->lines[i].address)
			next++;
		if (next < group->hit_count &&
		    group->hits[next].frame->address == listing->lines[i].address)
			hits[i] = &group->hits[next];
		shown[i] = shown[i] || m->options->all;
		if (!hits[i] || hits[i]->weight.value < least)
			continue;
		for (size_t k = i < NEIGHBOURS ? 0 : i - NEIGHBOURS;
		     k <= i + NEIGHBOURS && k < listing->line_count; k++)
			shown[k] = true;
	}
}

static void add_listing(struct maker *m, const struct group *group)
{
	const struct fg_listing *listing = group->listing;
	const struct fg_instruction_sample **hits =
		fg_xcalloc(listing->line_count + 1, sizeof(hits[0]));
	bool *shown = fg_xcalloc(listing->line_count + 1, sizeof(shown[0]));
	bool has_gap = false;

	choose(m, group, hits, shown);
	for (size_t i = 0; i < listing->line_count; i++) {
		if (!shown[i]) {
			has_gap = true;
			continue;
		}
		if (has_gap)
			add_gap(m);
		has_gap = false;
		add_instruction(m, group, hits[i] ? &hits[i]->weight : &no_weight,
				&listing->lines[i]);
	}
	if (has_gap)
		add_gap(m);
	free(hits);
	free(shown);
}

static void add_hits(struct maker *m, const struct group *group)
{
	const double least = min_shown(m, group);

	for (size_t i = 0; i < group->hit_count; i++) {
		const struct fg_frame *frame = group->hits[i].frame;

		if (m->options->all || group->hits[i].weight.value >= least)
			add_instruction(m, group, &group->hits[i].weight,
					&(struct fg_listed){.address = frame->address,
							    .file = frame->file,
							    .line = frame->line});
	}
}

static void fill(struct maker *m)
{
	const bool is_chosen = m->options->all || m->options->function;
	const size_t limit = is_chosen ? m->group_count : FEW_FUNCTIONS;
	double rest = 0;

	for (size_t i = 0; i < m->group_count; i++) {
		if (i >= limit) {
			rest += m->groups[i].sum.value;
			continue;
		}
		add_function_row(m, &m->groups[i]);
		if (m->groups[i].listing)
			add_listing(m, &m->groups[i]);
		else
			add_hits(m, &m->groups[i]);
	}
	if (limit < m->group_count)
		fg_view_note(m->table,
			     "%zu more function%s with %.1f %% of %s (--function shows one, --all "
			     "shows all)",
			     m->group_count - limit, m->group_count - limit == 1 ? "" : "s",
			     m->total.value > 0 ? 100 * rest / m->total.value : 0,
			     fg_view_whole(m->table));
}

static void sum_up(const struct fg_profile *selected, uint16_t measure, struct fg_weight *total)
{
	for (size_t i = 0; i < selected->sample_count; i++) {
		const struct fg_sample *sample = &selected->samples[i];

		if (sample->measure != measure)
			continue;
		total->value += sample->value;
		total->square += sample->value * sample->value;
		total->samples += sample->count;
	}
}

int fg_view_instructions(const struct fg_profile *profile, const struct fg_view_options *options,
			 struct fg_view_table *table, struct fg_error *err)
{
	struct maker m = {.profile = profile, .options = options, .table = table};
	struct fg_calltree_query query = options->query;
	struct fg_profile selected;
	struct fg_instruction_sample *hits = NULL;
	uint16_t measure = 0;
	size_t count = 0;
	int status = FG_OK;

	FG_TRY(fg_view_check_time(table, err));
	query.group = FG_GROUP_FUNCTION;
	query.split = FG_SPLIT_NONE;
	FG_TRY(fg_profile_select(profile, &query, &selected, err));
	FG_TRY_OUT(fg_profile_find_measure(&selected, table->measure.name, &measure, err));
	sum_up(&selected, measure, &m.total);
	count = fg_instruction_samples(&selected, measure, &hits);
	if (count == 0) {
		status = fg_error_set(
			err, FG_EUNSUPPORTED,
			"this profile has no addresses of instructions: " FG_VIEW_NEEDS_SAMPLES);
		goto out;
	}
	make_groups(&m, &selected, hits, count);
	FG_TRY_OUT(keep_wanted(&m, &selected, err));
	qsort(m.groups, m.group_count, sizeof(m.groups[0]), by_sum);
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &m.total);
	fill(&m);
out:
	free(m.groups);
	free(hits);
	fg_profile_release(&selected);
	return status;
}
