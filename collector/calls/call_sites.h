/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers, per thread, where calls came from: the call path that a walk found, and the words of
 * the stack that decided it. If a call from the same place finds these words unchanged, its call
 * path is the same, because a walk would read the same words and find the same path
 * (collector/unwind/walk.c). Every word is compared: the same depth and the same instruction do not
 * prove the same callers.
 *
 * Remembering a place that rarely recurs costs more than it saves. If a thread keeps calling from
 * new places, remembering pauses, and each pause is longer than the last.
 */
#ifndef FG_COLLECTOR_CALL_SITES_H
#define FG_COLLECTOR_CALL_SITES_H

#include "collector/python/python.h"
#include "collector/sampler/state.h"
#include "collector/unwind/tables.h"

enum {
	FG_CALL_SITE_SETS = 128,
	FG_CALL_SITE_WAYS = 8,
	FG_CALL_SITE_WORDS = 1 << 15, /* words per thread */
	FG_CALL_SITE_DEPTH = 512,     /* words per place; deeper stacks are not remembered */
	FG_CALL_SITE_GROUP = 4,       /* words compared at once */
};

/* Identifies a call: its place, and the function counted there. */
struct fg_call_key {
	struct fg_regs caller; /* registers after the return */
	uint32_t region;
	uint32_t function; /* 2 * its index in fg_called, + 1 if the call is only counted */
};

struct fg_call_site {
	_Alignas(64) uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
	uintptr_t bp_mask; /* 0: the path does not depend on bp */
	uint32_t region;
	uint32_t function;
	uint32_t words; /* index of the first word */
	uint16_t groups;
	bool is_quick; /* the quick functions can count calls from here */
	void *entry;   /* NULL: free */
	void *domains;
};

_Static_assert(sizeof(struct fg_call_site) == 64, "a site must fill one cache line");

struct fg_call_sites {
	struct fg_call_site sets[FG_CALL_SITE_SETS][FG_CALL_SITE_WAYS];
	struct fg_check words[FG_CALL_SITE_WORDS];
	uint32_t used; /* words in use */
	uint32_t turn; /* place in a set that is replaced next */
	uint32_t epoch;
	uint32_t kept;     /* places kept since the last check */
	uint64_t calls;    /* calls counted at the last check */
	uint32_t pause;    /* places left to skip */
	uint32_t patience; /* consecutive pauses */
};

static inline struct fg_call_site *fg_call_site_set(struct fg_call_sites *sites,
						    const struct fg_regs *caller)
{
	return sites->sets[fg_spread(caller->pc ^ caller->sp << 16) % FG_CALL_SITE_SETS];
}

static inline bool fg_call_site_is_current(const struct fg_call_sites *sites,
					   const struct fg_call_site *site)
{
	const struct fg_check *at = &sites->words[site->words];

	for (unsigned left = site->groups; left > 0; left--, at += FG_CALL_SITE_GROUP) {
		uintptr_t differs = 0;

#pragma GCC unroll 4
		for (unsigned i = 0; i < FG_CALL_SITE_GROUP; i++)
			differs |= *(const uintptr_t *)at[i].address ^ at[i].value;
		if (differs)
			return false;
	}
	return true;
}

/*
 * Returns the remembered place that this call comes from, or NULL. A place is remembered only if
 * the caller's stack pointer lies on the thread's own stack, so the words there can be read.
 */
static inline struct fg_call_site *fg_call_site_find(struct fg_call_sites *sites,
						     const struct fg_call_key *key)
{
	struct fg_call_site *site = fg_call_site_set(sites, &key->caller);
	const struct fg_call_site *const end = site + FG_CALL_SITE_WAYS;

	if (FG_UNLIKELY(sites->epoch != atomic_load_explicit(&fg_g.epoch, memory_order_acquire) ||
			fg_python_is_on()))
		return NULL;
	for (; site < end; site++)
		if (site->pc == key->caller.pc && site->sp == key->caller.sp &&
		    !((site->bp ^ key->caller.bp) & site->bp_mask) &&
		    site->function == key->function && site->region == key->region &&
		    fg_call_site_is_current(sites, site))
			return site;
	return NULL;
}

/* Returns NULL if out of memory. */
struct fg_call_sites *fg_call_sites_new(void);
void fg_call_sites_forget(struct fg_call_sites *sites);
/*
 * Remembers the origin of the thread's last walk, if the walk was for `key`; `calls` is the
 * thread's count so far. Returns a site for the caller to complete; it must be forgotten before its
 * entry moves. NULL: the origin is not remembered.
 */
struct fg_call_site *fg_call_site_keep(const struct fg_thread *thread, struct fg_call_sites *sites,
				       uint64_t calls, const struct fg_call_key *key);

#endif
