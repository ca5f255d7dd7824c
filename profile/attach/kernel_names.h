/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the running kernel and its modules, from /proc/kallsyms. */
#ifndef FG_ATTACH_KERNEL_NAMES_H
#define FG_ATTACH_KERNEL_NAMES_H

#include "base/arena.h"
#include "base/error.h"

#define FG_KERNEL_LIBRARY "[kernel]"

struct fg_kernel_function {
	uint64_t start, end;
	const char *name;
	const char *library; /* FG_KERNEL_LIBRARY, or the module: "[ext4]" */
};

struct fg_kernel_names {
	struct fg_arena arena;
	struct fg_kernel_function *items; /* sorted by address */
	size_t count, capacity;
};

/* FG_EUNSUPPORTED: the kernel hides addresses from this user (kernel.kptr_restrict). */
int fg_kernel_names_read(const char *path, struct fg_kernel_names *names, struct fg_error *err)
	FG_NODISCARD;
/* NULL: no known function at this address. */
const struct fg_kernel_function *fg_kernel_names_find(const struct fg_kernel_names *names,
						      uint64_t address);
void fg_kernel_names_release(struct fg_kernel_names *names);

#endif
