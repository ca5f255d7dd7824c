// SPDX-License-Identifier: Apache-2.0
/* Exceptions: what was thrown by which call path, and which function caught it. */
#include "profile/views/view_private.h"

enum {
	FEW_ROWS = 30,
};

enum column {
	COLUMN_SHARE,
	COLUMN_COUNTED,
	COLUMN_TYPE,
	COLUMN_CAUGHT,
	COLUMN_THROWN,
	COLUMN_COUNT,
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_SHARE] = {"share", "%", .kind = FG_CELL_SHARE},
	[COLUMN_COUNTED] = {"count", "caught", .kind = FG_CELL_COUNT},
	[COLUMN_TYPE] = {"type", "type", .kind = FG_CELL_TEXT, .left = true},
	[COLUMN_CAUGHT] = {"caught_by", "caught by", .kind = FG_CELL_TEXT, .left = true},
	[COLUMN_THROWN] = {"thrown_by", "thrown by", .kind = FG_CELL_TEXT, .left = true},
};

static int by_ends(const struct fg_caught *a, const struct fg_caught *b)
{
	const int types = strcmp(a->type, b->type);

	if (types)
		return types;
	if (a->thrown != b->thrown)
		return a->thrown < b->thrown ? -1 : 1;
	if (a->caught != b->caught)
		return a->caught < b->caught ? -1 : 1;
	return (int)a->is_again - (int)b->is_again;
}

static int in_order(const void *left, const void *right)
{
	return by_ends(left, right);
}

static int most_first(const void *left, const void *right)
{
	const struct fg_caught *a = left;
	const struct fg_caught *b = right;

	if (a->count > b->count || a->count < b->count)
		return a->count > b->count ? -1 : 1;
	return by_ends(a, b);
}

static const char *name_of(const struct fg_profile *profile, uint32_t stack)
{
	const struct fg_frame *frame = &profile->frames[profile->stacks[stack].frame];

	return stack ? profile->functions[frame->function].name : "(not known)";
}

/* Threads and processes have pairs of their own: those of the same ends become one. */
static size_t join(struct fg_caught *pairs, size_t count)
{
	size_t kept = 0;

	qsort(pairs, count, sizeof(pairs[0]), in_order);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && by_ends(&pairs[kept - 1], &pairs[i]) == 0)
			pairs[kept - 1].count += pairs[i].count;
		else
			pairs[kept++] = pairs[i];
	}
	qsort(pairs, kept, sizeof(pairs[0]), most_first);
	return kept;
}

static void add_row(struct fg_view_table *table, const struct fg_profile *profile,
		    const struct fg_caught *pair, double thrown)
{
	struct fg_view_cell *cells = fg_view_add_row(table)->cells;
	struct fg_strbuf path = {0};
	struct fg_strbuf catcher = {0};

	fg_profile_add_path(&path, profile, pair->thrown);
	fg_strbuf_printf(&catcher, "%s%s", name_of(profile, pair->caught),
			 pair->is_again ? ", again" : "");
	if (thrown > 0)
		cells[COLUMN_SHARE] = fg_cell_share(pair->count / thrown);
	cells[COLUMN_COUNTED] = fg_cell_count(pair->count);
	cells[COLUMN_TYPE] = fg_cell_text(table, *pair->type ? pair->type : "(not known)");
	cells[COLUMN_CAUGHT] = fg_cell_text(table, fg_strbuf_text(&catcher));
	cells[COLUMN_THROWN] =
		fg_cell_text(table, pair->thrown ? fg_strbuf_text(&path) : "(not known)");
	fg_strbuf_release(&path);
	fg_strbuf_release(&catcher);
}

static void list(struct fg_view_table *table, const struct fg_profile *profile,
		 const struct fg_view_options *options, const struct fg_pattern *pattern)
{
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	const double thrown = fg_view_whole_total(table, profile);
	struct fg_caught *pairs = fg_xcalloc(profile->caught_count + 1, sizeof(pairs[0]));
	size_t count = 0;
	double caught = 0;
	size_t shown = 0;

	for (size_t i = 0; i < profile->caught_count; i++) {
		const struct fg_caught *pair = &profile->caughts[i];

		if (!pair->is_again && pair->thrown)
			caught += pair->count;
		if (!pattern || fg_pattern_matches(pattern, name_of(profile, pair->thrown)) ||
		    fg_pattern_matches(pattern, name_of(profile, pair->caught)))
			pairs[count++] = *pair;
	}
	count = join(pairs, count);
	for (; shown < count && shown < limit; shown++)
		add_row(table, profile, &pairs[shown], thrown);
	if (count > shown)
		fg_view_note(table, "%zu more pairs of call paths (--rows N, --all)",
			     count - shown);
	if (thrown > caught)
		fg_view_note(table,
			     "%.0f of %.0f exceptions were caught out of sight, or not at all",
			     thrown - caught, thrown);
	free(pairs);
}

int fg_view_throws(const struct fg_profile *profile, const struct fg_view_options *options,
		   struct fg_view_table *table, struct fg_error *err)
{
	struct fg_pattern pattern;
	int status = FG_OK;

	if (options->function) {
		status = fg_pattern_compile(options->function, &pattern, err);
		if (status != FG_OK)
			return status;
	}
	fg_view_columns(table, columns, COLUMN_COUNT);
	list(table, profile, options, options->function ? &pattern : NULL);
	if (options->function)
		fg_pattern_release(&pattern);
	return FG_OK;
}
