/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files that a program reads: runs it once under observation, with all its children,
 * which stop at each file that they open. Files that it creates itself do not count.
 */
#ifndef FG_OUTSIDE_OPENED_H
#define FG_OUTSIDE_OPENED_H

#include "base/error.h"
#include "base/map.h"
#include "base/process.h"

struct fg_opened {
	struct fg_map paths; /* absolute; those with the value FG_OPENED_READ were read first */
	bool exited;         /* it ended by itself, with this code */
	int exit_code;
	bool is_incomplete; /* files may have been opened unseen */
};

enum fg_opened_how {
	FG_OPENED_READ = 1,
	FG_OPENED_MADE,
};

/*
 * FG_EUNSUPPORTED: not even the loader was seen to open anything; FG_ETIMEOUT: it did not end
 * within options->timeout_ns.  On failure `opened` is empty.
 */
int fg_opened_find(const struct fg_process_options *options, struct fg_opened *opened,
		   struct fg_error *err) FG_NODISCARD;
void fg_opened_release(struct fg_opened *opened);

#endif
