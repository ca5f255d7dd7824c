/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slowdown planted into a program by linking it again, to prove that the gate sees it.
 *
 * An object with a small loop is linked in front of the others, under the name of the function to
 * slow down.  In the linked file that function's first instructions become a jump to the loop,
 * which ends with those instructions and the way back (binary/entries.h proves where this is safe).
 * So every call takes longer by the same number of iterations, samples in the loop count for the
 * function, and inlined, static and link-time optimised code needs nothing special.
 *
 * The plant is noted next to the recorded links (link_record.h), and every later link of that
 * program repeats it: fg_layouts_make() shifts a planted program like any other.
 *
 *	fg_plant_open() → fg_plant_set(), any number of times → fg_plant_close()
 */
#ifndef FG_RUNNER_PLANT_H
#define FG_RUNNER_PLANT_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

/* Part of a recorded link. */
struct fg_planted {
	const char *function; /* symbol; "": link the object, and change no function */
	uint32_t iterations;  /* per call */
};

/* The program or library of a build that is planted. */
struct fg_plant {
	char *folder;   /* the records of its build */
	char *output;   /* the linked file */
	char *original; /* copy of it as it was built */
	const volatile sig_atomic_t *interrupted;
};

/*
 * `folder` has the records of a build, `library` is the base name of a file that it linked.
 * FG_ENOENT: no recorded link made it.
 */
int fg_plant_open(struct fg_plant *plant, const char *folder, const char *library,
		  struct fg_error *err) FG_NODISCARD;
/* Can this function be slowed down?  FG_EUNSUPPORTED: no, and why. */
int fg_plant_can(const struct fg_plant *plant, const char *function, struct fg_error *err)
	FG_NODISCARD;
/* Link it again with this plant; NULL: without one.  On failure the file stays as it was. */
int fg_plant_set(const struct fg_plant *plant, const struct fg_planted *planted,
		 struct fg_error *err) FG_NODISCARD;
/* Puts the file back as it was built; FG_EIO: it is not. */
int fg_plant_close(struct fg_plant *plant, struct fg_error *err) FG_NODISCARD;

/* ---- for link_record.c and link_again.c ---- */

/* The noted plant of `output`, in `*text`, to be freed; false: none. */
bool fg_planted_read(const char *folder, const char *output, struct fg_planted *planted,
		     char **text);
/* The object with the loop.  FG_ENOENT: there is no assembler. */
int fg_planted_object(const struct fg_planted *planted, const char *path, struct fg_error *err)
	FG_NODISCARD;
/* The symbol in it that keeps it in a link. */
#define FG_PLANT_SYMBOL "fastgate_plant"
/* Makes the function of a linked file jump to the loop. */
int fg_planted_apply(const struct fg_planted *planted, const char *path, struct fg_error *err)
	FG_NODISCARD;

#endif
