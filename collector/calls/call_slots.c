// SPDX-License-Identifier: Apache-2.0
/*
 * An object calls functions of others through slots that the dynamic linker fills: of its PLT, of
 * its GOT, and words of its data that hold addresses of functions.  Where a slot is for a function
 * that is wanted, it gets the address of a stub instead, which jumps to what the slot held.  All
 * slots of one function get the same stub, so addresses of functions still compare as equal.
 *
 * A slot of the PLT that is bound at its first call does not hold a function yet.  Its function is
 * looked up here: where that is not certain, the slot stays as it is, and is reported.
 *
 * All of this happens while objects cannot come and go: before main, and inside dlopen(), when an
 * object that was just loaded begins (__gmon_start__).
 */
#include "base/attrs.h"
#include "collector/calls/call_jumps.h"
#include "collector/calls/call_objects.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/domains.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define HOOK   "__cyg_profile_func_enter"
#define FENTRY "__fentry__"

enum {
	CANONICAL_MAX = 1024,
	PAGE = 4096,
};

struct fg_called fg_called[FG_CALLED_MAX];
uint32_t fg_called_count;
bool fg_called_full;
uint32_t fg_call_nameless;
struct fg_call_target fg_call_targets[FG_CALL_STUBS_MAX];
static uint32_t stub_count;

/* Where the program's own PLT stands for a function: calls through it are counted there. */
static uintptr_t canonical[CANONICAL_MAX];
static uint32_t canonical_count;

/* ---- stubs ---- */

static char *keep_text(const char *text)
{
	static char *room;
	static size_t left;
	const size_t size = strlen(text) + 1;
	char *kept = NULL;

	if (size > left) {
		void *memory = mmap(NULL, (size_t)16 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return NULL;
		room = memory;
		left = (size_t)16 * PAGE;
	}
	kept = memcpy(room, text, size);
	room += size;
	left -= size;
	return kept;
}

/* Indexes of functions + 1, by their names; 0: free. */
static uint32_t called_places[2 * FG_CALLED_MAX];

static uint32_t *place_of_name(const char *name)
{
	uint32_t at = fg_name_hash(name) % FG_ARRAY_SIZE(called_places);

	while (called_places[at] && strcmp(fg_called[called_places[at] - 1].name, name) != 0)
		at = (at + 1) % FG_ARRAY_SIZE(called_places);
	return &called_places[at];
}

static bool find_function(const char *name, uint32_t *index)
{
	const uint32_t place = *place_of_name(name);

	if (place)
		*index = place - 1;
	return place != 0;
}

/* The signature that a pattern gives or that is known; NULL: its arguments are not looked at. */
static const struct fg_signature *signature_of(const char *name, struct fg_call_pattern *pattern)
{
	static struct fg_signature signatures[FG_CALLED_MAX];
	static uint32_t count;
	struct fg_signature *signature = &signatures[count];

	if (!pattern->with_domains || count == FG_CALLED_MAX)
		return NULL;
	if ((pattern->signature[0] ? !fg_signature_parse(pattern->signature, signature)
				   : !fg_signature_find(name, signature)) ||
	    signature->count == 0) {
		pattern->is_unsigned = true;
		return NULL;
	}
	count++;
	return signature;
}

/* May it be called from a frame of ours?  Its arguments have to be known to be in registers. */
static bool can_be_timed(const char *name, const struct fg_call_pattern *pattern)
{
	struct fg_signature signature;

	if (pattern->signature[0] ? !fg_signature_parse(pattern->signature, &signature)
				  : !fg_signature_find_any(name, &signature))
		return false;
	return signature.is_in_registers && !fg_call_looks_at_caller(name);
}

/* Applies the patterns to the function `name` of the object `path`; false: none matches. */
static bool ask_patterns(const char *name, const char *path, enum fg_call_way way,
			 struct fg_called *called)
{
	bool is_meant = false;

	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if (!fg_call_matches(pattern, name, path))
			continue;
		is_meant = true;
		pattern->is_reached = true;
		called->is_named |= pattern->is_exact;
		if (!called->signature && way != FG_CALL_WAY_HOOKS)
			called->signature = signature_of(name, pattern);
		if (!fg_calls_timed)
			continue;
		if (way == FG_CALL_WAY_HOOKS)
			called->is_timed = true;
		else if (way == 0 && can_be_timed(name, pattern))
			called->is_timed = called->is_callable = true;
		else
			pattern->is_untimed = true;
	}
	return is_meant;
}

