/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noted commands (link_record.h) repeated, several beside each other: with another output, and with
 * a pad (pad_object.h) in front of all objects.
 *
 * fg_link_again_start() as often as there is room → fg_link_again_wait(); fg_link_again_end() in
 * any case.
 */
#ifndef FG_RUNNER_LINK_AGAIN_H
#define FG_RUNNER_LINK_AGAIN_H

#include "base/process.h"
#include "runner/build/link_record.h"

enum {
	FG_LINKS_AT_ONCE_MAX = 16
};

/* Links under way; zeroed but for the first three members. */
struct fg_link_again {
	const char *folder; /* for pads, and for what the linker tells the compiler's plugin */
	int64_t timeout_ns; /* of each */
	const volatile sig_atomic_t *interrupted;
	struct fg_process processes[FG_LINKS_AT_ONCE_MAX];
	const char *linkers[FG_LINKS_AT_ONCE_MAX];
	size_t count;
};

/* One more; what it is given has to live until it has ended. */
int fg_link_again_start(struct fg_link_again *again, const struct fg_link *link, size_t pad_bytes,
			const char *output, struct fg_error *err) FG_NODISCARD;
/*
 * Until all have ended: the message is that of the first that failed.  Then there are none.  Adds
 * what CPU time they took to `cpu_ns`.
 */
int fg_link_again_wait(struct fg_link_again *again, int64_t *cpu_ns, struct fg_error *err)
	FG_NODISCARD;
/* Kills those that are still under way. */
void fg_link_again_end(struct fg_link_again *again);

/* What a linker, or a command that runs one, says where it failed is the message. */
int fg_link_again_judge(const char *program, const struct fg_process_result *result,
			struct fg_error *err) FG_NODISCARD;

#endif
