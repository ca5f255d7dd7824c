/* SPDX-License-Identifier: Apache-2.0 */
/* A walk in progress: walk.c walks, walk_names.c keeps and names it, walk_calls.c shortens it. */
#ifndef FG_COLLECTOR_WALK_STATE_H
#define FG_COLLECTOR_WALK_STATE_H

#include "collector/unwind/rules.h"
#include "collector/unwind/walk.h"

enum {
	FG_WALK_FIRST = FG_TRAIL_ROOM,
	FG_WALK_FIRST_CHECK = FG_CHECKS_PER_FRAME * FG_WALK_FIRST,
};

struct fg_walk {
	struct fg_thread *thread;
	struct fg_trail *trail;      /* trail of this walk */
	const struct fg_trail *kept; /* trail of the previous walk */
	uintptr_t safe_low;          /* the readable range */
	uintptr_t safe_high;
	bool inside;  /* the readable range is the thread's own stack, up to its end */
	bool outside; /* the step read memory outside the thread's own stack */
	struct fg_regs regs;
	const ucontext_t *leaf;  /* all registers of an interrupted frame; else NULL */
	const ucontext_t *start; /* registers of the first frame, or NULL */
	bool needs_registers;    /* the walk ended because it lacked registers */
	bool exact;
	bool is_sp_low; /* sp is only a lower bound: a frame record does not contain it */
	bool complete;
	bool is_cut;         /* cut by NEW_FRAMES_MAX */
	uint32_t new_frames; /* frames whose rule was computed */
	uint32_t end;        /* one past the new frames in the trail */
	uint32_t checks_end;
	uint32_t checked_from; /* all frames from here on are checked */
	uint32_t beyond;       /* frames that did not fit into the trail */
	uint32_t candidate;    /* the next kept frame that the walk may reach */
	uintptr_t certain;     /* frame pointers up to this value lead to code of a module */
};

static inline uint32_t fg_walked(const struct fg_walk *walk)
{
	return walk->end - FG_WALK_FIRST + walk->beyond;
}

static inline bool fg_same_regs(const struct fg_regs *a, const struct fg_regs *b)
{
	return a->sp == b->sp && a->pc == b->pc && a->bp == b->bp;
}

/*
 * Does the kept frame that `caller` called still return to `caller`? If a return address may lie
 * anywhere, it is one of the called frame's checks.
 */
static inline bool fg_returns_to(const struct fg_walk_frame *caller)
{
#if FG_ARCH_LINK_REGISTER
	(void)caller;
	return true;
#else
	return *(const uintptr_t *)fg_return_address_at(caller->regs.sp) == caller->regs.pc;
#endif
}

/* Is every word unchanged from this kept frame outwards?  All of these frames are checked. */
static inline bool fg_rest_holds(const struct fg_thread *thread, const struct fg_trail *kept,
				 uint32_t from)
{
	const struct fg_walk_frame *const end = &kept->frames[thread->kept.end];
	const struct fg_check *const checks_end = &kept->checks[thread->kept.checks_end];
	uintptr_t differs = 0;

#if FG_ARCH_LINK_REGISTER
	(void)end;
#else
# pragma GCC unroll 4
	for (const struct fg_walk_frame *frame = &kept->frames[from + 1]; frame < end; frame++)
		differs |=
			*(const uintptr_t *)fg_return_address_at(frame->regs.sp) ^ frame->regs.pc;
#endif
	for (const struct fg_check *check = &kept->checks[kept->frames[from].first_check];
	     check < checks_end; check++)
		differs |= *(const uintptr_t *)check->address ^ check->value;
	return differs == 0;
}

/* Records how the step by this rule uses the frame pointer. */
static inline void fg_note_bp(struct fg_walk_frame *frame, uint64_t rule)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const bool is_plain = kind == FG_RULE_CFA || kind == FG_RULE_CFA_BP;

	frame->uses_bp =
		kind != FG_RULE_END && (!is_plain || fg_rule_register(rule) != FG_DWARF_SP);
	frame->restores_bp = kind == FG_RULE_CFA_BP;
}

/* Walks from these registers; `context` has all registers of the first frame, or is NULL. */
struct fg_walk_result fg_walk_from(struct fg_thread *thread, const struct fg_regs *regs,
				   const ucontext_t *context);

/* ---- walk_names.c ---- */

/*
 * Names this walk's frames on top of the `standing` frames kept from earlier walks, and keeps both
 * as the thread's stack. Returns the call path; 0: no room.
 */
uint32_t fg_walk_name(struct fg_walk *walk, uint32_t standing);
/* Names a stack that is too deep by both ends, with a cut between them; keeps nothing. */
uint32_t fg_walk_name_deep(struct fg_walk *walk, uint32_t standing);

/* ---- walk_bare.c ---- */

enum fg_bare_step {
	FG_BARE_NOT,    /* the walk is not in a libc without tables */
	FG_BARE_CALL,   /* `at` is the address of the return address; bp is the caller's */
	FG_BARE_SIGNAL, /* a signal handler returns here */
	FG_BARE_END,    /* the thread begins here */
	FG_BARE_LOST,
};

/* Finds the first caller outside a libc without tables. Signal-safe. */
enum fg_bare_step fg_walk_bare(struct fg_walk *walk, uintptr_t *at);

#endif
