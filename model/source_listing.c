// SPDX-License-Identifier: Apache-2.0
#include "model/source_listing.h"

#include "base/text.h"

#include <math.h>

enum {
	LINES_MAX = 300, /* of a function that are compared */
	CONTEXT = 2,     /* lines shown around one that matters */
	HEAD_REACH = 60, /* lines between the head of a function and its first cost */
	TAB_COLUMNS = 8,
};

static const double least_share = 0.01; /* of the function's cost that makes a line matter */

/* A side's lines that are compared: `count` of them, from line `first` on. */
struct range {
	unsigned first;
	unsigned count;
	const char **begin;
	size_t *length;
	double *cost; /* NaN: nothing was seen */
	double total;
	const char *text; /* of the whole file */
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

/* From the head of the function, where that is near, to the last line that costs something. */
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

static void take_line(struct range *range, const char *begin, const char *end)
{
	range->begin[range->count] = begin;
	range->length[range->count] = trimmed(begin, end);
	range->cost[range->count++] = (double)NAN;
}

static void cut_lines(const char *text, unsigned first, unsigned last, struct range *range)
{
	unsigned line = 1;

	for (const char *at = text; *at && line <= last; line++) {
		const char *end = strchrnul(at, '\n');

		if (line >= first)
			take_line(range, at, end);
		at = *end ? end + 1 : end;
	}
}

static void range_init(const struct fg_source_side *side, struct range *range)
{
	unsigned last = 0;

	*range = (struct range){.text = side->text};
	range->begin = fg_xcalloc(LINES_MAX, sizeof(range->begin[0]));
	range->length = fg_xcalloc(LINES_MAX, sizeof(range->length[0]));
	range->cost = fg_xcalloc(LINES_MAX, sizeof(range->cost[0]));
	if (!is_known(side))
		return;
	choose_lines(side, &range->first, &last);
	cut_lines(side->text, range->first, last, range);
	for (size_t i = 0; i < side->cost_count; i++) {
		const unsigned line = side->costs[i].line;

		range->total += side->costs[i].cost * side->scale;
		if (line >= range->first && line - range->first < range->count)
			range->cost[line - range->first] = side->costs[i].cost * side->scale;
	}
}

static void range_release(struct range *range)
{
	free(range->begin);
	free(range->length);
	free(range->cost);
}

static bool same_line(const struct range *a, unsigned i, const struct range *b, unsigned j)
{
	return a->length[i] == b->length[j] && memcmp(a->begin[i], b->begin[j], a->length[i]) == 0;
}

/* How many lines the rests of both sides have in common, from (i, j) on. */
static uint16_t *count_common(const struct range *a, const struct range *b)
{
	const size_t width = (size_t)b->count + 1;
	uint16_t *common = fg_xcalloc(((size_t)a->count + 1) * width, sizeof(common[0]));

	for (unsigned i = a->count; i-- > 0;) {
		for (unsigned j = b->count; j-- > 0;) {
			const uint16_t down = common[(i + 1) * width + j];
			const uint16_t right = common[i * width + j + 1];

			common[i * width + j] =
				same_line(a, i, b, j)
					? (uint16_t)(common[(i + 1) * width + j + 1] + 1)
					: (down > right ? down : right);
		}
	}
	return common;
}

static const char *clean_text(const char *begin, size_t length, struct fg_arena *arena)
{
	struct fg_strbuf wide = {0};
	struct fg_strbuf clean = {0};
	const char *text = NULL;

	for (size_t i = 0; i < length && wide.length < FG_SOURCE_TEXT_MAX; i++) {
		if (begin[i] == '\t')
			fg_strbuf_add_repeated(&wide, ' ', TAB_COLUMNS - wide.length % TAB_COLUMNS);
		else
			fg_strbuf_add_char(&wide, begin[i]);
	}
	fg_text_add_clean(&clean, fg_strbuf_text(&wide), wide.length, FG_SOURCE_TEXT_MAX);
	text = fg_arena_strdup(arena, fg_strbuf_text(&clean));
	fg_strbuf_release(&clean);
	fg_strbuf_release(&wide);
	return text;
}

/* All lines of both sides in one order: common lines once, what went before what came. */
static struct fg_source_row *merge(const struct range *a, const struct range *b, size_t *count,
				   struct fg_arena *arena)
{
	const size_t width = (size_t)b->count + 1;
	uint16_t *common = count_common(a, b);
	struct fg_source_row *rows = fg_xcalloc((size_t)a->count + b->count + 1, sizeof(rows[0]));
	unsigned i = 0;
	unsigned j = 0;

