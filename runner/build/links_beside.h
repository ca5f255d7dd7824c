/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make the remaining layouts of both arms (layouts.h) in the background.  The first FG_LINE_PLACES
 * exist and pairs are measured in them; meanwhile a separate process links the others on processors
 * that the pairs leave idle.  It doubles their number, and after each doubling the pairs use all of
 * them: pair p runs in layout p modulo their number, so earlier measurements stay valid if no more
 * layouts come.
 */
#ifndef FG_RUNNER_LINKS_BESIDE_H
#define FG_RUNNER_LINKS_BESIDE_H

#include "runner/build/layouts.h"

struct fg_links_beside;

/* The options of both arms must live until fg_links_beside_end(). */
int fg_links_beside_start(const struct fg_layouts_options options[FG_ARM_COUNT],
			  struct fg_links_beside **beside, struct fg_error *err) FG_NODISCARD;
/* Set the processors for linkers started from now on. */
void fg_links_beside_run_on(const struct fg_links_beside *beside, const int *cpus, size_t count);
/*
 * Waits for the next doubling and returns the layouts that both arms now have; 0: no more will
 * come.
 */
unsigned fg_links_beside_wait(struct fg_links_beside *beside);
/* Ends linkers that still run.  NULL does nothing. */
void fg_links_beside_end(struct fg_links_beside *beside);

#endif
