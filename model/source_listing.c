// SPDX-License-Identifier: Apache-2.0
#include "model/source_listing.h"

#include "base/text.h"

#include <math.h>

enum {
	LINES_MAX = 300,              /* maximum number of lines of a function */
	CELLS_MAX = 16 * 1024 * 1024, /* maximum number of pairs of lines compared */
	REACH = 1500, /* lines compared around a function if whole files are too long */
	CONTEXT = 2,  /* lines shown around an important line */
	/* maximum number of lines from the head to the first cost if the end is unknown */
	HEAD_REACH = 60,
	TAB_COLUMNS = 8,
};

/* a line with at least this share of the function's cost is important */
static const double min_share = 0.01;

/* A side's file as lines. */
struct lines {
	unsigned count;
	unsigned first; /* first line of the function, counted from 1; 0: unknown */
	unsigned last;
	const char **begin;
	size_t *length;
	double *cost; /* NaN: no samples */
	double total;
};

static bool is_known(const struct fg_source_side *side)
{
	return side->text && side->cost_count > 0;
}

static unsigned hottest_line(const struct fg_source_side *side)
{
	size_t best = 0;

	for (size_t i = 1; i < side->cost_count; i++)
		if (side->costs[i].cost > side->costs[best].cost)
			best = i;
	return side->costs[best].line;
}

/*
 * Chooses the function's lines, from its head to its end. A head far above the first cost counts
 * only if the end is known; without a known end, the lines end shortly after the last cost. At most
 * LINES_MAX lines are chosen, around the hottest.
 */
static void choose_lines(const struct fg_source_side *side, unsigned *first, unsigned *last)
{
	const unsigned hottest = hottest_line(side);

	*first = side->costs[0].line;
	*last = side->costs[side->cost_count - 1].line + CONTEXT;
	if (side->first > 0 && side->first < *first &&
	    (*first - side->first <= HEAD_REACH || side->last > 0))
		*first = side->first;
	if (side->last > 0)
		*last = side->last;
	if (*last - *first < LINES_MAX)
		return;
	if (hottest - *first > LINES_MAX / 2)
		*first = hottest - LINES_MAX / 2;
	if (*last - *first >= LINES_MAX)
		*last = *first + LINES_MAX - 1;
}

