/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user calls RUN, as a profile: a trace or a folder of traces from `record`, a profile file that some reader
 * understands, or the id of a stored run (NULL: the newest).  Stored runs come through a callback, because this folder
 * knows no store.  A name that exists as a file or folder is that; anything else is taken for a stored run.
 */
#ifndef FG_PROFILE_LOAD_H
#define FG_PROFILE_LOAD_H

#include "profile/profile.h"
#include "profile/symbolizer.h"

/* A kind of profile file: the first whose `recognizes` says yes reads it. */
struct fg_profile_reader {
	const char *name; /* "pprof" */
	/* The file's name and its first bytes (at most FG_PROFILE_HEAD_BYTES). */
	bool (*recognizes)(const char *path, const char *head, size_t head_size);
	int (*read)(const char *path, struct fg_profile *profile, struct fg_error *err);
};

enum {
	FG_PROFILE_HEAD_BYTES = 4096
};

struct fg_profile_source {
	const struct fg_profile_reader *const *readers; /* NULL at the end; may be NULL */
	/* The stored run `run` (NULL: the newest), `selection` as the command line gave it (benchmark, arm; may be NULL). */
	int (*stored)(void *context, const char *run, const char *selection,
		      struct fg_profile *profile, struct fg_error *err);
	void *context;
};

int fg_profile_load(const char *run, const char *selection, const struct fg_profile_source *source,
		    struct fg_symbolizer *symbolizer, struct fg_profile *profile,
		    struct fg_error *err) FG_NODISCARD;

#endif