/*
 * Is the symbol an overload whose parameters are not those of the signature that it is asked for
 * with?  The pattern notes it.
 */
static bool is_other_overload(const char *name, const char *readable, const char *path)
{
	struct fg_signature signature;
	bool is_other = false;

	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if ((!pattern->with_domains && !fg_calls_timed) ||
		    !fg_call_matches(pattern, readable, path) ||
		    (pattern->signature[0] ? !fg_signature_parse(pattern->signature, &signature)
					   : !fg_signature_find_any(readable, &signature)) ||
		    fg_signature_fits(&signature, name, fg_calls_timed))
			continue;
		is_other = true;
		pattern->is_overloaded = true;
	}
	return is_other;
}

/* Finds or adds it; false: no pattern matches, or no room. */
static bool add_function(const char *name, const char *path, enum fg_call_way way, uint32_t *index)
{
	const bool is_known = find_function(name, index);
	struct fg_called fresh = {.name = name};
	struct fg_called *called = is_known ? &fg_called[*index] : &fresh;

	if (!ask_patterns(name, path, way, called))
		return false;
	called->ways |= (uint8_t)way;
	if (is_known)
		return true;
	fg_called_full |= fg_called_count == FG_CALLED_MAX;
	if (fg_called_full || !(fresh.name = keep_text(name)))
		return false;
	*place_of_name(name) = fg_called_count + 1;
	fg_called[fg_called_count] = fresh;
	*index = fg_called_count++;
	return true;
}

bool fg_call_slots_add_jumped(const char *symbol, const char *readable, const char *path,
			      struct fg_call_symbol *by)
{
	by->is_counted_only |= is_other_overload(symbol, readable, path);
	return add_function(readable, path, (enum fg_call_way)by->way, &by->function);
}

/* An import of this name stays as it is: it is not certain what it means. */
static void note_unresolved(const char *name)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++)
		fg_call_patterns[i].unresolved += fg_call_matches(&fg_call_patterns[i], name, NULL);
}

/* The stub that counts this function and jumps there; 0: no stub is left. */
static uintptr_t stub_for(uint32_t function, uintptr_t target, bool is_counted_only)
{
	uint32_t index = stub_count;

	for (uint32_t i = 0; i < stub_count; i++) {
		const uintptr_t address = atomic_load(&fg_call_targets[i].address);

		if (address == target && atomic_load(&fg_call_targets[i].function) == function)
			return fg_call_stub(i);
		/* The object that it led to is gone, and all that called it with it. */
		if (!address && index == stub_count)
			index = i;
	}
	if (index == FG_CALL_STUBS_MAX)
		return 0;
	stub_count += index == stub_count;
	atomic_store(&fg_call_targets[index].function, function);
	atomic_store(&fg_call_targets[index].is_counted_only, is_counted_only);
	atomic_store(&fg_call_targets[index].address, target);
	return fg_call_stub(index);
}

static void free_stubs(void)
{
	for (uint32_t i = 0; i < stub_count; i++)
		if (!fg_object_of(atomic_load(&fg_call_targets[i].address)))
			atomic_store(&fg_call_targets[i].address, 0);
}

