// SPDX-License-Identifier: Apache-2.0
/*
 * The resident memory of the largest process, by mapping, near the peak of its heap and at its end.
 */
#include "base/sort.h"
#include "profile/views/view_private.h"

enum {
	FEW_ROWS = 30,
};

enum column {
	COLUMN_SHARE,
	COLUMN_PEAK,
	COLUMN_END,
	COLUMN_NAME,
	COLUMN_COUNT,
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_SHARE] = {"share", "%", .kind = FG_CELL_SHARE},
	[COLUMN_PEAK] = {"at_peak", "at peak %t", .kind = FG_CELL_VALUE},
	[COLUMN_END] = {"at_end", "at end %t", .kind = FG_CELL_VALUE},
	[COLUMN_NAME] = {"mapping", "mapping", .kind = FG_CELL_TEXT, .left = true},
};

/* The entries of one process. */
struct part {
	const struct fg_resident *items;
	size_t count;
	double total; /* total at the peak */
	double held;
};

static struct part find_largest(const struct fg_profile *profile, size_t *processes)
{
	struct part largest = {0};
	struct part part = {0};

	*processes = 0;
	for (size_t i = 0; i < profile->resident_count; i++) {
		const struct fg_resident *resident = &profile->residents[i];

		if (i == 0 || resident->process != part.items->process) {
			part = (struct part){.items = resident};
			(*processes)++;
		}
		part.count++;
		part.total += resident->at_peak;
		if (resident->held > part.held)
			part.held = resident->held;
		if (!largest.items || part.items == largest.items || part.total > largest.total)
			largest = part;
	}
	return largest;
}

FG_ORDER_BY(largest_first, struct fg_resident, FG_DOWN(at_peak), FG_DOWN(at_end), FG_TEXT_UP(name))

static void list(struct fg_view_table *table, const struct fg_view_options *options,
		 const struct part *part)
{
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_resident *order = fg_xcalloc(part->count, sizeof(order[0]));

	memcpy(order, part->items, part->count * sizeof(order[0]));
	qsort(order, part->count, sizeof(order[0]), largest_first);
	for (size_t i = 0; i < part->count && i < limit; i++) {
		struct fg_view_cell *cells = fg_view_add_row(table)->cells;

		if (part->total > 0)
			cells[COLUMN_SHARE] = fg_cell_share(order[i].at_peak / part->total);
		cells[COLUMN_PEAK] = fg_cell_value(order[i].at_peak);
		cells[COLUMN_END] = fg_cell_value(order[i].at_end);
		cells[COLUMN_NAME] = fg_cell_text(table, order[i].name);
	}
	if (part->count > limit)
		fg_view_note(table, "%zu more mapping%s (--rows N, --all)", part->count - limit,
			     part->count - limit == 1 ? "" : "s");
	free(order);
}

int fg_view_resident(const struct fg_profile *profile, const struct fg_view_options *options,
		     struct fg_view_table *table, struct fg_error *err)
{
	char total[FG_NUMBER_TEXT_SIZE];
	char held[FG_NUMBER_TEXT_SIZE];
	size_t processes = 0;
	struct part part;

	if (profile->resident_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "resident memory is not known here: use fastgate record "
				    "--measure heap");
	part = find_largest(profile, &processes);
	fg_view_columns(table, columns, COLUMN_COUNT);
	fg_view_head(table, "%s: %s resident when the heap held %s",
		     profile->processes[part.items->process].command,
		     fg_format_size(part.total, total), fg_format_size(part.held, held));
	list(table, options, &part);
	if (processes > 1)
		fg_view_note(table, "%zu more process%s with less memory", processes - 1,
			     processes == 2 ? "" : "es");
	return FG_OK;
}
