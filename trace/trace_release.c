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
