/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bundle is a run outside a store, as in an exported file or an upload. It has three parts:
 *
 * 	envelope    JSON: everything about the run that is not a measured number, and the report
 * 	dictionary  functions and call paths, packed
 * 	values      repetitions, profile weights and regions, packed; they refer to the dictionary
 * 	            by number
 *
 * docs/formats/upload.md has the details. A reader trusts nothing: it checks sizes, counts,
 * references and text.
 */
#ifndef FG_STORE_BUNDLE_H
#define FG_STORE_BUNDLE_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "store/bytes.h"
#include "store/store.h"

struct fg_bundle {
	struct fg_strbuf envelope;
	struct fg_bytes dictionary; /* a packed block */
	struct fg_bytes values;     /* a packed block */
};

struct fg_bundle_limits {
	size_t envelope_bytes;
	size_t dictionary_bytes; /* unpacked */
	size_t values_bytes;     /* unpacked */
	size_t functions;
	size_t nodes;
	size_t depth; /* maximum number of frames in a call path */
};

extern const struct fg_bundle_limits fg_bundle_limits_default;

int fg_bundle_from_run(const struct fg_stored_run *stored, struct fg_bundle *bundle,
		       struct fg_error *err) FG_NODISCARD;
void fg_bundle_release(struct fg_bundle *bundle);

int fg_bundle_to_run(const struct fg_bundle *bundle, const struct fg_bundle_limits *limits,
		     struct fg_stored_run *stored, struct fg_error *err) FG_NODISCARD;

/* ---- envelope.c ---- */

#define FG_ENVELOPE_SCHEMA "fastgate-run/1"

void fg_envelope_write(const struct fg_stored_run *stored, struct fg_strbuf *text);
int fg_envelope_read(const char *text, size_t size, size_t max, struct fg_stored_run *stored,
		     struct fg_error *err) FG_NODISCARD;

#endif
