/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions of an object whose first instructions may be replaced by a jump, so that
 * their calls are counted. It must be proved that the replaced instructions do the same at another
 * place, and that control enters them only at the first one:
 *
 *	4011a0:  55                 push  %rbp              jmp   <stub>
 *	4011a1:  48 89 e5           mov   %rsp,%rbp         ...
 *	4011a4:  41 54              push  %r12              ...
 *	4011a6:  4c 8d 25 ..        lea   0x2e3b(%rip),%r12         ← the stub comes back here
 *
 * The whole object is examined: every byte that could begin a branch with a 32-bit distance; every
 * branch with an 8-bit distance in known code, and near other bytes every byte that could begin
 * one; every word of data and every relocation that is an address; every landing pad of exceptions;
 * every symbol. A function is refused, with a reason, if it has a jump that could lead anywhere
 * within it, or if anything else cannot be proved.
 */
#ifndef FG_CODE_ENTRIES_H
#define FG_CODE_ENTRIES_H

#include "base/arena.h"
#include "base/error.h"
#include "collector/calls/entry_plan.h"

struct fg_entries {
	struct fg_arena arena;
	/* sorted by address and name; `name` is an index of `names` */
	struct fg_plan_entry *entries;
	const char **names;
	size_t count;
	uint64_t sum;                  /* identity of the object, as in fg_plan_object */
	enum fg_entry_refusal refusal; /* of the whole object */
};

/*
 * FG_EPARSE, FG_EUNSUPPORTED, FG_ELIMIT: the file cannot be read as an ELF file.  On failure
 * `entries` is empty.
 */
int fg_entries_read(const char *path, struct fg_entries *entries, struct fg_error *err)
	FG_NODISCARD;
void fg_entries_release(struct fg_entries *entries);

#endif
