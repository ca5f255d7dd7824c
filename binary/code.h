/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the code of two builds. The same function lies at different addresses in the two builds,
 * so its bytes differ wherever they contain an address. Every such place is replaced by the name of
 * its target, or by the content of a target without a name (a string, a constant, the table of a
 * switch). The result is a digest per function and per object: equal digests mean that the compiler
 * generated the same code, wherever the linker placed it.
 *
 *	lea  0x2e91(%rip),%rdi      →  48 8d 3d ........  "out of memory\n"
 *	call 1050                   →  e8 ........        puts
 *	mov  0x2fb3(%rip),%rax      →  48 8b 05 ........  table+0x18
 *
 * The comparison errs on the side of "changed": code that cannot be decoded or followed counts as
 * different unless all its bytes are the same.
 *
 * Usage: read both builds with fg_code_read(), compare them with fg_code_compare(), look up items,
 * release all three.
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
	const char *name; /* linkage name, without the running number of a clone or static local */
	const char *unit; /* source file of a local item; "": global */
	uint64_t address;
	uint64_t size;
	uint8_t digest[FG_CODE_DIGEST_SIZE];
	bool is_function;
	/*
	 * A library loaded later may bind to the item or be preempted by it, or the item lies in a
	 * section that the program walks from end to end.
	 */
	bool is_exported;
	uint32_t ordinal; /* position among items with this name and unit */
	uint32_t first_use;
	uint32_t use_count; /* items that it references: uses[first_use .. first_use + use_count) */
	/* only for x86-64 functions, otherwise 0 */
	uint32_t vector_count; /* arithmetic instructions on vectors */
	uint32_t tail_count;   /* jumps to other functions that replace a call */
	bool calls_itself;
};

/* Another name for an item. Constructors and versioned symbols have two names. */
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
	/* The build queries the processor's features, so another processor may run other code. */
	bool queries_cpu;
	/*
	 * A function through which the build may run code from elsewhere: "dlopen", "mprotect"; or
	 * NULL.
	 */
	const char *code_loader;
	/*
	 * Covers everything reachable from an entry point: main, the start files, exported symbols,
	 * constructors, destructors. Two builds with the same digest run the same code.
	 */
	uint8_t digest[FG_CODE_DIGEST_SIZE];
	/*
	 * Covers everything that is loaded, with its addresses. Two builds with the same digest
	 * differ at most in their debug information.
	 */
	uint8_t layout[FG_CODE_DIGEST_SIZE];
};

/*
 * `folder` (may be NULL) is the folder of the build: its path inside the file does not count as a
 * difference if the folders' paths are equally long. FG_EUNSUPPORTED: the file is stripped, or
 * neither x86-64 nor arm64. On failure `code` is empty.
 */
int fg_code_read(const char *path, const char *folder, struct fg_code *code, struct fg_error *err)
	FG_NODISCARD;
void fg_code_release(struct fg_code *code);

/*
 * Finds an item by a symbol's name, which may include the running numbers of clones. If several
 * items have the name, returns the first. NULL: unknown, or ambiguous because of aliases.
 */
const struct fg_code_item *fg_code_find(const struct fg_code *code, const char *name);
/* Returns the function that holds this address, or NULL. */
const struct fg_code_item *fg_code_at(const struct fg_code *code, uint64_t address);

enum fg_code_change {
	FG_CODE_SAME,
	FG_CODE_CHANGED,
	FG_CODE_ADDED,
	FG_CODE_REMOVED,
};

/* One item in both builds; its index is FG_CODE_NONE in a build that lacks it. */
struct fg_code_pair {
	uint32_t before;
	uint32_t after;
	enum fg_code_change change;
	bool reaches_change; /* the item, or something reachable from it, differs */
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
