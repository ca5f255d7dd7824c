// SPDX-License-Identifier: Apache-2.0
/*
 * What is called, from where, how often.  As with other counts each thread has a table of its own,
 * so two threads never wait for each other.
 */
#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/calls/call_fentry.h"
#include "collector/calls/call_jumps.h"
#include "collector/calls/call_sites.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/call_times.h"
#include "collector/calls/call_values.h"
#include "collector/calls/domains.h"
#include "collector/counting/count_hooks.h"
#include "collector/counting/own_memory.h"
#include "collector/process/threads.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	TABLE_FIRST = 256,     /* entries */
	DOMAINS_MAX = 1 << 15, /* of a thread */
	TIMES_MAX = 1 << 14,   /* of a thread */
	VALUES_MAX = 1 << 14,  /* of a thread */
};

/* Begins as struct fg_trace_calls_row. */
struct entry {
	uint32_t path;
	uint32_t region;
	uint64_t calls;
	uint32_t measure;
	uint32_t function;             /* + 1; 0: free */
	uint32_t domains;              /* + 1: the first of its arguments; 0: none */
	uint64_t flush_at;             /* so many calls: arguments and durations are written */
	struct fg_call_times *times;   /* NULL: not timed */
	struct fg_call_values *values; /* NULL: not kept */
};

struct table {
	struct entry *entries;
	uint32_t mask;
	uint32_t used;
	uint32_t thread;    /* whose calls these are */
	uint64_t calls;     /* so far */
	struct entry *last; /* that was asked for; NULL: none */
	struct fg_call_sites *sites;
	struct fg_call_domain *domains;
	uint32_t domain_count;
	struct fg_call_times *times;
	uint32_t time_count;
	struct fg_call_values *values;
	uint32_t value_count;
	uint64_t draw; /* which calls keep their arguments */
};

/* By slot, beside fg_g.threads. */
static struct table tables[FG_THREADS_MAX];
/* Where no thread of ours was there, or no memory. */
static _Atomic uint64_t unplaced[FG_CALLED_MAX];
static bool is_begun;
static _Atomic uint32_t measure_count; /* told in the trace file of this process */
bool fg_calls_timed;
static bool has_all_patterns = true;

/* ---- tables ---- */

static struct entry *place_of(const struct table *table, const struct entry *key)
{
	const uint64_t hashed = ((uint64_t)key->region << 32 | key->path) ^ (uint64_t)key->function
										    << 44;
	uint32_t at = fg_spread(hashed) & table->mask;

	while (table->entries[at].function &&
	       (table->entries[at].path != key->path || table->entries[at].region != key->region ||
		table->entries[at].function != key->function))
		at = (at + 1) & table->mask;
	return &table->entries[at];
}

/* False: there is no more memory, and the table is as it was. */
static bool grow(struct table *table)
{
	const uint32_t capacity = table->entries ? 2 * (table->mask + 1) : TABLE_FIRST;
	struct table larger = *table;

	larger.entries = fg_own_table(FG_TABLE_CALLS, sizeof(struct entry), capacity);
	if (!larger.entries)
		return false;
	larger.last = NULL;
	larger.mask = capacity - 1;
	for (uint32_t i = 0; table->entries && i <= table->mask; i++)
		if (table->entries[i].function)
			*place_of(&larger, &table->entries[i]) = table->entries[i];
	fg_table_head(larger.entries)->thread = table->thread;
	if (table->entries)
		fg_table_head(table->entries)->rows = 0;
	fg_table_head(larger.entries)->rows = capacity;
	*table = larger;
	fg_call_sites_forget(table->sites);
	return true;
}

/* The array, made at its first use; NULL: there is no memory. */
static void *array_of(void **array, size_t size)
{
	void *memory = *array;

	if (memory)
		return memory;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	*array = memory;
	return memory;
}

/* Room for the arguments of a new entry; none is not the end: its calls still count. */
static void add_domains(struct table *table, struct entry *entry)
{
	const struct fg_signature *signature = fg_called[entry->function - 1].signature;

	if (!signature || table->domain_count + signature->count > DOMAINS_MAX ||
	    !array_of((void **)&table->domains, DOMAINS_MAX * sizeof(table->domains[0])))
		return;
	entry->domains = table->domain_count + 1;
	table->domain_count += signature->count;
	if (fg_call_values_wanted() && table->value_count < VALUES_MAX &&
	    array_of((void **)&table->values, VALUES_MAX * sizeof(table->values[0])))
		entry->values = &table->values[table->value_count++];
}

