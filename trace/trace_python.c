// SPDX-License-Identifier: Apache-2.0
/* The tables of lines of Python code, which a trace has in parts. */
#include "trace/trace_read.h"

static int by_code_and_position(const void *left, const void *right)
{
	const struct fg_trace_code_lines *a = left;
	const struct fg_trace_code_lines *b = right;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

/* Puts the parts of a code's table together, as far as they follow each other. */
static size_t join_lines(struct fg_trace *trace, size_t first)
{
	const uint32_t id = trace->code_lines[first].code;
	struct fg_trace_code *code = id < trace->code_count ? &trace->codes[id] : NULL;
	size_t end = first;
	size_t size = 0;
	uint8_t *whole = NULL;

	while (end < trace->code_line_count && trace->code_lines[end].code == id &&
	       trace->code_lines[end].position == size)
		size += trace->code_lines[end++].size;
	if (code && size > 0) {
		whole = fg_arena_alloc(&trace->arena, size);
		for (size_t i = first; i < end; i++)
			memcpy(whole + trace->code_lines[i].position, trace->code_lines[i].bytes,
			       trace->code_lines[i].size);
		code->lines = whole;
		code->lines_size = size;
	}
	while (end < trace->code_line_count && trace->code_lines[end].code == id)
		end++;
	return end;
}

void fg_trace_join_python_lines(struct fg_trace *trace)
{
	if (trace->code_line_count == 0)
		return;
	qsort(trace->code_lines, trace->code_line_count, sizeof(trace->code_lines[0]),
	      by_code_and_position);
	for (size_t i = 0; i < trace->code_line_count;)
		i = join_lines(trace, i);
}
