// SPDX-License-Identifier: Apache-2.0
/*
 * Counts each call at its call path. Each thread has its own table, so threads that count never
 * wait for each other.
 */
#include "collector/calls/calls.h"

#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/calls/call_registers.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/call_tables.h"
#include "collector/process/threads.h"
#include "collector/sampler/introduce.h"
#include "collector/unwind/walk.h"

#include <errno.h>

bool fg_calls_timed;

static inline bool is_counting(void)
{
	return fg_alive() && atomic_load_explicit(&fg_g.sampling, memory_order_relaxed);
}

/*
 * Makes a context as if the caller had called the code that all stubs share, where all its
 * registers are known.
 */
static void make_context(const struct fg_call_state *state, ucontext_t *context)
{
	greg_t *to = context->uc_mcontext.gregs;

	to[REG_RBX] = (greg_t)state->rbx;
	to[REG_RBP] = (greg_t)state->rbp;
	to[REG_R12] = (greg_t)state->r12;
	to[REG_R13] = (greg_t)state->r13;
	to[REG_R14] = (greg_t)state->r14;
	to[REG_R15] = (greg_t)state->r15;
	to[REG_RSP] = (greg_t)state->rsp;
	to[REG_RIP] = (greg_t)fg_call_frame();
}

/* Returns the values that keep the arguments of this call; NULL: they are not kept. */
static struct fg_call_values *values_of(struct fg_thread *thread, struct fg_call_table *table,
					struct fg_call_entry *entry)
{
	if (!entry->values || !fg_call_values_draw(&table->draw))
		return NULL;
	if (!fg_call_values_fit(entry->values, fg_called[entry->key.number - 1].signature))
		fg_call_values_flush(thread, thread->id, entry);
	return entry->values;
}

/* Returns NULL if out of memory. */
static struct fg_call_entry *find_entry(struct fg_thread *thread, uint32_t path, uint32_t function)
{
	const struct fg_path_key key = {
		.path = path, .region = thread->regions.current, .number = function + 1};
	struct fg_call_table *table = &fg_call_tables[thread->index];
	struct fg_call_entry *entry = NULL;

	if (table->entries.thread != thread->id)
		fg_path_table_adopt(
			&table->entries,
			&(struct fg_trace_table){.kind = FG_TABLE_CALLS, .stride = sizeof(*entry)},
			thread->id);
	entry = fg_call_entry_get(table, &key);
	if (!entry)
		(void)atomic_fetch_add_explicit(&fg_calls_unplaced[function], 1,
						memory_order_relaxed);
	else if (!entry->measure)
		fg_call_entry_describe(thread, entry);
	return entry;
}

/* Counts one call; `state` has its arguments, or is NULL if they are not recorded. */
static void add(struct fg_thread *thread, struct fg_call_entry *entry,
		const struct fg_call_state *state)
{
	struct fg_call_table *table = &fg_call_tables[thread->index];

	entry->calls++;
	if (entry->domains && state)
		fg_domains_add(&table->domains[entry->domains - 1],
			       fg_called[entry->key.number - 1].signature, state,
			       values_of(thread, table, entry));
	table->calls++;
	if (entry->calls > entry->flush_at)
		fg_call_details_flush(thread, table, entry);
}

/*
 * Returns the call path. `state` has all registers of the caller, or is NULL if they are not known.
 */
static uint32_t path_of_call(struct fg_thread *thread, const struct fg_call_state *state,
			     const struct fg_regs *caller)
{
	struct fg_walk_result where = fg_stack_walk_caller(thread, caller);
	ucontext_t context;

	if (FG_LIKELY(!where.needs_registers || !state))
		return where.path;
	make_context(state, &context);
	return fg_stack_walk(thread, &context).path;
}

static bool is_counted_only(const struct fg_call_target *target)
{
	return atomic_load_explicit(&target->is_counted_only, memory_order_relaxed);
}

/* `return_at` is the address of the return address, `bp` the caller's frame pointer. */
static struct fg_call_key key_of(const struct fg_thread *thread,
				 const struct fg_call_target *target, const uintptr_t *return_at,
				 uintptr_t bp)
{
	const uint32_t function = atomic_load_explicit(&target->function, memory_order_relaxed);

	return (struct fg_call_key){
		.caller = {.pc = *return_at, .sp = (uintptr_t)(return_at + 1), .bp = bp},
		.region = thread->regions.current,
		.function = function << 1 | is_counted_only(target),
	};
}

