/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the traces of one repetition into rows of a profile set, one per measure, as `fastgate run`
 * does after each execution. Keep one symbolizer open for the whole run: it looks up an address
 * once, even if many repetitions contain it.
 */
#ifndef FG_PROFILE_INGEST_H
#define FG_PROFILE_INGEST_H

#include "binary/symbolizer.h"
#include "model/build_facts.h"
#include "profile/profile.h"

struct fg_ingest_row {
	uint8_t arm;    /* enum fg_arm of model/run.h */
	uint16_t aside; /* enum fg_aside */
	uint32_t pair;
	/*
	 * Functions of the program `program` are recorded as functions of `called`, so that
	 * programs with different names can be compared.
	 */
	const char *program; /* base name; NULL: unchanged */
	const char *called;
	/*
	 * Fills `other_code` of the result: the mapped files that these facts of the build do not
	 * name (plugins, child programs). NULL: not requested.
	 */
	const struct fg_build_facts *known_build;
};

/* Findings for the caller to report; release with fg_ingest_result_release(). */
struct fg_ingest_result {
	uint64_t samples;
	uint32_t processes;
	double total_ns; /* sum of the weights */
	double cpu_ns;   /* according to the kernel; 0: unknown */
	uint64_t period_ns;
	/*
	 * Digest of the other code mapped in all processes: 16 hexadecimal digits over each file's
	 * name and build-id (or its content, if it has no build-id).
	 */
	char other_code[17];
	char *other_names; /* names of the other files, sorted, separated by blanks */
	char *first_note;  /* the first note about something unusual, for people; NULL: none */
	size_t note_count;
};

/*
 * `path` is a trace or a folder of traces.  On failure the set is as it was.  `result` may be NULL.
 * Regions become region rows; units of work become rows of the region "unit of work: KIND".
 */
int fg_profile_ingest(struct fg_profile_set *set, const char *path,
		      struct fg_symbolizer *symbolizer, const struct fg_ingest_row *row,
		      struct fg_ingest_result *result, struct fg_error *err) FG_NODISCARD;
void fg_ingest_result_release(struct fg_ingest_result *result);

/* Like fg_profile_ingest(), for a profile in memory; `result` may be NULL. */
void fg_profile_ingest_profile(struct fg_profile_set *set, const struct fg_profile *profile,
			       const struct fg_ingest_row *row, struct fg_ingest_result *result);

#endif