/* As above: without room its calls have no durations. */
static void add_times(struct table *table, struct entry *entry)
{
	if (fg_called[entry->function - 1].is_timed && table->time_count < TIMES_MAX &&
	    array_of((void **)&table->times, TIMES_MAX * sizeof(table->times[0])))
		entry->times = &table->times[table->time_count++];
}

static struct entry *entry_of(struct table *table, const struct entry *key)
{
	struct entry *entry = table->last;

	if (entry && entry->path == key->path && entry->region == key->region &&
	    entry->function == key->function)
		return entry;
	if ((!table->entries || table->used > table->mask / 4 * 3) && !grow(table) &&
	    (!table->entries || table->used == table->mask))
		return NULL;
	entry = place_of(table, key);
	if (!entry->function) {
		*entry = *key;
		table->used++;
		add_domains(table, entry);
		add_times(table, entry);
	}
	table->last = entry;
	return entry;
}

/* ---- into the trace ---- */

/* The measure's number; the first that asks gives it one. */
static uint32_t number_of(_Atomic uint32_t *measure)
{
	uint32_t number = atomic_load(measure);
	uint32_t fresh = 0;

	if (number)
		return number;
	fresh = atomic_fetch_add(&measure_count, 1) + 1;
	return atomic_compare_exchange_strong(measure, &number, fresh) ? fresh : number;
}

static uint32_t measure_of(const struct entry *entry)
{
	return number_of(&fg_called[entry->function - 1].measure);
}

static bool tell_measure(struct fg_thread *writer, uint32_t number, const char *family,
			 const char *name)
{
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, number);
	fg_record_texts(writer, family, name);
	return fg_record_write(writer);
}

/* Its measures, once a trace file. */
static void tell(struct fg_thread *writer, uint32_t function)
{
	struct fg_called *called = &fg_called[function];
	const uint32_t number = number_of(&called->measure);

	if (called->is_told)
		return;
	called->is_told = tell_measure(writer, number, "calls.", called->name);
	if (called->ways) {
		fg_record_begin(writer, FG_RECORD_CALL_WAYS);
		fg_record_number(writer, number);
		fg_record_number(writer, called->ways);
		(void)fg_record_write(writer);
	}
	if (called->is_timed)
		(void)tell_measure(writer, number_of(&called->time_measure), "time.", called->name);
	if (!called->signature)
		return;
	fg_record_begin(writer, FG_RECORD_SIGNATURE);
	fg_record_number(writer, number);
	fg_record_text(writer, called->signature->text, strlen(called->signature->text));
	(void)fg_record_write(writer);
}

/* A record that begins with its owner's number. */
static void begin_record(struct fg_thread *writer, enum fg_trace_record kind, uint32_t thread,
			 const struct entry *entry)
{
	fg_record_begin(writer, kind);
	fg_record_number(writer, thread);
	fg_record_number(writer, entry->region);
	fg_record_number(writer, entry->path);
}

