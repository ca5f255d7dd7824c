/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of jumps that count functions at their entries. It is made before a program
 * starts (binary/entries.h) and carried out inside the program (call_jumps.c). A plan is one file:
 *
 *	struct fg_plan_header
 *	struct fg_plan_object [object_count]
 *	struct fg_plan_entry [entry_count], grouped by object, sorted by address
 *	texts, each with a NUL at its end; offsets are counted from the first
 *
 * The writer and the reader run on one host: numbers have the processor's byte order.
 */
#ifndef FG_COLLECTOR_ENTRY_PLAN_H
#define FG_COLLECTOR_ENTRY_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	FG_PLAN_JUMP = 5,    /* bytes of a jump with a 32-bit distance */
	FG_PLAN_WINDOW = 24, /* bytes for endbr64 and the instructions that a jump covers */
	FG_PLAN_CODE = 48,   /* bytes for the moved instructions and the jump back */
	FG_PLAN_FIXUPS = 4,  /* maximum number of distances in `code` */
};

/* Reasons not to count a function at its entry; profile/call_patterns.c describes them. */
enum fg_entry_refusal {
	FG_ENTRY_ACCEPTED,
	/* reasons in the function */
	FG_ENTRY_SHORT,
	FG_ENTRY_FIXED,
	FG_ENTRY_INSIDE,
	FG_ENTRY_UNBOUNDED,
	FG_ENTRY_OTHER_SIDE,
	/* reasons in the function's object */
	FG_ENTRY_RUNTIME,
	FG_ENTRY_OBJECT,
	FG_ENTRY_CHANGED,
	/* reasons in the whole process */
	FG_ENTRY_LATE,
	FG_ENTRY_SYSTEM,
	FG_ENTRY_FULL,
	FG_ENTRY_REFUSALS,
};

struct fg_plan_header {
	uint64_t size; /* bytes of the file */
	uint64_t object_count;
	uint64_t entry_count;
};

struct fg_plan_object {
	uint64_t path; /* text: the dynamic linker's name; for the program, its real path */
	uint64_t sum;  /* fg_plan_sum() of its segments that are not writable */
	uint64_t first_entry;
	uint64_t entry_count;
};

/* A function. Each name of an address has its own entry. */
struct fg_plan_entry {
	uint64_t address; /* its address in the file */
	uint64_t name;    /* text: its symbol without a clone's suffix */
	/* enum fg_entry_refusal; `jump_at` and later members are set only if it is accepted */
	uint8_t refusal;
	uint8_t is_clone;    /* its parameters may differ from the source's */
	uint8_t jump_at;     /* offset of the jump, after any endbr64 */
	uint8_t window_size; /* bytes from the address to the end of the covered instructions */
	uint8_t code_size;
	uint8_t fixup_count;
	uint8_t code[FG_PLAN_CODE];     /* moved instructions, with distances as if at `address` */
	uint8_t fixups[FG_PLAN_FIXUPS]; /* offsets of the distances in `code` */
	uint8_t unused[6];
};

/* A plan in memory. */
struct fg_plan_view {
	struct fg_plan_header *header;
	struct fg_plan_object *objects;
	struct fg_plan_entry *entries;
	const char *texts;
};

/* Returns false if the bytes are not a complete plan. */
static inline bool fg_plan_open(void *bytes, uint64_t size, struct fg_plan_view *plan)
{
	plan->header = bytes;
	if (size < sizeof(*plan->header) || plan->header->size != size)
		return false;
	plan->objects = (struct fg_plan_object *)(plan->header + 1);
	plan->entries = (struct fg_plan_entry *)(plan->objects + plan->header->object_count);
	plan->texts = (const char *)(plan->entries + plan->header->entry_count);
	return true;
}

/*
 * Returns the length of a symbol without the suffix that compilers append to clones and parts of a
 * function. `is_clone`: parameters may be gone; `is_part`: a fragment of a function.
 */
static inline uint64_t fg_plan_plain_size(const char *symbol, bool *is_clone, bool *is_part)
{
	static const struct {
		const char *text;
		bool is_clone, is_part;
	} suffixes[] = {
		{.text = ".cold", .is_part = true},
		{.text = ".part.", .is_part = true},
		{.text = ".isra.", .is_clone = true},
		{.text = ".constprop.", .is_clone = true},
		{.text = ".lto_priv."},
		{.text = ".localalias"},
		{.text = ".llvm."},
		{.text = ".clone.", .is_clone = true},
		{.text = ".resolver", .is_part = true},
	};
	uint64_t size = strlen(symbol);

	for (unsigned i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *found = strstr(symbol, suffixes[i].text);

		if (!found || found == symbol)
			continue;
		*is_clone |= suffixes[i].is_clone;
		*is_part |= suffixes[i].is_part;
		if ((uint64_t)(found - symbol) < size)
			size = (uint64_t)(found - symbol);
	}
	return size;
}

/* Writes the distance at `at` from the end of its instruction to the target. */
static inline void fg_plan_set_distance(uint8_t *at, uint64_t end, uint64_t target)
{
	const int32_t distance = (int32_t)(int64_t)(target - end);

	memcpy(at, &distance, sizeof(distance));
}

/* Writes the moved instructions of the function at `function`; they will run at `address`. */
static inline void fg_plan_move(const struct fg_plan_entry *entry, uint64_t function, uint8_t *code,
				uint64_t address)
{
	memcpy(code, entry->code, entry->code_size);
	for (unsigned i = 0; i < entry->fixup_count; i++) {
		uint8_t *at = code + entry->fixups[i];
		uint32_t distance;

		memcpy(&distance, at, sizeof(distance));
		distance += (uint32_t)(function - address);
		memcpy(at, &distance, sizeof(distance));
	}
}

/* Returns the checksum of the bytes. Start with `sum` 0; pass the previous result to continue. */
static inline uint64_t fg_plan_sum(uint64_t sum, const void *bytes, uint64_t size)
{
	const uint8_t *at = bytes;

	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	for (; size > 0; size--, at++)
		sum = (sum ^ *at) * UINT64_C(0x100000001b3);
	return sum;
}

#endif
