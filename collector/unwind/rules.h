/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that lead from a frame to its caller, derived from a module's .eh_frame and packed into one
 * word, so that a rule can be published and read with one atomic access.
 */
#ifndef FG_COLLECTOR_RULES_H
#define FG_COLLECTOR_RULES_H

#include "collector/arch/arch.h"

#include <stddef.h>
#include <stdint.h>

/*
 * If calls leave the return address in a register (FG_ARCH_LINK_REGISTER), a function may store it
 * anywhere in its frame: at CFA + bp_offset if the frame pointer is not stored, otherwise in
 * the word after the frame pointer.
 */
enum fg_rule_kind {
	FG_RULE_NONE = 0, /* not a rule */
	FG_RULE_CFA,      /* CFA = reg + offset; return address right below it */
	FG_RULE_CFA_BP,   /* as FG_RULE_CFA, with the caller's frame pointer at CFA + bp_offset */
	FG_RULE_LEAF,     /* CFA = reg + offset; return address still in the link register */
	FG_RULE_DEREF,    /* CFA = *(reg + offset) + addend: functions that realign their stack */
	FG_RULE_DEREF_BP, /* as FG_RULE_DEREF, caller's frame pointer at bp + bp_offset */
	FG_RULE_DEREF_CFA_BP, /* as FG_RULE_DEREF, caller's frame pointer at CFA + bp_offset */
	FG_RULE_PLT,          /* CFA = sp + offset, plus one word from the entry's `push` on */
	/* kinds that name no register */
	FG_RULE_SIGNAL, /* the trampoline that a signal handler returns to */
	FG_RULE_END,    /* the outermost frame of a thread */
	/* no table for this address, or an unsupported row */
	FG_RULE_UNKNOWN,
};

/*
 * Packs the parts of a rule, from low to high bits: kind, register (unwind table number),
 * bp_offset, offset.
 */
static inline uint64_t fg_rule_pack(enum fg_rule_kind kind, unsigned reg, int bp_offset,
				    int32_t offset)
{
	return (uint64_t)kind | ((uint64_t)(reg & 0xffu) << 8) |
	       ((uint64_t)((uint16_t)bp_offset) << 16) | ((uint64_t)(uint32_t)offset << 32);
}

static inline enum fg_rule_kind fg_rule_kind(uint64_t rule)
{
	return (enum fg_rule_kind)(rule & 0xffu);
}

static inline unsigned fg_rule_register(uint64_t rule)
{
	return (unsigned)(rule >> 8) & 0xffu;
}

static inline int fg_rule_bp_offset(uint64_t rule)
{
	return (int16_t)(uint16_t)(rule >> 16);
}

static inline int32_t fg_rule_offset(uint64_t rule)
{
	return (int32_t)(uint32_t)(rule >> 32);
}

/*
 * Returns the address at which a frame with FG_RULE_CFA or FG_RULE_CFA_BP keeps its return address.
 */
static inline uintptr_t fg_rule_return_at(uint64_t rule, uintptr_t cfa)
{
#if FG_ARCH_LINK_REGISTER
	const uintptr_t at = cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(rule);

	return fg_rule_kind(rule) == FG_RULE_CFA_BP ? at + FG_WORD : at;
#else
	(void)rule;
	return fg_return_address_at(cfa);
#endif
}

/* Packs two numbers into `offset`, for kinds that read the CFA from memory. */
static inline int32_t fg_rule_two_offsets(int offset, int addend)
{
	return (int32_t)((uint32_t)(uint16_t)offset | ((uint32_t)(uint16_t)addend << 16));
}

static inline int fg_rule_deref_offset(uint64_t rule)
{
	return (int16_t)(uint16_t)(rule >> 32);
}

static inline int fg_rule_addend(uint64_t rule)
{
	return (int16_t)(uint16_t)(rule >> 48);
}

/*
 * A module's unwind tables, and the range of its memory that may be read: a damaged table may point
 * anywhere.
 */
struct fg_tables {
	const uint8_t *hdr; /* PT_GNU_EH_FRAME, or NULL */
	const uint8_t *low; /* the mapped segment that contains the header */
	const uint8_t *high;
};

/*
 * Returns the rule for `address`: the frame's pc if it was interrupted there, pc - 1 for a return
 * address. FG_RULE_UNKNOWN: the tables have no supported row. Nothing outside [low, high) is read.
 */
uint64_t fg_rule_find(const struct fg_tables *tables, uintptr_t address);

/* The place where a function saves a register that the rules leave out. */
enum fg_saved_where {
	FG_SAVED_NOWHERE, /* the value is still in the register */
	FG_SAVED_AT_CFA,  /* at CFA + offset */
	FG_SAVED_UNKNOWN,
};
enum fg_saved_where fg_rule_saved(const struct fg_tables *tables, uintptr_t address, unsigned reg,
				  int64_t *offset);

#endif
