/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an export format by its name. */
#ifndef FG_TEST_FORMAT_H
#define FG_TEST_FORMAT_H

#include "profile/exchange/export.h"
#include "tests/support/fg_test.h"

#include <string.h>

static inline const struct fg_export_format *find_format(const char *name)
{
	const struct fg_export_format *format = fg_export_formats;

	while (format->name && strcmp(format->name, name) != 0)
		format++;
	assert_non_null(format->name);
	return format;
}

#endif
