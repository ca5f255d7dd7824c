/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call paths of one profile. A path consists of its parent and a function. A parent comes
 * before its children; path 0 is the program's root, which is not written.
 */
#ifndef FG_STORE_PATHS_H
#define FG_STORE_PATHS_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "store/bytes.h"

struct fg_stored_path {
	uint64_t function; /* a row of `function` */
	uint32_t parent;
};

struct fg_stored_paths {
	struct fg_stored_path *items;
	size_t count; /* including the root; 0: nothing was read */
	size_t capacity;
};

/*
 * Writes the set's paths from `first` (at least 1) on. functions[i] is the row of the set's
 * function i.
 */
void fg_stored_paths_write(const struct fg_profile_set *set, size_t first, const int64_t *functions,
			   struct fg_bytes *bytes);
/* Reads written paths and appends them to `paths`; if `paths` is NULL, only checks them. */
int fg_stored_paths_read(struct fg_byte_reader *reader, struct fg_stored_paths *paths,
			 struct fg_error *err) FG_NODISCARD;
void fg_stored_paths_release(struct fg_stored_paths *paths);

#endif
