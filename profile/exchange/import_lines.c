// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/import_lines.h"

#include "base/number.h"

enum {
	LOOKED_AT = 4096,
	MAX_NUMBER = 40
};

bool fg_lines_next(struct fg_text_lines *lines, const char **line, size_t *length)
{
	const char *stop = NULL;
	size_t count = 0;

	if (lines->at >= lines->end)
		return false;
	stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	count = stop ? (size_t)(stop - lines->at) : (size_t)(lines->end - lines->at);
	*line = lines->at;
	lines->at = stop ? stop + 1 : lines->end;
	if (count > 0 && (*line)[count - 1] == '\r')
		count--;
	*length = count;
	lines->number++;
	return true;
}

bool fg_parse_weight(const char *text, size_t length, double *value)
{
	char copy[MAX_NUMBER];

	if (length == 0 || length >= sizeof(copy) || text[0] < '0' || text[0] > '9')
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!strchr("0123456789.eE+-", text[i]) || text[i] == '\0')
			return false;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	return fg_parse_double(copy, value, NULL) == FG_OK && *value >= 0;
}

bool fg_is_text(const char *data, size_t size)
{
	const size_t looked = fg_min_size(size, LOOKED_AT);

	for (size_t i = 0; i < looked; i++) {
		const unsigned char c = (unsigned char)data[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
			return false;
	}
	return looked > 0;
}
