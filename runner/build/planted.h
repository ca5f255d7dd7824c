/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slowdown in one function of a linked file.
 *
 * An object with a small loop is linked in front of all other objects, under the name of the
 * function to slow down. In the linked file that function's first instructions become a jump to the
 * loop, which ends with those instructions and a jump back (binary/entries.h proves where this is
 * safe). So every call takes longer by the same number of iterations, samples in the loop belong to
 * the function, and inlined, static and link-time optimised code needs nothing special.
 *
 * The plant is noted next to the recorded links (link_record.h), and every later link of that
 * program repeats it: fg_layouts_make() shifts a planted program like any other program.
 */
#ifndef FG_RUNNER_PLANTED_H
#define FG_RUNNER_PLANTED_H

#include "base/base.h"
#include "base/error.h"

struct fg_planted {
	const char *function; /* symbol; "": link the object, and change no function */
	uint32_t iterations;  /* per call */
};

/* The symbol that keeps the object in the link. */
#define FG_PLANT_SYMBOL "fastgate_plant"

/* Notes the plant of `output`; NULL removes the note. */
int fg_planted_write(const char *folder, const char *output, const struct fg_planted *planted,
		     struct fg_error *err) FG_NODISCARD;
/*
 * Reads the noted plant of `output` into `*text`, which the caller frees; false if it has no plant.
 */
bool fg_planted_read(const char *folder, const char *output, struct fg_planted *planted,
		     char **text);
/* Makes the object with the loop. FG_ENOENT: no assembler is installed. */
int fg_planted_object(const struct fg_planted *planted, const char *path, struct fg_error *err)
	FG_NODISCARD;
/*
 * Makes the function of a linked file jump to the loop. FG_EUNSUPPORTED: the function cannot have a
 * jump, for the reason in the message.
 */
int fg_planted_apply(const struct fg_planted *planted, const char *path, struct fg_error *err)
	FG_NODISCARD;

#endif