static void keep_site(const struct fg_thread *thread, const struct fg_call_key *key,
		      struct fg_call_entry *entry)
{
	struct fg_call_table *table = &fg_call_tables[thread->index];
	const struct fg_signature *signature = fg_called[entry->key.number - 1].signature;
	const bool with_domains = entry->domains && !(key->function & 1);
	struct fg_call_site *site = NULL;

	if (!table->sites && !(table->sites = fg_call_sites_new()))
		return;
	site = fg_call_site_keep(thread, table->sites, table->calls, key);
	if (!site)
		return;
	site->entry = entry;
	site->domains = with_domains ? &table->domains[entry->domains - 1] : NULL;
	site->is_quick = !with_domains || fg_signature_is_plain(signature);
}

/* Returns the call's entry, without a walk if the thread has called from there before. */
static struct fg_call_entry *entry_of_call(struct fg_thread *thread,
					   const struct fg_call_state *state,
					   const struct fg_call_key *key)
{
	struct fg_call_sites *sites = fg_call_tables[thread->index].sites;
	const struct fg_call_site *site = sites ? fg_call_site_find(sites, key) : NULL;
	struct fg_call_entry *entry = site ? site->entry : NULL;
	uint32_t path = 0;

	if (entry)
		return entry;
	if (!fg_is_on_small_stack(thread))
		path = path_of_call(thread, state, &key->caller);
	entry = find_entry(thread, path, key->function >> 1);
	if (entry && path)
		keep_site(thread, key, entry);
	return entry;
}

static struct fg_call_entry *count_placed(struct fg_thread *thread,
					  const struct fg_call_state *state,
					  const struct fg_call_target *target)
{
	const struct fg_call_key key =
		key_of(thread, target, (const uintptr_t *)state->rsp, state->rbp);
	struct fg_call_entry *entry = NULL;

	if (!fg_ensure_file(thread))
		return NULL;
	if (FG_UNLIKELY(!thread->written))
		fg_thread_announce(thread);
	entry = entry_of_call(thread, state, &key);
	if (entry)
		add(thread, entry, is_counted_only(target) ? NULL : state);
	return entry;
}

/* Returns whether the call is timed. */
static bool count(const struct fg_call_state *state, const struct fg_call_target *target)
{
	const uint32_t function = atomic_load_explicit(&target->function, memory_order_relaxed);
	struct fg_thread *thread = fg_self;
	const uint64_t entered = fg_calls_timed ? fg_call_clock() : 0;
	struct fg_call_entry *entry = NULL;
	bool is_timed = false;

	if (!thread || !fg_thread_enter(thread)) {
		(void)atomic_fetch_add_explicit(&fg_calls_unplaced[function], 1,
						memory_order_relaxed);
		return false;
	}
	entry = count_placed(thread, state, target);
	if (entry && entry->times && fg_called[function].is_callable && !is_counted_only(target)) {
		const struct fg_timed_call call = {
			.times = entry->times, .sp = state->rsp, .function = function};

		is_timed = fg_call_begin(thread, &call);
	}
	if (fg_calls_timed)
		fg_call_go(thread, entered, is_timed);
	/* Release suffices: a waiting thread needs to see only earlier writes. */
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
	return is_timed;
}

/* Returns the entry of a call that a hook reported; `frame` gets the caller's registers. */
static struct fg_call_entry *entry_of_hook(struct fg_thread *thread, const struct fg_regs *caller,
					   uint32_t function, bool is_own_frame,
					   struct fg_regs *frame)
{
	/* The lowest bit of `function`: the call is counted without its arguments. */
	struct fg_call_key key = {.region = thread->regions.current, .function = function << 1 | 1};

	*frame = *caller;
	if (fg_is_on_small_stack(thread) || !fg_stack_step(thread, frame)) {
		*frame = (struct fg_regs){0};
		is_own_frame = false;
	}
	key.caller = is_own_frame ? *frame : *caller;
	return entry_of_call(thread, NULL, &key);
}

static bool count_entered(struct fg_thread *thread, const struct fg_regs *caller, uint32_t function,
			  bool is_own_frame)
{
	struct fg_regs frame;
	struct fg_call_entry *entry = NULL;

	if (!fg_ensure_file(thread))
		return false;
	fg_thread_announce(thread);
	entry = entry_of_hook(thread, caller, function, is_own_frame, &frame);
	if (entry)
		add(thread, entry, NULL);
	if (!entry || !entry->times || !frame.sp)
		return false;

	const struct fg_timed_call call = {
		.times = entry->times, .sp = frame.sp, .site = caller->pc, .function = function};

	return fg_call_begin(thread, &call);
}

