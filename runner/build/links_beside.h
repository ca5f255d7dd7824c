/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first FG_LINE_PLACES layouts of both arms (layouts.h) are there, and pairs are measured in
 * them: a process of its own links the others meanwhile, on processors that the pairs leave idle.
 *
 * It doubles them, and after each doubling the pairs go on in as many: pair p runs in layout p
 * modulo their number, so nothing that was measured before has to be forgotten if no more come.
 */
#ifndef FG_RUNNER_LINKS_BESIDE_H
#define FG_RUNNER_LINKS_BESIDE_H

#include "runner/build/layouts.h"

struct fg_links_beside;

/* The options of both arms, which have to live until fg_links_beside_end(). */
int fg_links_beside_start(const struct fg_layouts_options options[FG_ARM_COUNT],
			  struct fg_links_beside **beside, struct fg_error *err) FG_NODISCARD;
/* The next linkers run on these processors. */
void fg_links_beside_run_on(const struct fg_links_beside *beside, const int *cpus, size_t count);
/* Waits for the next doubling: how many layouts both arms have now; 0: no more will come. */
unsigned fg_links_beside_wait(struct fg_links_beside *beside);
/* Linkers that still run are ended.  NULL is fine. */
void fg_links_beside_end(struct fg_links_beside *beside);

#endif
