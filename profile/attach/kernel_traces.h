/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector records kernel addresses without names. The host that ran the program can add the
 * names until its next boot.
 */
#ifndef FG_ATTACH_KERNEL_TRACES_H
#define FG_ATTACH_KERNEL_TRACES_H

#include "profile/attach/kernel_names.h"

struct fg_kernel_naming {
	const char *path; /* NULL: /proc/kallsyms; read once, when a trace needs it */
	struct fg_kernel_names names;
	bool is_read;
	bool is_hidden; /* a trace needed names, which the kernel hides (kernel.kptr_restrict) */
};

/*
 * Adds names to the traces of this folder whose processes have ended. Other files, read-only traces
 * and traces from before the last boot are left as they are.
 */
void fg_kernel_naming_add(struct fg_kernel_naming *naming, const char *folder);
void fg_kernel_naming_release(struct fg_kernel_naming *naming);

#endif
