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
 * branch with an 8-bit distance in known code, and, near other bytes, every byte that could begin
 * such a branch; every word of data and every relocation that is an address; every landing pad of
 * exceptions; every symbol. A function is refused, with a reason, if it has a jump that could lead
 * anywhere within it, or if anything else cannot be proved.
 */
#ifndef FG_CODE_ENTRIES_H
#define FG_CODE_ENTRIES_H

#include "base/error.h"
#include "base/strbuf.h"
#include "collector/calls/entry_plan.h"

/* The parts of a plan; begins zeroed. */
struct fg_entries {
	struct fg_strbuf objects; /* struct fg_plan_object */
	struct fg_strbuf entries; /* struct fg_plan_entry, by object, address and name */
	struct fg_strbuf texts;
};

/*
 * Adds the object `path`; `name` is the dynamic linker's name for the object. Adds nothing on
 * failure: the file cannot be read, or is not an x86-64 ELF file.
 */
int fg_entries_add(struct fg_entries *plan, const char *path, const char *name,
		   struct fg_error *err) FG_NODISCARD;
void fg_entries_release(struct fg_entries *plan);

#endif