/* ---- slots ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): an atomic store changes it */
static bool write_slot(const struct fg_object *object, uintptr_t *slot, uintptr_t value)
{
	const uintptr_t address = (uintptr_t)slot;
	void *page = (void *)(address & ~(uintptr_t)(PAGE - 1));
	const bool is_protected = address >= object->relro.start && address < object->relro.end;

	if (!fg_ranges_hold(address, object->writable, object->writable_count) ||
	    address % sizeof(*slot) != 0)
		return false;
	if (is_protected && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (is_protected)
		(void)mprotect(page, PAGE, PROT_READ);
	return true;
}

/* Functions that are not called as others are, or that the collector lives by. */
static bool is_untouchable(const char *name)
{
	static const char *const names[] = {
		"__tls_get_addr",          "__gmon_start__", FENTRY, "mcount", "_mcount", HOOK,
		"__cyg_profile_func_exit",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_canonical(uintptr_t address)
{
	for (uint32_t i = 0; i < canonical_count; i++)
		if (canonical[i] == address)
			return true;
	return false;
}

/*
 * A position-dependent program may let the address of its own PLT entry stand for a function of a
 * library, everywhere.
 */
static void note_canonical(const struct fg_object *object, const ElfW(Sym) * symbol)
{
	if (symbol->st_shndx == SHN_UNDEF && symbol->st_value && canonical_count < CANONICAL_MAX)
		canonical[canonical_count++] = object->bias + symbol->st_value;
}

static uintptr_t target_of(const struct fg_object *object, const ElfW(Rela) * entry,
			   const ElfW(Sym) * symbol, uintptr_t held)
{
	const size_t index = (size_t)(symbol - object->symbols);
	const bool is_defined = symbol->st_shndx != SHN_UNDEF;

	if (ELF64_R_TYPE(entry->r_info) != R_X86_64_JUMP_SLOT ||
	    !fg_ranges_hold(held, object->code, object->code_count))
		return held;
	if (is_defined && held == object->bias + symbol->st_value)
		return held;
	/* It leads back into its own PLT: it will be bound when it is called first. */
	return fg_object_look_up(object, object->strings + symbol->st_name,
				 is_defined ? NULL : fg_object_wanted_version(object, index));
}

static void lead(struct fg_object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
	const char *name = object->strings + symbol->st_name;
	uintptr_t *slot = (uintptr_t *)(object->bias + entry->r_offset);
	char readable[FG_CALL_NAME_MAX];
	const struct fg_object *from = NULL;
	struct fg_call_symbol hooked; /* counts its own calls */
	uintptr_t target = 0;
	uint32_t function = 0;

	if (!fg_call_is_wanted(name, readable) || is_untouchable(name) || *slot == 0)
		return;
	target = target_of(object, entry, symbol, *slot);
	if (!target) {
		note_unresolved(readable);
		return;
	}
	from = fg_object_of(target);
	if (!from || !fg_ranges_hold(target, from->code, from->code_count) ||
	    is_canonical(target) || fg_call_is_stub(target) ||
	    fg_call_symbol_find(target, &hooked) ||
	    !add_function(readable, from->path, FG_CALL_WAY_IMPORT, &function))
		return;
	const uintptr_t stub =
		stub_for(function, target, is_other_overload(name, readable, from->path));

	if (stub && write_slot(object, slot, stub))
		object->led = slot;
}

static bool is_slot(const ElfW(Rela) * entry)
{
	const unsigned kind = (unsigned)ELF64_R_TYPE(entry->r_info);

	return ELF64_R_SYM(entry->r_info) != 0 &&
	       (kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT ||
		(kind == R_X86_64_64 && entry->r_addend == 0));
}

static void each_slot(struct fg_object *object,
		      void (*visit)(struct fg_object *, const ElfW(Rela) *))
{
	for (unsigned t = 0; object->symbols && object->strings && t < 2; t++) {
		const size_t count = object->table_sizes[t] / sizeof(ElfW(Rela));

		for (size_t i = 0; object->tables[t] && i < count; i++)
			if (is_slot(&object->tables[t][i]))
				visit(object, &object->tables[t][i]);
	}
}

bool fg_call_slots_have(uintptr_t address)
{
	const struct fg_object *ours = fg_object_of((uintptr_t)&fg_objects);

	for (unsigned t = 0; ours && t < 2; t++) {
		const size_t count = ours->table_sizes[t] / sizeof(ElfW(Rela));

		for (size_t i = 0; ours->tables[t] && i < count; i++)
			if (is_slot(&ours->tables[t][i]) &&
			    *(const uintptr_t *)(ours->bias + ours->tables[t][i].r_offset) ==
				    address)
				return true;
	}
	return false;
}

static void visit_canonical(struct fg_object *object, const ElfW(Rela) * entry)
{
	note_canonical(object, &object->symbols[ELF64_R_SYM(entry->r_info)]);
}

static void visit_hook(struct fg_object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];

	if (symbol->st_shndx != SHN_UNDEF)
		return;
	object->has_hooks |= strcmp(object->strings + symbol->st_name, HOOK) == 0;
	if (strcmp(object->strings + symbol->st_name, FENTRY) == 0)
		fg_fentry_slot_add(&object->fentry, object->bias + entry->r_offset);
}

static uintptr_t fentry_site(const struct fg_object *object, uintptr_t address, size_t size)
{
	struct fg_fentry_slots slots = object->fentry;

	for (unsigned i = 0; i < object->code_count; i++) {
		slots.low = object->code[i].start;
		slots.high = object->code[i].end;
		if (address >= slots.low && size < slots.high - slots.low &&
		    address < slots.high - size)
			return fg_fentry_site(&slots, address, size);
	}
	return 0;
}

/* The function's own hook: that of -finstrument-functions first, which tells more. */
static void add_hooked(void *context, const struct fg_call_defined *symbol)
{
	const struct fg_object *object = context;
	const uintptr_t address = object->bias + symbol->address;
	struct fg_call_symbol hook = {.way = FG_CALL_WAY_HOOKS, .size = symbol->size};
	char readable[FG_CALL_NAME_MAX];
	uintptr_t site = 0;

	if (symbol->is_resolver || !fg_call_is_wanted(symbol->base, readable))
		return;
	if (!object->has_hooks) {
		site = fentry_site(object, address, symbol->size);
		if (!site)
			return;
		hook.way = FG_CALL_WAY_FENTRY;
		/* The end of a call is not seen, so it has no duration. */
		hook.is_counted_only = symbol->is_clone ||
				       is_other_overload(symbol->base, readable, object->path) ||
				       fg_calls_timed;
	}
	if (!add_function(readable, object->path, (enum fg_call_way)hook.way, &hook.function))
		return;
	(void)fg_call_symbol_add(address, &hook);
	if (site)
		(void)fg_call_symbol_add(site, &hook);
}

static void read_hooked(struct fg_object *object)
{
	object->fentry.count = 0;
	each_slot(object, visit_hook);
	if (object->has_hooks || (object->fentry.count > 0 && fg_fentry_is_ready()))
		fg_call_nameless += !fg_call_symbols_each(object->path, object, add_hooked);
}

static bool is_loaded(uintptr_t address)
{
	return fg_object_of(address) != NULL;
}

/*
 * An object that was seen before is not looked at again, unless it was unloaded and loaded again at
 * the same place: its slots are then as the loader left them.
 */
static void take_over(struct fg_object *object, const struct fg_object_list *known, bool any_gone)
{
	for (uint32_t i = 0; i < known->count; i++) {
		const struct fg_object *before = &known->objects[i];

		if (before->bias != object->bias || before->dynamic != object->dynamic ||
		    before->whole.end != object->whole.end || before->path != object->path)
			continue;
		object->led = before->led;
		object->is_initial = before->is_initial;
		object->is_seen =
			before->is_seen && (!any_gone || before->is_initial ||
					    (before->led && fg_call_is_stub(*before->led)));
	}
}

/* ---- patterns without a match ---- */

static bool is_meant(const void *pattern, const struct fg_object *object, const char *name)
{
	char readable[FG_CALL_NAME_MAX];

	return fg_call_is_wanted(name, readable) &&
	       fg_call_matches(pattern, readable, object->path);
}

/*
 * Notes for patterns that match nothing which object exports such a function.  The object may be
 * gone when that is reported.
 */
static void note_exports(const struct fg_object *object)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if (!pattern->is_reached && !pattern->exported_by &&
		    fg_object_exports(object, is_meant, pattern))
			pattern->exported_by = keep_text(object->path);
	}
}