static void write_entry(struct fg_thread *writer, uint32_t thread, struct entry *entry)
{
	if (!entry->calls)
		return;
	tell(writer, entry->function - 1);
	begin_record(writer, FG_RECORD_COUNTS, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_record_number(writer, entry->calls);
	if (fg_record_write(writer)) {
		entry->calls = 0;
		entry->flush_at = 0;
	} else {
		fg_lose(FG_LOSS_NO_ROOM, 1);
	}
}

static void write_domains(struct fg_thread *writer, uint32_t thread, const struct table *table,
			  const struct entry *entry, enum fg_trace_record kind)
{
	const struct fg_signature *signature = fg_called[entry->function - 1].signature;

	for (unsigned i = 0; entry->domains && i < signature->count; i++) {
		struct fg_call_domain *domain = &table->domains[entry->domains - 1 + i];

		if (!fg_domain_values(domain))
			continue;
		begin_record(writer, kind, thread, entry);
		fg_record_number(writer, measure_of(entry));
		fg_record_number(writer, i);
		if (kind == FG_RECORD_DOMAIN)
			fg_domain_take(writer, domain);
		else
			fg_domain_append(writer, domain);
		if (!fg_record_write(writer))
			fg_lose(FG_LOSS_NO_ROOM, 1);
	}
}

static void write_times(struct fg_thread *writer, uint32_t thread, const struct entry *entry)
{
	if (!entry->times || !entry->times->returned)
		return;
	begin_record(writer, FG_RECORD_COUNTS, thread, entry);
	fg_record_number(writer, number_of(&fg_called[entry->function - 1].time_measure));
	fg_record_number(writer, entry->times->outermost_ns);
	if (!fg_record_write(writer))
		fg_lose(FG_LOSS_NO_ROOM, 1);
	begin_record(writer, FG_RECORD_CALL_TIMES, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_call_times_take(writer, entry->times);
	if (!fg_record_write(writer))
		fg_lose(FG_LOSS_NO_ROOM, 1);
}

static void write_values(struct fg_thread *writer, uint32_t thread, const struct entry *entry)
{
	if (!entry->values || !entry->values->rows)
		return;
	tell(writer, entry->function - 1);
	begin_record(writer, FG_RECORD_CALL_VALUES, thread, entry);
	fg_record_number(writer, measure_of(entry));
	fg_call_values_take(writer, entry->values, fg_called[entry->function - 1].signature->count);
	if (!fg_record_write(writer))
		fg_lose(FG_LOSS_NO_ROOM, 1);
}

static void write_details(struct fg_thread *writer, uint32_t thread, const struct table *table,
			  const struct entry *entry, enum fg_trace_record kind)
{
	write_domains(writer, thread, table, entry, kind);
	write_times(writer, thread, entry);
	write_values(writer, thread, entry);
}

static void flush(struct fg_thread *writer, uint32_t slot, uint32_t thread)
{
	struct table *table = &tables[slot];

	for (uint32_t i = 0; table->entries && i <= table->mask; i++)
		if (table->entries[i].function) {
			write_entry(writer, thread, &table->entries[i]);
			write_details(writer, thread, table, &table->entries[i], FG_RECORD_DOMAIN);
		}
}

static void flush_unplaced(struct fg_thread *writer)
{
	for (uint32_t i = 0; i < fg_called_count; i++) {
		struct entry entry = {.function = i + 1, .calls = atomic_exchange(&unplaced[i], 0)};

		write_entry(writer, 0, &entry);
	}
}

/* What became of each pattern: which may be nothing, and why. */
static void write_patterns(struct fg_thread *writer)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		const struct fg_call_pattern *pattern = &fg_call_patterns[i];
		const char *where = pattern->is_reached ? NULL : pattern->exported_by;

		if (pattern->only_known && !pattern->is_exact &&
		    strcmp(pattern->library, "libm") != 0)
			continue; /* libmvec, which few programs have */
		fg_record_begin(writer, FG_RECORD_PATTERN);
		fg_record_number(writer, pattern->is_reached);
		fg_record_number(writer, pattern->unresolved);
		fg_record_text(writer, pattern->text, strlen(pattern->text));
		fg_record_text(writer, pattern->library, strlen(pattern->library));
		fg_record_number(writer, where != NULL);
		if (where)
			fg_record_path(writer, *where ? where : fg_g.program);
		fg_record_number(writer, pattern->is_unsigned);
		fg_record_number(writer, pattern->is_untimed);
		fg_record_number(writer, pattern->is_overloaded);
		(void)fg_record_write(writer);
	}
}

/* ---- counting ---- */

static inline bool is_counting(void)
{
	return fg_alive() && atomic_load_explicit(&fg_g.sampling, memory_order_relaxed);
}

/*
 * As if the caller had called the code that all stubs share: all registers that it has are known
 * then.
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

/* Where the arguments of this call go; NULL: they are not kept. */
static struct fg_call_values *values_of(struct fg_thread *thread, struct table *table,
					struct entry *entry)
{
	if (!entry->values || !fg_call_values_draw(&table->draw))
		return NULL;
	if (!fg_call_values_fit(entry->values, fg_called[entry->function - 1].signature))
		write_values(thread, thread->id, entry);
	return entry->values;
}

/* NULL: there is no room for it. */
static struct entry *find_entry(struct fg_thread *thread, uint32_t path, uint32_t function)
{
	const struct entry key = {
		.path = path, .region = thread->regions.current, .function = function + 1};
	struct table *table = &tables[thread->index];
	struct entry *entry = NULL;

	if (table->thread != thread->id) {
		table->thread = thread->id;
		if (table->entries)
			fg_table_head(table->entries)->thread = thread->id;
	}
	entry = entry_of(table, &key);
	if (!entry) {
		(void)atomic_fetch_add_explicit(&unplaced[function], 1, memory_order_relaxed);
	} else if (!entry->measure) {
		tell(thread, function);
		entry->measure = measure_of(entry);
	}
	return entry;
}

