/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the host and the build, sorted by key: "host.cpu.model" = "AMD EPYC". Values are
 * text. Facts marked `identity` make up the coarse fingerprint; reports list the facts that differ.
 */
#ifndef FG_MODEL_ENVIRONMENT_H
#define FG_MODEL_ENVIRONMENT_H

#include "base/base.h"

struct fg_fact {
	char *key;
	char *value;
	bool identity;
};

struct fg_environment {
	struct fg_fact *facts; /* sorted by key, keys unique */
	size_t count;
	size_t capacity;
};

struct fg_fact_difference {
	const char *key;      /* borrowed from either environment */
	const char *baseline; /* NULL: absent from the baseline */
	const char *candidate;
	bool identity;
};

/* Copies key and value; replaces the value of an existing key. */
void fg_environment_set(struct fg_environment *environment, const char *key, const char *value,
			bool identity);
void fg_environment_printf(struct fg_environment *environment, const char *key, bool identity,
			   const char *format, ...) FG_PRINTF(4, 5);
const char *fg_environment_get(const struct fg_environment *environment,
			       const char *key); /* or NULL */
/* Writes a digest of the identity facts as 16 hexadecimal digits. */
void fg_environment_fingerprint(const struct fg_environment *environment, char text[17]);
/* Does the fact name a commit or its web page, instead of describing the measurement? */
bool fg_fact_is_label(const char *key);
/* Lists the facts that differ, sorted by key. The caller frees the array. */
size_t fg_environment_diff(const struct fg_environment *baseline,
			   const struct fg_environment *candidate,
			   struct fg_fact_difference **differences);
void fg_environment_copy(struct fg_environment *to, const struct fg_environment *from);
void fg_environment_release(struct fg_environment *environment);

#endif
