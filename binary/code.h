/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is it the same code?  Two builds of a program hold the same function at different addresses, so
 * its bytes differ wherever they speak of an address.  Here every such place is replaced by the
 * name of what it speaks of, or by the content where it has no name (a string, a constant, the
 * table of a switch).  What is left is a digest per function and per object: equal digests mean
 * that the compiler made the same thing, wherever the linker put it.
 *
 *	lea  0x2e91(%rip),%rdi      →  48 8d 3d ........  "out of memory\n"
 *	call 1050                   →  e8 ........        puts
 *	mov  0x2fb3(%rip),%rax      →  48 8b 05 ........  table+0x18
 *
 * The comparison errs on the side of "changed": what cannot be decoded or followed counts as
 * different unless it is the same byte for byte.
 *
 * The life of it: fg_code_read() both builds, fg_code_compare(), ask, release all three.
 */
#ifndef FG_CODE_CODE_H
#define FG_CODE_CODE_H

#include "base/arena.h"
#include "base/error.h"

enum {
	FG_CODE_DIGEST_SIZE = 16
};

/* A function or an object of one build. */
struct fg_code_item {
	const char *name; /* linkage name; a clone or static local without its running number */
	const char *unit; /* source file of what is local to one; "" */
	uint64_t address;
	uint64_t size;
	uint8_t digest[FG_CODE_DIGEST_SIZE];
	bool is_function;
	/*
	 * A library loaded later may bind to it, or be overruled by it; or it lies in a section
	 * that a program walks from end to end.
	 */
	bool is_exported;
	uint32_t ordinal; /* position among items with this name and unit */
	uint32_t first_use;
	uint32_t use_count; /* items that it names: uses[first_use .. first_use + use_count) */
	/* of functions for x86-64; 0 elsewhere */
	uint32_t vector_count; /* arithmetic instructions on vectors */
	uint32_t tail_count;   /* calls that are jumps to other functions */
	bool calls_itself;
};

/* Another name of an item: a constructor has two, a versioned symbol as well. */
struct fg_code_alias {
	const char *name;
	uint32_t item;
};

struct fg_code {
	struct fg_arena arena;
	struct fg_code_item *items; /* sorted by name, unit, ordinal */
	size_t item_count;
	uint32_t *uses; /* indexes of items */
	size_t use_count;
	struct fg_code_alias *aliases; /* sorted by name */
	size_t alias_count;
	/* It asks for the processor's features: another processor may run other code. */
	bool asks_processor;
	/* A function that it may call to run other objects' code: "dlopen", "mprotect"; or NULL. */
	const char *brings_code;
	/*
	 * Covers everything reachable from an entry point: the start files, exported symbols,
	 * constructors. Two builds with the same digest run the same code.
	 */
	uint8_t digest[FG_CODE_DIGEST_SIZE];
	/*
	 * Over everything that is loaded, with its addresses: builds that agree here differ at most
	 * in their debug information.
	 */
	uint8_t layout[FG_CODE_DIGEST_SIZE];
};

/*
 * `folder` (may be NULL) is where the build took place: its path in the build counts as no
 * difference.  FG_EUNSUPPORTED: another machine than x86-64 and arm64, or stripped.  On failure
 * `code` is empty.
 */
int fg_code_read(const char *path, const char *folder, struct fg_code *code, struct fg_error *err)
	FG_NODISCARD;
void fg_code_release(struct fg_code *code);

/*
 * The item that a symbol of this name stands for, with or without the running numbers of clones;
 * NULL: unknown or ambiguous.  Items that share their name are one here:
 * the first is returned.
 */
const struct fg_code_item *fg_code_find(const struct fg_code *code, const char *name);
/* The function that holds this address, or NULL. */
const struct fg_code_item *fg_code_at(const struct fg_code *code, uint64_t address);

enum fg_code_change {
	FG_CODE_SAME,
	FG_CODE_CHANGED,
	FG_CODE_ADDED,
	FG_CODE_REMOVED,
};

/* One item in both builds; an index is FG_CODE_NONE where the build does not have it. */
struct fg_code_pair {
	uint32_t before;
	uint32_t after;
	enum fg_code_change change;
	bool reaches_change; /* itself or anything reachable from it differs */
};

#define FG_CODE_NONE UINT32_MAX

struct fg_code_difference {
	struct fg_code_pair *pairs; /* sorted by name, unit, ordinal */
	size_t pair_count;
	size_t counts[FG_CODE_REMOVED + 1]; /* number of pairs by change */
};

void fg_code_compare(const struct fg_code *before, const struct fg_code *after,
		     struct fg_code_difference *difference);
void fg_code_difference_release(struct fg_code_difference *difference);

#endif