/* A call more; `state` is where its arguments lie, NULL: they are not looked at. */
static void add(struct fg_thread *thread, struct entry *entry, const struct fg_call_state *state)
{
	struct table *table = &tables[thread->index];

	entry->calls++;
	if (entry->domains && state)
		fg_domains_add(&table->domains[entry->domains - 1],
			       fg_called[entry->function - 1].signature, state,
			       values_of(thread, table, entry));
	table->calls++;
	/* A process that is killed loses no more than what half of the calls were like. */
	if (entry->calls > entry->flush_at) {
		write_details(thread, thread->id, table, entry, FG_RECORD_DOMAIN_SO_FAR);
		entry->flush_at = 2 * entry->calls;
	}
}

/* `state`: all registers of the caller; NULL: not known. */
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

/* `return_at` is where the return address lies, `bp` the caller's. */
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
		      struct entry *entry)
{
	struct table *table = &tables[thread->index];
	const struct fg_signature *signature = fg_called[entry->function - 1].signature;
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

/* Where the call belongs, found without its call path if it came from there before. */
static struct entry *entry_of_call(struct fg_thread *thread, const struct fg_call_state *state,
				   const struct fg_call_key *key)
{
	struct fg_call_sites *sites = tables[thread->index].sites;
	const struct fg_call_site *site = sites ? fg_call_site_find(sites, key) : NULL;
	struct entry *entry = site ? site->entry : NULL;
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

static struct entry *count_placed(struct fg_thread *thread, const struct fg_call_state *state,
				  const struct fg_call_target *target)
{
	const struct fg_call_key key =
		key_of(thread, target, (const uintptr_t *)state->rsp, state->rbp);
	struct entry *entry = NULL;

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
	struct entry *entry = NULL;
	bool is_timed = false;

	if (!thread || !fg_thread_enter(thread)) {
		(void)atomic_fetch_add_explicit(&unplaced[function], 1, memory_order_relaxed);
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
	/* Others may wait for it, and need no more than to see what was written before. */
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
	return is_timed;
}

/* Where a call reported by a hook belongs; `frame` gets the caller's registers. */
static struct entry *entry_of_hook(struct fg_thread *thread, const struct fg_regs *caller,
				   uint32_t function, bool is_own_frame, struct fg_regs *frame)
{
	/* Without arguments. */
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
	struct entry *entry = NULL;

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
		(void)atomic_fetch_add_explicit(&unplaced[function], 1, memory_order_relaxed);
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

/* The arguments of a site's function, all of which are in these vector registers. */
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

/* vectors NULL: they are not at hand. */
static bool count_at_site(struct fg_thread *thread, const struct fg_call_key *key,
			  const uint64_t *vectors)
{
	struct table *table = &tables[thread->index];
	struct fg_call_site *site = NULL;
	struct entry *entry = NULL;

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

static bool count_where_known(const struct fg_call_target *target, const uintptr_t *return_at,
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

/*
 * Counts a call that comes from where one came from before, which most do; 0: it is to be counted
 * by count_and_go_on().
 */
static uintptr_t count_quickly(const struct fg_call_glance *call)
{
	const struct fg_call_target *target = &fg_call_targets[call->index];
	const bool is_counted =
		count_where_known(target, &call->return_address, call->rbp, call->vectors);

	return is_counted ? atomic_load_explicit(&target->address, memory_order_acquire) : 0;
}

static uintptr_t count_and_go_on(struct fg_call_state *state)
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

static uintptr_t count_jump_quickly(const struct fg_call_jump_frame *frame)
{
	const struct fg_call_target *target = fg_call_symbol_target(frame->index);

	return is_there(target) &&
	       count_where_known(target, &frame->return_address, frame->rbp, NULL);
}

static void count_jump(const struct fg_call_state *state)
{
	const struct fg_call_target *target = fg_call_symbol_target(state->index);
	const int saved_errno = errno;

	if (is_counting() && is_there(target))
		(void)count(state, target);
	errno = saved_errno;
}

static void end_call(const struct fg_call_state *state)
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

/* ---- joining in ---- */

/* Not where every call needs more than to be counted. */
static bool can_count_quickly(void)
{
	return !fg_calls_timed && !fg_call_values_wanted() && fg_threads_can_count();
}

static void on_introduce(struct fg_thread *thread)
{
	atomic_store(&measure_count, 0);
	for (uint32_t i = 0; i < fg_called_count; i++) {
		fg_called[i].is_told = false;
		atomic_store(&fg_called[i].measure, 0);
		atomic_store(&fg_called[i].time_measure, 0);
	}
	if (!has_all_patterns)
		(void)fg_note(thread, "too many patterns of functions: some are left out");
	if (is_begun)
		return;
	is_begun = true;
	fg_call_entry_init(&(struct fg_call_counters){
		.quick = can_count_quickly() ? count_quickly : NULL,
		.whole = count_and_go_on,
		.returned = end_call,
	});
	fg_call_jump_entry_count_by(can_count_quickly() ? count_jump_quickly : NULL);
	fg_call_slots_update();
}

static void on_thread_end(struct fg_thread *thread, bool is_last)
{
	flush(thread, thread->index, thread->id);
	/* Whoever has the slot next has yet to begin in the trace. */
	fg_call_sites_forget(tables[thread->index].sites);
	fg_call_times_forget(thread->index);
	if (!is_last)
		return;
	fg_threads_visit_others(thread, flush);
	flush_unplaced(thread);
	/* That a function was not called is an answer where it was asked for by its name. */
	for (uint32_t i = 0; i < fg_called_count; i++)
		if (fg_called[i].is_named)
			tell(thread, i);
	write_patterns(thread);
	fg_call_jumps_write(thread);
	if (fg_called_full)
		(void)fg_note(thread, "more than 32768 functions are asked for: some are left out");
	if (fg_call_nameless)
		(void)fg_note(thread,
			      "an object that is compiled with -finstrument-functions has "
			      "no symbol table: only functions that it exports are counted");
}

static void forget_array(void *array, size_t size)
{
	if (array)
		(void)madvise(array, size, MADV_DONTNEED);
}

/* The numbers of call paths begin anew. */
static void on_fork(void)
{
	for (uint32_t i = 0; i < FG_THREADS_MAX; i++) {
		struct table *table = &tables[i];

		table->entries = NULL; /* the parent's file is not mapped here */
		forget_array(table->domains, DOMAINS_MAX * sizeof(table->domains[0]));
		forget_array(table->times, TIMES_MAX * sizeof(table->times[0]));
		forget_array(table->values, VALUES_MAX * sizeof(table->values[0]));
		table->used = 0;
		fg_call_sites_forget(table->sites);
		table->last = NULL;
		table->domain_count = 0;
		table->time_count = 0;
		table->value_count = 0;
	}
	fg_call_times_forget_all();
	for (uint32_t i = 0; i < fg_called_count; i++)
		atomic_store(&unplaced[i], 0);
}

static const struct fg_count_hooks hooks = {
	.introduce = on_introduce,
	.thread_end = on_thread_end,
	.forked = on_fork,
};

/*
 * Every object that is linked by the usual start files calls this when it begins, before its own
 * constructors: the place that the C library has for profilers.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): it is their name */
FG_EXPORT void __gmon_start__(void);

FG_EXPORT void __gmon_start__(void)
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
{
	const int saved_errno = errno;

	if (is_begun && fg_alive() && !fg_g.sandboxed)
		fg_call_slots_update();
	errno = saved_errno;
}

static const char *variable(char *const *environment, const char *name)
{
	const size_t size = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
			return *environment + size + 1;
	return NULL;
}

/* Before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(int argc, char **argv, char **environment)
{
	const char *calls = variable(environment, FG_ENV_CALLS);
	const char *domains = variable(environment, FG_ENV_DOMAINS);

	(void)argc;
	(void)argv;
	if (calls)
		has_all_patterns &= fg_call_patterns_add(calls, false);
	if (domains)
		has_all_patterns &= fg_call_patterns_add(domains, true);
	fg_fentry_init((calls || domains) && fg_call_jump_entry_init(count_jump));
	if (!calls && !domains)
		return;
	/* Durations are taken where a stub calls the function, which a jump does not. */
	if (!variable(environment, FG_ENV_CALL_TIMES))
		fg_call_jumps_init(variable(environment, FG_ENV_ENTRIES), count_jump);
	fg_call_values_choose(variable(environment, FG_ENV_VALUES),
			      variable(environment, FG_ENV_VALUES_BITS));
	fg_calls_timed = variable(environment, FG_ENV_CALL_TIMES) != NULL;
	if (fg_calls_timed)
		fg_call_clock_begin();
	fg_count_hooks = &hooks;
}
