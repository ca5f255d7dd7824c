/* SPDX-License-Identifier: Apache-2.0 */
/* Where archives are kept, as the options and a file or the environment say it. */
#ifndef FG_PERFDB_SERVER_PLACE_H
#define FG_PERFDB_SERVER_PLACE_H

#include "perfdb/archives/archives.h"
#include "perfdb/server/options.h"

struct fg_perfdb_place {
	struct fg_archives_options options;
	char *key; /* both lines */
	size_t key_size;
};

/*
 * For the main thread, before any other is started: the key is taken out of the environment, also
 * when it is not needed.
 */
int fg_perfdb_place_read(const struct fg_perfdb_options *given, struct fg_perfdb_place *place,
			 struct fg_error *err) FG_NODISCARD;
void fg_perfdb_place_release(struct fg_perfdb_place *place);

#endif
