/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sample of a stored run.  The store keeps sums: time by function and call path, of each
 * repetition.  When each sample happened, in which thread, region, unit of work and line, is kept
 * beside it where somebody asked for that (measure.sampler.keep_samples), a file of
 * "fastgate-profile/1" a repetition:
 *
 *	FOLDER OF THE STORE/samples/RUN/SERIES/ARM-PAIR.json.gz
 *
 * Symbols are resolved in it already: neither the trace nor the binaries are needed again.  The
 * files belong to their run: they go with it (`rm`, `gc`).
 */
#ifndef FG_CLI_SESSION_SAMPLES_H
#define FG_CLI_SESSION_SAMPLES_H

#include "base/error.h"
#include "profile/profile.h"
#include "store/store.h"

/* Which repetition's. */
struct fg_samples_key {
	const char *store; /* its path */
	const char *run;   /* its id */
	size_t series;     /* index */
	uint8_t arm;
	uint32_t pair;
};

/* FG_EUNSUPPORTED: the store is no file. */
int fg_samples_keep(const struct fg_samples_key *key, const struct fg_profile *profile,
		    struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT: they were not kept. */
int fg_samples_load(const struct fg_samples_key *key, struct fg_profile *profile,
		    struct fg_error *err) FG_NODISCARD;
bool fg_samples_are_kept(const struct fg_samples_key *key);

/* Of one series; of a whole run.  It is no error when there are none. */
int fg_samples_remove_series(const char *store, const char *run, size_t series,
			     struct fg_error *err) FG_NODISCARD;
int fg_samples_remove(const char *store, const char *run, struct fg_error *err) FG_NODISCARD;
/* Of runs that are not in the store. */
int fg_samples_prune(const char *path, struct fg_store *store, size_t *removed,
		     struct fg_error *err) FG_NODISCARD;

#endif
