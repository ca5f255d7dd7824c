/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table in import.c: one pair of functions per format, in import_<format>.c. */
#ifndef FG_EXCHANGE_IMPORT_FORMATS_H
#define FG_EXCHANGE_IMPORT_FORMATS_H

#include "profile/exchange/import.h"

bool fg_import_folded_is(const char *data, size_t size);
int fg_import_folded_read(const char *data, size_t size, const struct fg_import_options *options,
			  struct fg_import_sink *sink, struct fg_error *err);
bool fg_import_callgrind_is(const char *data, size_t size);
int fg_import_callgrind_read(const char *data, size_t size, const struct fg_import_options *options,
			     struct fg_import_sink *sink, struct fg_error *err);

#endif
