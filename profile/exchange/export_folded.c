// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks. A name cannot contain the format's separators: ';' becomes ':', and line ends
 * become blanks. Stacks whose frames have the same names (but other lines or addresses) share one
 * line.
 */
#include "base/map.h"
#include "base/printable.h"
#include "base/sort.h"
#include "profile/exchange/export_formats.h"
#include "profile/instruction_samples.h"

#include <inttypes.h>
#include <math.h>

struct folded_line {
	const char *stack;
	double weight;
};

static void add_name(struct fg_strbuf *line, const char *name)
{
	const size_t start = line->length;

	fg_strbuf_add_text(line, name);
	for (size_t i = start; i < line->length; i++) {
		char *c = &line->data[i];

		*c = fg_printable(*c);
		if (*c == ';')
			*c = ':';
	}
}

static void fold(const struct fg_profile *profile, uint32_t stack, struct fg_strbuf *line)
{
	size_t depth = 0;
	const char **names = fg_stack_names(profile, stack, &depth);

	fg_strbuf_clear(line);
	if (depth == 0)
		fg_strbuf_add_text(line, "[no stack]");
	for (size_t i = 0; i < depth; i++) {
		if (i > 0)
			fg_strbuf_add_char(line, ';');
		add_name(line, names[i]);
	}
	free(names);
}

FG_ORDER_BY(by_text, struct folded_line, FG_TEXT_UP(stack))

static void write_lines(const struct fg_map *lines, const double *weights, struct fg_strbuf *out)
{
	struct folded_line *sorted = fg_xcalloc(lines->count, sizeof(*sorted));

	for (size_t i = 0; i < lines->count; i++)
		sorted[i] = (struct folded_line){lines->entries[i].key, weights[i]};
	qsort(sorted, lines->count, sizeof(*sorted), by_text);
	for (size_t i = 0; i < lines->count; i++)
		fg_strbuf_printf(out, "%s %" PRIu64 "\n", sorted[i].stack,
				 (uint64_t)llround(sorted[i].weight));
	free(sorted);
}

int fg_export_folded(const struct fg_profile *profile, const struct fg_export_options *options,
		     struct fg_strbuf *out, struct fg_error *err)
{
	const struct fg_measure *measure = &profile->measures[0].is;
	struct fg_weight *stacks = fg_stack_weights(profile, 0);
	struct fg_map lines = {0}; /* text → index into weights */
	struct fg_strbuf line = {0};
	double *weights = NULL;
	size_t weight_capacity = 0;

	(void)err;
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		uint64_t *place = NULL;
		bool is_new = false;

		if (!(stacks[i].value > 0))
			continue;
		fold(profile, i, &line);
		place = fg_map_add(&lines, line.data, line.length, lines.count, &is_new);
		weights = fg_grow(weights, &weight_capacity, lines.count, sizeof(*weights));
		if (is_new)
			weights[*place] = 0;
		weights[*place] = options->samples ? weights[*place] + (double)stacks[i].samples
						   : fg_measure_join(measure->fold, weights[*place],
								     stacks[i].value);
	}
	write_lines(&lines, weights, out);
	fg_map_release(&lines);
	fg_strbuf_release(&line);
	free(weights);
	free(stacks);
	return FG_OK;
}
