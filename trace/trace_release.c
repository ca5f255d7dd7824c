// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_read.h"

#include <stdlib.h>

void fg_trace_release(struct fg_trace *trace)
{
	free(trace->frames);
	free(trace->paths);
	free(trace->modules);
	free(trace->threads);
	free(trace->names);
	free(trace->regions);
	free(trace->samples);
	free(trace->times);
	free(trace->changes);
	free(trace->marks);
	free(trace->measures);
	free(trace->values);
	free(trace->patterns);
	free(trace->signatures);
	free(trace->domains);
	free(trace->call_times);
	free(trace->caughts);
	free(trace->residents);
	free(trace->helds);
	free(trace->call_values);
	free(trace->ways);
	free(trace->refusals);
	free(trace->symbols);
	free(trace->notes);
	free(trace->codes);
	free(trace->code_lines);
	fg_arena_release(&trace->arena);
	*trace = (struct fg_trace){0};
}

const char *fg_trace_symbol_at(const struct fg_trace *trace, uint32_t module, uint64_t offset)
{
	const struct fg_trace_symbol *found = NULL;
	size_t low = 0;
	size_t high = trace->symbol_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct fg_trace_symbol *at = &trace->symbols[middle];

		if (at->module < module || (at->module == module && at->start <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		found = &trace->symbols[low - 1];
	return found && found->module == module && offset - found->start < found->size ? found->name
										       : NULL;
}
