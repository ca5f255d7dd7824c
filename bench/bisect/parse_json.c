// SPDX-License-Identifier: Apache-2.0
#include "cJSON.h"

#include <stdio.h>
int main(void)
{
	static char text[64 * 1000];
	size_t length = 1, parsed_count = 0;
	text[0] = '[';
	for (int i = 0; i < 1000; i++)
		length += (size_t)sprintf(text + length, "%s[%d,%d.25]", i ? "," : "", i, i);
	text[length] = ']';
	for (int i = 0; i < 400; i++) {
		cJSON *parsed = cJSON_Parse(text);
		parsed_count += parsed != NULL;
		cJSON_Delete(parsed);
	}
	return parsed_count != 400;
}
