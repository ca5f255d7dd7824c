// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_sites.h"

#include "collector/counting/own_memory.h"
#include "collector/unwind/walk.h"

#include <string.h>
#include <sys/mman.h>

_Static_assert(FG_CALL_SITE_DEPTH % FG_CALL_SITE_GROUP == 0, "all groups must be full");

enum {
	LOOK_AFTER = 64, /* remembered places after which the hit rate is checked */
	WORTH = 4,       /* calls per remembered place that make remembering worthwhile */
	PATIENCE_MAX = 6,
};

static const uintptr_t nothing = 0; /* the word that pads a group */

struct fg_call_sites *fg_call_sites_new(void)
{
	return fg_own_map(sizeof(struct fg_call_sites), MAP_NORESERVE);
}

void fg_call_sites_forget(struct fg_call_sites *sites)
{
	if (!sites)
		return;
	memset(sites->sets, 0, sizeof(sites->sets));
	sites->used = 0;
	sites->epoch = atomic_load_explicit(&fg_g.epoch, memory_order_acquire);
}

/* Is it time to remember another place? */
static bool is_worth_it(struct fg_call_sites *sites, uint64_t calls)
{
	if (sites->pause > 0) {
		sites->calls = calls;
		sites->pause--;
		return false;
	}
	if (++sites->kept < LOOK_AFTER)
		return true;
	if (calls - sites->calls >= (uint64_t)WORTH * sites->kept) {
		sites->patience = 0;
	} else {
		sites->patience += sites->patience < PATIENCE_MAX;
		sites->pause = (uint32_t)LOOK_AFTER << sites->patience;
	}
	sites->kept = 0;
	sites->calls = calls;
	return true;
}

/* Returns a free place, or the place to evict next. */
static struct fg_call_site *place_for(struct fg_call_sites *sites, const struct fg_regs *caller)
{
	struct fg_call_site *set = fg_call_site_set(sites, caller);

	for (unsigned i = 0; i < FG_CALL_SITE_WAYS; i++)
		if (!set[i].entry)
			return &set[i];
	return &set[sites->turn++ % FG_CALL_SITE_WAYS];
}

struct fg_call_site *fg_call_site_keep(const struct fg_thread *thread, struct fg_call_sites *sites,
				       uint64_t calls, const struct fg_call_key *key)
{
	struct fg_call_site *site = NULL;
	struct fg_check *words = NULL;
	bool needs_bp = false;
	uint32_t count = 0;

	if (fg_python_is_on() || thread->kept.count > FG_CALL_SITE_DEPTH ||
	    !is_worth_it(sites, calls))
		return NULL;
	if (sites->epoch != atomic_load_explicit(&fg_g.epoch, memory_order_acquire) ||
	    sites->used + FG_CALL_SITE_DEPTH > FG_CALL_SITE_WORDS)
		fg_call_sites_forget(sites);
	words = &sites->words[sites->used];
	count = fg_stack_words(thread, &key->caller, words, FG_CALL_SITE_DEPTH, &needs_bp);
	if (count == 0)
		return NULL;
	while (count % FG_CALL_SITE_GROUP != 0)
		words[count++] = (struct fg_check){.address = (uintptr_t)&nothing};
	site = place_for(sites, &key->caller);
	*site = (struct fg_call_site){
		.pc = key->caller.pc,
		.sp = key->caller.sp,
		.bp = key->caller.bp,
		.bp_mask = needs_bp ? UINTPTR_MAX : 0,
		.region = key->region,
		.function = key->function,
		.words = sites->used,
		.groups = (uint16_t)(count / FG_CALL_SITE_GROUP),
	};
	sites->used += count;
	return site;
}
