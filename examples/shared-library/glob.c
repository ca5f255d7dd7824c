// SPDX-License-Identifier: Apache-2.0
#include "glob.h"

#include <stddef.h>

int glob_match(const char *pattern, const char *text)
{
	const char *star = NULL;
	const char *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}
