/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links a build's program again with a planted slowdown (planted.h), to prove that the gate detects
 * such a slowdown.
 *
 *	fg_plant_open() → fg_plant_set(), any number of times → fg_plant_close()
 */
#ifndef FG_RUNNER_PLANT_H
#define FG_RUNNER_PLANT_H

#include "runner/build/planted.h"

#include <signal.h>

/* The program or library that gets the plant. */
struct fg_plant {
	char *folder;   /* records of the build's links */
	char *output;   /* the linked file */
	char *original; /* copy of the file as it was built */
	const volatile sig_atomic_t *interrupted;
};

/*
 * `folder` has the recorded links of a build; `library` is the base name of the file to link again.
 * FG_ENOENT: no recorded link made such a file.
 */
int fg_plant_open(struct fg_plant *plant, const char *folder, const char *library,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Links the file again with this plant; NULL: without a plant. FG_EUNSUPPORTED: this function
 * cannot be slowed down. On failure the file stays as it was.
 */
int fg_plant_set(const struct fg_plant *plant, const struct fg_planted *planted,
		 struct fg_error *err) FG_NODISCARD;
/* Restores the original file; FG_EIO: it could not be restored. */
int fg_plant_close(struct fg_plant *plant, struct fg_error *err) FG_NODISCARD;

#endif