static size_t trimmed(const char *begin, const char *end)
{
	while (end > begin && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (size_t)(end - begin);
}

static unsigned count_lines(const char *text)
{
	unsigned count = 0;

	for (const char *at = text; *at; count++) {
		at = strchrnul(at, '\n');
		at += *at == '\n';
	}
	return count;
}

static void cut_lines(const char *text, struct lines *lines)
{
	for (unsigned i = 0; i < lines->count; i++) {
		const char *end = strchrnul(text, '\n');

		lines->begin[i] = text;
		lines->length[i] = trimmed(text, end);
		lines->cost[i] = (double)NAN;
		text = *end ? end + 1 : end;
	}
}

static void lines_init(const struct fg_source_side *side, struct lines *lines)
{
	*lines = (struct lines){.count = is_known(side) ? count_lines(side->text) : 0};
	lines->begin = fg_xcalloc(lines->count + 1, sizeof(lines->begin[0]));
	lines->length = fg_xcalloc(lines->count + 1, sizeof(lines->length[0]));
	lines->cost = fg_xcalloc(lines->count + 1, sizeof(lines->cost[0]));
	if (lines->count == 0)
		return;
	choose_lines(side, &lines->first, &lines->last);
	cut_lines(side->text, lines);
	for (size_t i = 0; i < side->cost_count; i++) {
		const unsigned line = side->costs[i].line;

		lines->total += side->costs[i].cost * side->scale;
		if (line >= 1 && line <= lines->count)
			lines->cost[line - 1] = side->costs[i].cost * side->scale;
	}
}

static void lines_release(struct lines *lines)
{
	free(lines->begin);
	free(lines->length);
	free(lines->cost);
}

static bool same_line(const struct lines *a, unsigned i, const struct lines *b, unsigned j)
{
	return a->length[i] == b->length[j] && memcmp(a->begin[i], b->begin[j], a->length[i]) == 0;
}

/* Lines [from, to). */
struct span {
	unsigned from;
	unsigned to;
};

/*
 * Computes, for each (i, j), the length of the longest common subsequence of the spans from there
 * on.
 */
static uint16_t *count_common(const struct lines *a, struct span in_a, const struct lines *b,
			      struct span in_b)
{
	const size_t width = (size_t)(in_b.to - in_b.from) + 1;
	uint16_t *common =
		fg_xcalloc(((size_t)(in_a.to - in_a.from) + 1) * width, sizeof(common[0]));

	for (size_t i = in_a.to - in_a.from; i-- > 0;) {
		for (size_t j = in_b.to - in_b.from; j-- > 0;) {
			const uint16_t down = common[(i + 1) * width + j];
			const uint16_t right = common[i * width + j + 1];

			common[i * width + j] =
				same_line(a, in_a.from + (unsigned)i, b, in_b.from + (unsigned)j)
					? (uint16_t)(common[(i + 1) * width + j + 1] + 1)
					: (down > right ? down : right);
		}
	}
	return common;
}

static void pair_span(const struct lines *a, struct span in_a, const struct lines *b,
		      struct span in_b, unsigned *partners)
{
	const size_t width = (size_t)(in_b.to - in_b.from) + 1;
	uint16_t *common = count_common(a, in_a, b, in_b);
	unsigned i = in_a.from;
	unsigned j = in_b.from;

	while (i < in_a.to && j < in_b.to) {
		const size_t at = (i - in_a.from) * width + j - in_b.from;

		if (same_line(a, i, b, j))
			partners[i++] = ++j;
		else if (common[at + width] >= common[at + 1])
			i++;
		else
			j++;
	}
	free(common);
}

/* Limits the span to REACH lines before and after the function. */
static struct span near_function(struct span span, const struct lines *lines)
{
	const unsigned from = lines->first > REACH ? lines->first - REACH : 0;
	const unsigned to = lines->last + REACH;

	span.from = from > span.from ? from : span.from;
	span.to = to < span.to ? to : span.to;
	span.to = span.to > span.from ? span.to : span.from;
	return span;
}

/*
 * Maps each line of the baseline's file to its number in the candidate's; 0: deleted. Compares
 * whole files unless they are too long: the known ranges of the function need not match on the two
 * sides.
 */
static unsigned *pair_lines(const struct lines *a, const struct lines *b)
{
	unsigned *partners = fg_xcalloc((size_t)a->count + 1, sizeof(partners[0]));
	struct span in_a = {.to = a->count};
	struct span in_b = {.to = b->count};

	while (in_a.from < in_a.to && in_b.from < in_b.to &&
	       same_line(a, in_a.from, b, in_b.from)) {
		partners[in_a.from++] = in_b.from + 1;
		in_b.from++;
	}
	while (in_a.from < in_a.to && in_b.from < in_b.to &&
	       same_line(a, in_a.to - 1, b, in_b.to - 1))
		partners[--in_a.to] = in_b.to--;
	if ((size_t)(in_a.to - in_a.from) * (in_b.to - in_b.from) > CELLS_MAX) {
		in_a = near_function(in_a, a);
		in_b = near_function(in_b, b);
	}
	pair_span(a, in_a, b, in_b, partners);
	return partners;
}

static const char *clean_text(const char *begin, size_t length, struct fg_arena *arena)
{
	struct fg_strbuf wide = {0};
	struct fg_strbuf clean = {0};

	for (size_t i = 0; i < length && wide.length < FG_SOURCE_TEXT_MAX; i++) {
		if (begin[i] == '\t')
			fg_strbuf_add_repeated(&wide, ' ', TAB_COLUMNS - wide.length % TAB_COLUMNS);
		else
			fg_strbuf_add_char(&wide, begin[i]);
	}
	fg_text_add_clean(&clean, fg_strbuf_text(&wide), wide.length, FG_SOURCE_TEXT_MAX);
	fg_strbuf_release(&wide);
	return fg_strbuf_keep(&clean, arena);
}

static bool is_of_function(const struct lines *lines, unsigned line)
{
	return line > 0 && line >= lines->first && line <= lines->last;
}

/* Merges the functions' lines in order: common lines once, deleted lines before added ones. */
static struct fg_source_row *merge(const struct lines *a, const struct lines *b, size_t *count,
				   struct fg_arena *arena)
{
	unsigned *partners = pair_lines(a, b);
	struct fg_source_row *rows = fg_xcalloc((size_t)LINES_MAX * 2 + 1, sizeof(rows[0]));
	unsigned i = 0;
	unsigned j = 0;

	*count = 0;
	while (i < a->count || j < b->count) {
		struct fg_source_row *row = &rows[*count];
		const bool gone = i < a->count && partners[i] == 0;
		const bool came = !gone && j < b->count && (i == a->count || j + 1 < partners[i]);

		*row = (struct fg_source_row){.cost = {(double)NAN, (double)NAN}};
		if (!came) {
			row->cost[0] = a->cost[i];
			row->line[0] = ++i;
		}
		if (!gone) {
			row->cost[1] = b->cost[j];
			row->line[1] = ++j;
		}
		if (!is_of_function(a, row->line[0]) && !is_of_function(b, row->line[1]))
			continue;
		row->text = gone ? clean_text(a->begin[i - 1], a->length[i - 1], arena)
				 : clean_text(b->begin[j - 1], b->length[j - 1], arena);
		(*count)++;
	}
	free(partners);
	return rows;
}

/* ---- listed lines ---- */

static double cost_or_zero(double cost)
{
	return isnan(cost) ? 0 : cost;
}

/*
 * Returns a line's importance: the larger of its shares of both sides' costs, 0 if tiny, plus 1 if
 * the line changed.
 */
static double weight_of(const struct fg_source_row *row, const double totals[2], bool both_known)
{
	double weight = 0;

	for (size_t side = 0; side < 2; side++) {
		const double share =
			totals[side] > 0 ? cost_or_zero(row->cost[side]) / totals[side] : 0;

		weight = fmax(weight, share >= min_share ? share : 0);
	}
	if (both_known && (row->line[0] == 0) != (row->line[1] == 0))
		weight += 1;
	return weight;
}

/* Chooses the rows with the largest weights and the lines around each, within the limit. */
static bool *choose_rows(const double *weights, size_t count)
{
	bool *chosen = fg_xcalloc(count + 1, sizeof(chosen[0]));
	bool *tried = fg_xcalloc(count + 1, sizeof(tried[0]));
	size_t room = FG_SOURCE_ROWS_MAX;

	for (;;) {
		size_t best = count;

		for (size_t i = 0; i < count; i++)
			if (!tried[i] && weights[i] > 0 &&
			    (best == count || weights[i] > weights[best]))
				best = i;
		if (best == count)
			break;
		tried[best] = true;
		for (size_t i = best > CONTEXT ? best - CONTEXT : 0;
		     i < count && i <= best + CONTEXT; i++) {
			if (chosen[i] || (room <= (size_t)2 * CONTEXT && i != best) || room == 0)
				continue;
			chosen[i] = true;
			room--;
		}
	}
	free(tried);
	return chosen;
}

static void keep_rows(const struct fg_source_row *rows, const bool *chosen, size_t count,
		      struct fg_source_listing *listing, struct fg_arena *arena)
{
	const size_t side = listing->has_side[1] ? 1 : 0;
	double most = 0;

	listing->rows = fg_arena_array(arena, FG_SOURCE_ROWS_MAX, sizeof(rows[0]));
	for (size_t i = 0; i < count; i++) {
		if (!chosen[i])
			continue;
		if (cost_or_zero(rows[i].cost[side]) > most) {
			most = rows[i].cost[side];
			listing->hottest = listing->row_count;
		}
		listing->rows[listing->row_count++] = rows[i];
	}
}

const struct fg_source_listing *fg_source_listing_make(const struct fg_source_side sides[2],
						       const char *file, struct fg_arena *arena)
{
	struct fg_source_listing *listing = NULL;
	struct lines lines[2];
	struct fg_source_row *rows = NULL;
	double *weights = NULL;
	bool *chosen = NULL;
	size_t count = 0;

	if (!is_known(&sides[0]) && !is_known(&sides[1]))
		return NULL;
	for (size_t side = 0; side < 2; side++)
		lines_init(&sides[side], &lines[side]);
	rows = merge(&lines[0], &lines[1], &count, arena);
	weights = fg_xcalloc(count + 1, sizeof(weights[0]));
	for (size_t i = 0; i < count; i++)
		weights[i] = weight_of(&rows[i], (const double[2]){lines[0].total, lines[1].total},
				       is_known(&sides[0]) && is_known(&sides[1]));
	chosen = choose_rows(weights, count);
	listing = fg_arena_alloc(arena, sizeof(*listing));
	listing->file = fg_arena_strdup(arena, file);
	for (size_t side = 0; side < 2; side++)
		listing->has_side[side] = is_known(&sides[side]);
	keep_rows(rows, chosen, count, listing, arena);
	for (size_t side = 0; side < 2; side++)
		lines_release(&lines[side]);
	free(rows);
	free(weights);
	free(chosen);
	return listing->row_count > 0 ? listing : NULL;
}

unsigned fg_source_listing_line(const struct fg_source_listing *listing)
{
	const struct fg_source_row *best = NULL;

	for (size_t i = 0; i < listing->row_count; i++) {
		const struct fg_source_row *row = &listing->rows[i];

		if (listing->has_side[0] && row->line[0] == 0 && row->line[1] > 0 &&
		    cost_or_zero(row->cost[1]) > (best ? best->cost[1] : 0))
			best = row;
	}
	if (!best)
		best = &listing->rows[listing->hottest];
	return best->line[1];
}
