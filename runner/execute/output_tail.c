// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/output_tail.h"

#include "base/text.h"

static bool is_blank(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

char *fg_output_tail(const struct fg_process_result *result, unsigned lines_max, size_t bytes_max)
{
	const bool from_stderr = result->stderr_size > 0;
	const char *text = from_stderr ? result->stderr_text : result->stdout_text;
	size_t size = from_stderr ? result->stderr_size : result->stdout_size;
	struct fg_strbuf tail = {0};
	size_t start = 0;
	unsigned lines = 0;

	while (size > 0 && is_blank(text[size - 1]))
		size--;
	if (!size)
		return NULL;
	for (start = size; start > 0 && size - start < bytes_max; start--) {
		if (text[start - 1] == '\n' && ++lines == lines_max)
			break;
	}
	while (start < size) {
		const char *newline = memchr(text + start, '\n', size - start);
		const size_t length = newline ? (size_t)(newline - (text + start)) : size - start;

		if (tail.length)
			fg_strbuf_add_char(&tail, '\n');
		fg_text_add_clean(&tail, text + start, length, bytes_max);
		start += length + 1;
	}
	return fg_strbuf_detach(&tail);
}
