/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other tools' profiles, so that they can be viewed, compared and exported like fastgate's own.
 *
 * A format is a row of the table in import.c and a file import_<name>.c. Input is untrusted: every
 * format has the same limits, an error in a line of text names the line, and assumptions and
 * omissions become notes in the profile.
 */
#ifndef FG_EXCHANGE_IMPORT_H
#define FG_EXCHANGE_IMPORT_H

#include "base/error.h"
#include "profile/profile.h"

enum {
	FG_IMPORT_MAX_BYTES = 512 << 20,   /* maximum size of a file, packed or not */
	FG_IMPORT_MAX_FUNCTIONS = 1 << 22, /* also the limit for pairs of function and line */
	FG_IMPORT_MAX_STACKS = 1 << 24,
	FG_IMPORT_MAX_DEPTH = 8192,
	FG_IMPORT_MAX_NAME = 16384,
	/* all samples together: sums of nanoseconds fit into 64-bit integers */
	FG_IMPORT_MAX_YEARS = 100,
};

struct fg_import_sink;

struct fg_import_options {
	const char *program; /* name of the root; NULL: "imported" */
	uint64_t period_ns;  /* value of a sample if the format has none; 0: 1 ms */
};

struct fg_import_format {
	const char *name;
	const char *description;                   /* one line for help and the manual */
	bool (*is)(const char *data, size_t size); /* recognises the format by the first bytes */
	int (*read)(const char *data, size_t size, const struct fg_import_options *options,
		    struct fg_import_sink *sink, struct fg_error *err);
};

extern const struct fg_import_format fg_import_formats[]; /* the last row has no name */

/* NULL: no such format. */
const struct fg_import_format *fg_import_find(const char *name);
/* `data` may be packed by gzip, as for fg_import_read(). NULL: no known format. */
const struct fg_import_format *fg_import_detect(const char *data, size_t size);

/* `profile` must not be initialised. On success it is filled, and the caller releases it. */
int fg_import_read(const struct fg_import_format *format, const char *data, size_t size,
		   const struct fg_import_options *options, struct fg_profile *profile,
		   struct fg_error *err) FG_NODISCARD;

#endif
