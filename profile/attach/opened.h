/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files that a program reads: runs the program once, and stops it and its children
 * whenever they open a file. A file is marked FG_OPENED_MADE if its first opening is only for
 * writing, or may create or empty the file.
 */
#ifndef FG_ATTACH_OPENED_H
#define FG_ATTACH_OPENED_H

#include "base/error.h"
#include "base/map.h"
#include "base/process.h"

struct fg_opened {
	struct fg_map paths; /* absolute path → enum fg_open_kind of its first opening */
	bool exited;         /* the program exited, with exit_code */
	int exit_code;
	bool is_incomplete; /* files may have been opened unseen */
};

enum fg_open_kind {
	FG_OPENED_READ = 1,
	FG_OPENED_MADE,
};

/*
 * FG_EUNSUPPORTED: no file was seen being opened, not even by the loader; FG_ETIMEOUT: the
 * program did not end within options->timeout_ns. On failure `opened` is empty.
 */
int fg_opened_find(const struct fg_process_options *options, struct fg_opened *opened,
		   struct fg_error *err) FG_NODISCARD;
void fg_opened_release(struct fg_opened *opened);

#endif