	*count = 0;
	while (i < a->count || j < b->count) {
		struct fg_source_row *row = &rows[(*count)++];
		const bool both = i < a->count && j < b->count && same_line(a, i, b, j);
		const bool left =
			both || j == b->count ||
			(i < a->count && common[(i + 1) * width + j] >= common[i * width + j + 1]);

		*row = (struct fg_source_row){.cost = {(double)NAN, (double)NAN}};
		row->text = left ? clean_text(a->begin[i], a->length[i], arena)
				 : clean_text(b->begin[j], b->length[j], arena);
		if (left) {
			row->line[0] = a->first + i;
			row->cost[0] = a->cost[i++];
		}
		if (both || !left) {
			row->line[1] = b->first + j;
			row->cost[1] = b->cost[j++];
		}
	}
	free(common);
	return rows;
}

/* ---- lines around the compared ones ---- */

/* Line `number` of the file; NULL: it has fewer. */
static const char *find_line(const char *text, unsigned number, size_t *length)
{
	for (unsigned line = 1; text && *text; line++) {
		const char *end = strchrnul(text, '\n');

		if (line == number) {
			*length = trimmed(text, end);
			return text;
		}
		text = *end ? end + 1 : NULL;
	}
	return NULL;
}

static bool has_both(const struct fg_source_row *row)
{
	return row->line[0] > 0 && row->line[1] > 0;
}

/*
 * The sides' ranges end where each has its last cost.  Rows beyond the last (`step` 1) or before
 * the first (-1) common one, all of one side, may stand in the other side's file as well.
 */
static void complete_rows(struct fg_source_row *rows, size_t count, long common, long step,
			  const struct range ranges[2])
{
	const long end = step > 0 ? (long)count : -1;
	const size_t side = common + step != end && rows[common + step].line[0] > 0 ? 0 : 1;
	const size_t other = 1 - side;

	for (long i = common + step; i != end; i += step) {
		if (rows[i].line[other] > 0)
			return;
	}
	for (long i = common + step; i != end; i += step) {
		const unsigned number = (unsigned)((long)rows[i - step].line[other] + step);
		const struct range *own = &ranges[side];
		const unsigned at = rows[i].line[side] - own->first;
		size_t length = 0;
		const char *line = find_line(ranges[other].text, number, &length);

		if (!line || length != own->length[at] || memcmp(line, own->begin[at], length) != 0)
			return;
		rows[i].line[other] = number;
	}
}

static void complete(struct fg_source_row *rows, size_t count, const struct range ranges[2])
{
	long first = 0;
	long last = (long)count - 1;

	while (first <= last && !has_both(&rows[first]))
		first++;
	if (first > last)
		return;
	while (!has_both(&rows[last]))
		last--;
	complete_rows(rows, count, last, 1, ranges);
	complete_rows(rows, count, first, -1, ranges);
}

/* ---- which are listed ---- */

static double cost_or_zero(double cost)
{
	return isnan(cost) ? 0 : cost;
}

/* By its share of the cost on either side; a line that changed always matters. */
static double weight_of(const struct fg_source_row *row, const double totals[2], bool both_known)
{
	double weight = 0;

	for (size_t side = 0; side < 2; side++) {
		const double share =
			totals[side] > 0 ? cost_or_zero(row->cost[side]) / totals[side] : 0;

		weight = fmax(weight, share >= least_share ? share : 0);
	}
	if (both_known && (row->line[0] == 0) != (row->line[1] == 0))
		weight += 1;
	return weight;
}

/* The weightiest first, each with the lines around it, as long as there is room. */
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
	struct range ranges[2];
	struct fg_source_row *rows = NULL;
	double *weights = NULL;
	bool *chosen = NULL;
	size_t count = 0;

	if (!is_known(&sides[0]) && !is_known(&sides[1]))
		return NULL;
	for (size_t side = 0; side < 2; side++)
		range_init(&sides[side], &ranges[side]);
	rows = merge(&ranges[0], &ranges[1], &count, arena);
	complete(rows, count, ranges);
	weights = fg_xcalloc(count + 1, sizeof(weights[0]));
	for (size_t i = 0; i < count; i++)
		weights[i] =
			weight_of(&rows[i], (const double[2]){ranges[0].total, ranges[1].total},
				  is_known(&sides[0]) && is_known(&sides[1]));
	chosen = choose_rows(weights, count);
	listing = fg_arena_alloc(arena, sizeof(*listing));
	listing->file = fg_arena_strdup(arena, file);
	for (size_t side = 0; side < 2; side++)
		listing->has_side[side] = is_known(&sides[side]);
	keep_rows(rows, chosen, count, listing, arena);
	for (size_t side = 0; side < 2; side++)
		range_release(&ranges[side]);
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
