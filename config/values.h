/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar values: parsers and descriptions, one row per kind of key. */
#ifndef FG_CONFIG_VALUES_H
#define FG_CONFIG_VALUES_H

#include "config/schema.h"

struct fg_value_kind {
	const char *name;     /* "ratio", for the reference */
	const char *expected; /* "a ratio such as 2% or 0.02" */
	int (*parse)(const struct fg_key *key, const char *text, void *target,
		     struct fg_arena *arena, struct fg_error *err);
	const char *json_type;    /* JSON type of a bare value; NULL: string only */
	const char *json_pattern; /* pattern of a value written as text; NULL: none */
};

const struct fg_value_kind *fg_value_kind(enum fg_key_kind kind); /* `kind` must be a scalar */
/* Appends "a number from 1 to 1000". */
void fg_value_expected(const struct fg_key *key, struct fg_strbuf *text);
/* Appends "number from 1 to 1000", for a table whose page explains how each kind is written. */
void fg_value_kind_and_range(const struct fg_key *key, struct fg_strbuf *text);

#endif