void fg_call_entered(const struct fg_regs *caller, uint32_t function, bool is_own_frame)
{
	const uint64_t entered = fg_calls_timed ? fg_call_clock() : 0;
	struct fg_thread *thread = fg_self;
	bool is_timed = false;

	if (!is_counting())
		return;
	if (!thread || !fg_thread_enter(thread)) {
		(void)atomic_fetch_add_explicit(&fg_calls_unplaced[function], 1,
						memory_order_relaxed);
		return;
	}
	is_timed = count_entered(thread, caller, function, is_own_frame);
	if (fg_calls_timed)
		fg_call_go(thread, entered, is_timed);
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
}

void fg_call_left(const struct fg_regs *caller, uint32_t function)
{
	const uint64_t now = fg_call_clock();
	struct fg_thread *thread = fg_self;
	struct fg_regs frame = *caller;

	if (!fg_alive() || !thread || !fg_thread_enter(thread))
		return;
	if (fg_stack_step(thread, &frame))
		fg_call_end(thread, function, frame.sp, now);
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
}

/* Adds the arguments of a function that takes all of them in these vector registers. */
static void add_arguments(const struct fg_call_site *site, const uint64_t *vectors)
{
	const struct fg_signature *signature = fg_called[site->function >> 1].signature;
	struct fg_call_domain *domain = site->domains;

	for (unsigned i = 0; i < signature->count; i++, domain++) {
		const uint64_t bits = vectors[signature->arguments[i].place];

		if (signature->arguments[i].kind == FG_ARGUMENT_DOUBLE)
			fg_domain_add_double(domain, bits);
		else
			fg_domain_add_float(domain, (uint32_t)bits);
	}
}

static bool count_at_site(struct fg_thread *thread, const struct fg_call_key *key,
			  const uint64_t *vectors)
{
	struct fg_call_table *table = &fg_call_tables[thread->index];
	struct fg_call_site *site = NULL;
	struct fg_call_entry *entry = NULL;

	if (!table->sites)
		return false;
	site = fg_call_site_find(table->sites, key);
	if (!site || !site->is_quick || (site->domains && !vectors))
		return false;
	entry = site->entry;
	if (site->domains && entry->calls >= entry->flush_at)
		return false;
	if (site->domains)
		add_arguments(site, vectors);
	entry->calls++;
	table->calls++;
	return true;
}

static bool count_known_place(const struct fg_call_target *target, const uintptr_t *return_at,
			      uintptr_t bp, const uint64_t *vectors)
{
	struct fg_thread *thread = fg_self;
	struct fg_call_key key;
	bool is_counted = false;

	if (!thread || !is_counting() || !fg_thread_count_begin(thread))
		return false;
	key = key_of(thread, target, return_at, bp);
	is_counted = count_at_site(thread, &key, vectors);
	fg_thread_count_end(thread);
	return is_counted;
}

uintptr_t fg_call_count_quickly(const struct fg_call_glance *call)
{
	const struct fg_call_target *target = &fg_call_targets[call->index];
	const bool is_counted =
		count_known_place(target, &call->return_address, call->rbp, call->vectors);

	return is_counted ? atomic_load_explicit(&target->address, memory_order_acquire) : 0;
}

uintptr_t fg_call_count(struct fg_call_state *state)
{
	const struct fg_call_target *target = &fg_call_targets[state->index];
	const int saved_errno = errno;

	if (is_counting())
		state->is_timed = count(state, target);
	errno = saved_errno;
	return atomic_load_explicit(&target->address, memory_order_acquire);
}

static bool is_there(const struct fg_call_target *target)
{
	return atomic_load_explicit(&target->function, memory_order_relaxed) < fg_called_count;
}

uintptr_t fg_call_count_jump_quickly(const struct fg_call_jump_frame *frame)
{
	const struct fg_call_target *target = fg_call_symbol_target(frame->index);

	return is_there(target) &&
	       count_known_place(target, &frame->return_address, frame->rbp, NULL);
}

void fg_call_count_jump(const struct fg_call_state *state)
{
	const struct fg_call_target *target = fg_call_symbol_target(state->index);
	const int saved_errno = errno;

	if (is_counting() && is_there(target))
		(void)count(state, target);
	errno = saved_errno;
}

void fg_call_returned_from(const struct fg_call_state *state)
{
	const uint64_t now = fg_call_clock();
	const struct fg_call_target *target = &fg_call_targets[state->index];
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	if (fg_alive() && thread && fg_thread_enter(thread)) {
		fg_call_end(thread, atomic_load_explicit(&target->function, memory_order_relaxed),
			    state->rsp, now);
		atomic_store_explicit(&thread->busy, 0, memory_order_release);
	}
	errno = saved_errno;
}
