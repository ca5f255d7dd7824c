/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sample of a stored run. The store keeps sums: time by function and call path, for each
 * repetition. With measure.sampler.keep_samples, the time, thread, region, unit of work and line of
 * each sample are kept next to it, one "fastgate-profile/1" file per repetition:
 *
 * FOLDER OF THE STORE/samples/RUN/SERIES/ARM-PAIR.json.gz
 *
 * Symbols in it are resolved: neither the trace nor the binaries are needed again. The files are
 * removed with their run (`rm`, `gc`).
 */
#ifndef FG_CLI_SESSION_SAMPLES_H
#define FG_CLI_SESSION_SAMPLES_H

#include "base/error.h"
#include "profile/profile.h"
#include "store/store.h"

/* Names the samples of one repetition. */
struct fg_samples_key {
	const char *store; /* its path */
	const char *run;   /* its id */
	size_t series;     /* index */
	uint8_t arm;
	uint32_t pair;
};

/* FG_EUNSUPPORTED: the store is not a file. */
int fg_samples_keep(const struct fg_samples_key *key, const struct fg_profile *profile,
		    struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT: the samples were not kept. */
int fg_samples_load(const struct fg_samples_key *key, struct fg_profile *profile,
		    struct fg_error *err) FG_NODISCARD;
bool fg_samples_are_kept(const struct fg_samples_key *key);

/* Removes the samples of one series, or of a whole run. Succeeds if there are none. */
int fg_samples_remove_series(const char *store, const char *run, size_t series,
			     struct fg_error *err) FG_NODISCARD;
int fg_samples_remove(const char *store, const char *run, struct fg_error *err) FG_NODISCARD;
/* Removes the samples of runs that are no longer in the store. */
int fg_samples_prune(const char *path, struct fg_store *store, size_t *removed,
		     struct fg_error *err) FG_NODISCARD;

#endif