/* ---- all objects ---- */

static void look_at_new(bool is_first)
{
	for (uint32_t i = 0; i < fg_objects.count; i++) {
		struct fg_object *object = &fg_objects.objects[i];

		object->is_initial |= is_first;
		if (!object->is_seen && !object->is_left)
			read_hooked(object);
	}
	if (is_first)
		fg_call_jumps_begin();
	for (uint32_t i = 0; i < fg_objects.count; i++) {
		struct fg_object *object = &fg_objects.objects[i];

		if (!object->is_seen && !object->is_left)
			each_slot(object, lead);
	}
	for (uint32_t i = 0; i < fg_objects.count; i++) {
		struct fg_object *object = &fg_objects.objects[i];

		if (!object->is_seen && !object->is_left)
			note_exports(object);
		object->is_seen = true;
	}
}

/* How often objects have come and gone, as the loader counts. */
struct changes {
	unsigned long long added;
	unsigned long long removed;
};

static int read_changes(struct dl_phdr_info *info, size_t size, void *data)
{
	struct changes *changes = data;

	(void)size;
	*changes = (struct changes){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

void fg_call_slots_update(void)
{
	static struct changes last;
	const bool is_first = !fg_objects.objects;
	struct changes now = {0, 0};
	struct fg_object_list before;

	(void)dl_iterate_phdr(read_changes, &now);
	if (!is_first && now.added == last.added && now.removed == last.removed)
		return;
	if (!fg_objects_read(&before))
		return;
	for (uint32_t i = 0; i < fg_objects.count; i++)
		take_over(&fg_objects.objects[i], &before, now.removed != last.removed);
	if (is_first && fg_objects.count > 0)
		each_slot(&fg_objects.objects[0], visit_canonical);
	free_stubs();
	fg_call_symbols_sweep(is_loaded);
	look_at_new(is_first);
	last = now;
}
