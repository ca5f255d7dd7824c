/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeats recorded link commands (link_record.h), several in parallel, with another output and a
 * pad (pad_object.h) in front of all objects. If the recorded link has a plant (planted.h), so does
 * the repeated link.
 *
 * Call fg_link_again_start() while there is room, then fg_link_again_wait(); always call
 * fg_link_again_end().
 */
#ifndef FG_RUNNER_LINK_AGAIN_H
#define FG_RUNNER_LINK_AGAIN_H

#include "base/process.h"
#include "runner/build/link_record.h"

enum {
	FG_LINKS_AT_ONCE_MAX = 16
};

/* The links in progress. Zero all but the first three members. */
struct fg_link_again {
	const char *folder; /* for pads, and files between the linker and the compiler's plugin */
	int64_t timeout_ns; /* per link */
	const volatile sig_atomic_t *interrupted;
	struct fg_process processes[FG_LINKS_AT_ONCE_MAX];
	const struct fg_link *links[FG_LINKS_AT_ONCE_MAX];
	char *outputs[FG_LINKS_AT_ONCE_MAX];
	size_t count;
};

/* Starts one more link; its arguments must stay valid until it ends. */
int fg_link_again_start(struct fg_link_again *again, const struct fg_link *link, size_t pad_bytes,
			const char *output, struct fg_error *err) FG_NODISCARD;
/* Waits for all links to end; `err` describes the first link that failed. */
int fg_link_again_wait(struct fg_link_again *again, struct fg_error *err) FG_NODISCARD;
/* Kills links that still run. */
void fg_link_again_end(struct fg_link_again *again);

#endif
