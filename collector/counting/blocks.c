// SPDX-License-Identifier: Apache-2.0
/*
 * The table has three levels: the root has a branch for every 16 GiB of addresses, a branch has a
 * leaf for every 4 MiB, and a leaf has a word for every 16 bytes.  Some allocators place blocks of
 * 8 bytes 8 bytes apart: blocks at odd multiples of 8 have separate leaves.
 */
#include "collector/counting/blocks.h"

#include "base/attrs.h"
#include "collector/counting/own_memory.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
	GRAIN_BITS = 4,
	LEAF_BITS = 22,
	BRANCH_BITS = 34,
	ADDRESS_BITS = 47,
	LEAF_WORDS = 1 << (LEAF_BITS - GRAIN_BITS),
	/* the two kinds of leaves: for even and odd multiples of 8 */
	BRANCH_LEAVES = 2 << (BRANCH_BITS - LEAF_BITS),
	ROOTS = 1 << (ADDRESS_BITS - BRANCH_BITS),
	SIZE_BITS = 40,
};

struct leaf {
	_Atomic uint64_t words[LEAF_WORDS];
};

struct branch {
	struct leaf *_Atomic leaves[BRANCH_LEAVES];
};

static struct branch *_Atomic roots[ROOTS];

static void *map(size_t size)
{
	void *memory = fg_own_map(size, MAP_NORESERVE);

	/*
	 * A program with large blocks touches few pages of this table: huge pages would waste
	 * memory.
	 */
	if (memory)
		(void)madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

/* Returns the slot's memory, allocated if `make` is set; NULL: none. */
#define REACH(slot, make) \
 ((__typeof__(atomic_load(slot)))reach((void *_Atomic *)(slot), sizeof(*atomic_load(slot)), make))

static void *reach(void *_Atomic *slot, size_t size, bool make)
{
	void *there = atomic_load_explicit(slot, memory_order_acquire);
	void *made = NULL;

	if (FG_LIKELY(there) || !make)
		return there;
	made = map(size);
	if (made && !atomic_compare_exchange_strong(slot, &there, made))
		return there; /* another thread was faster: use its memory; ours is lost */
	return made;
}

static _Atomic uint64_t *word_of(const void *address, bool make)
{
	const uint64_t at = (uintptr_t)address;
	struct branch *branch = NULL;
	struct leaf *leaf = NULL;

	if (at >> ADDRESS_BITS)
		return NULL;
	branch = REACH(&roots[at >> BRANCH_BITS], make);
	if (!branch)
		return NULL;
	leaf = REACH(&branch->leaves[(at >> LEAF_BITS) % (BRANCH_LEAVES / 2) * 2 + (at >> 3) % 2],
		     make);
	return leaf ? &leaf->words[(at >> GRAIN_BITS) % LEAF_WORDS] : NULL;
}

static struct fg_memory_block block_of(uint64_t word)
{
	return (struct fg_memory_block){.site = (uint32_t)(word >> SIZE_BITS),
					.size = word & FG_BLOCK_SIZE_MAX};
}

struct fg_memory_block fg_block_put(const void *address, struct fg_memory_block block)
{
	const uint64_t word = (uint64_t)block.site << SIZE_BITS | block.size;
	_Atomic uint64_t *place = word_of(address, true);

	if (!place)
		return block; /* counts as freed at once */
	const uint64_t before = atomic_load_explicit(place, memory_order_relaxed);

	atomic_store_explicit(place, word, memory_order_relaxed);
	return block_of(before);
}

struct fg_memory_block fg_block_take(const void *address)
{
	_Atomic uint64_t *place = word_of(address, false);
	const uint64_t word = place ? atomic_load_explicit(place, memory_order_relaxed) : 0;
	struct fg_memory_block block = block_of(word);

	if (word)
		atomic_store_explicit(place, 0, memory_order_relaxed);
	return block;
}

void fg_blocks_forget(void)
{
	for (size_t i = 0; i < ROOTS; i++) {
		struct branch *branch = atomic_load(&roots[i]);

		for (size_t k = 0; branch && k < BRANCH_LEAVES; k++) {
			struct leaf *leaf = atomic_load(&branch->leaves[k]);

			if (leaf)
				(void)madvise(leaf, sizeof(*leaf), MADV_DONTNEED);
		}
	}
}

static void visit_leaves(uintptr_t address, const struct leaf *even, const struct leaf *odd,
			 void (*visit)(uintptr_t address, struct fg_memory_block block))
{
	for (size_t i = 0; i < LEAF_WORDS; i++, address += 1 << GRAIN_BITS) {
		const uint64_t first = even ? atomic_load(&even->words[i]) : 0;
		const uint64_t second = odd ? atomic_load(&odd->words[i]) : 0;

		if (first)
			visit(address, block_of(first));
		if (second)
			visit(address + (1 << GRAIN_BITS) / 2, block_of(second));
	}
}

void fg_blocks_each(void (*visit)(uintptr_t address, struct fg_memory_block block))
{
	for (size_t i = 0; i < ROOTS; i++) {
		struct branch *branch = atomic_load(&roots[i]);

		for (size_t k = 0; branch && k < BRANCH_LEAVES; k += 2) {
			const struct leaf *even = atomic_load(&branch->leaves[k]);
			const struct leaf *odd = atomic_load(&branch->leaves[k + 1]);
			const uint64_t address = (uint64_t)i << BRANCH_BITS | (uint64_t)(k / 2)
										      << LEAF_BITS;

			if (even || odd)
				visit_leaves((uintptr_t)address, even, odd, visit);
		}
	}
}
