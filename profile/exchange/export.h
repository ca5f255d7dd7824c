/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile in the formats that other tools read.  A format is a row of the table in export.c and a
 * file export_<name>.c.  Equal profiles and options give equal bytes.
 */
#ifndef FG_EXCHANGE_EXPORT_H
#define FG_EXCHANGE_EXPORT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/profile.h"

struct fg_export_options {
	bool samples;             /* folded: count samples instead of nanoseconds */
	const char *tool_version; /* for formats that name their writer; NULL: none */
};

struct fg_export_format {
	const char *name;
	const char *extension;   /* file name extension: ".pb.gz" */
	const char *description; /* one line for help and the manual */
	bool is_binary;          /* not printed on a terminal */
	bool has_repetitions;    /* distinguishes the repetitions of a stored run */
	bool has_calls;          /* has calls, not samples: filters for samples do not apply */
	int (*write)(const struct fg_profile *profile, const struct fg_export_options *options,
		     struct fg_strbuf *out, struct fg_error *err);
};

extern const struct fg_export_format fg_export_formats[]; /* the last row has no name */

#endif
