// SPDX-License-Identifier: Apache-2.0
/*
 * An object calls functions of other objects through slots that the dynamic linker fills: in its
 * PLT, in its GOT, and in words of its data that hold addresses of functions.  The slot of a wanted
 * function gets the address of a stub instead, which jumps to the previous content.  All slots of
 * one function get the same stub, so addresses of functions still compare as equal.
 *
 * A slot of the PLT that is bound at its first call does not hold a function yet.  Its function is
 * looked up here; if the result is not certain, the slot stays as it is, and is reported.
 *
 * All of this happens while objects cannot be loaded or unloaded: before main, and inside dlopen(),
 * when a newly loaded object is initialised (__gmon_start__).
 */
#include "base/attrs.h"
#include "collector/calls/call_jumps.h"
#include "collector/calls/call_objects.h"
#include "collector/calls/call_symbols.h"

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

uint32_t fg_call_nameless;
struct fg_call_target fg_call_targets[FG_CALL_STUBS_MAX];
static uint32_t stub_count;

/*
 * The program's own PLT entries that stand for functions: calls through such an entry are counted
 * at its own slot.
 */
static uintptr_t canonical[CANONICAL_MAX];
static uint32_t canonical_count;

/* Notes that imports of this name are left alone because their target is not certain. */
static void note_unresolved(const char *name)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++)
		fg_call_patterns[i].unresolved += fg_call_matches(&fg_call_patterns[i], name, NULL);
}

/* ---- stubs ---- */

/* Returns the stub that counts this function and jumps to `target`; 0: no stub is left. */
static uintptr_t stub_for(uint32_t function, uintptr_t target, bool is_counted_only)
{
	uint32_t index = stub_count;

	for (uint32_t i = 0; i < stub_count; i++) {
		const uintptr_t address = atomic_load(&fg_call_targets[i].address);

		if (address == target && atomic_load(&fg_call_targets[i].function) == function)
			return fg_call_stub(i);
		/* Reuses the stub of a target whose object was unloaded: nothing calls it. */
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

/* Is the function called in unusual ways, or needed by the collector itself? */
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
 * Notes a PLT entry that stands for a function: in a position-dependent program, the entry's
 * address may stand for a library's function, in all objects.
 */
static void note_canonical(const struct fg_object *object, const ElfW(Sym) * symbol)
{
	if (symbol->st_shndx == SHN_UNDEF && symbol->st_value && canonical_count < CANONICAL_MAX)
		canonical[canonical_count++] = object->exports.bias + symbol->st_value;
}

static uintptr_t target_of(const struct fg_object *object, const ElfW(Rela) * entry,
			   const ElfW(Sym) * symbol, uintptr_t held)
{
	const size_t index = (size_t)(symbol - object->exports.symbols);
	const bool is_defined = symbol->st_shndx != SHN_UNDEF;

	if (ELF64_R_TYPE(entry->r_info) != R_X86_64_JUMP_SLOT ||
	    !fg_ranges_hold(held, object->code, object->code_count))
		return held;
	if (is_defined && held == object->exports.bias + symbol->st_value)
		return held;
	/* The slot leads back into its own PLT: it will be bound at its first call. */
	return fg_object_look_up(object, object->exports.strings + symbol->st_name,
				 is_defined ? NULL : fg_object_wanted_version(object, index));
}

static void lead(struct fg_object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->exports.symbols[ELF64_R_SYM(entry->r_info)];
	const char *name = object->exports.strings + symbol->st_name;
	uintptr_t *slot = (uintptr_t *)(object->exports.bias + entry->r_offset);
	char readable[FG_CALL_NAME_MAX];
	const struct fg_object *from = NULL;
	struct fg_call_symbol hooked; /* found if the function counts its own calls */
	uintptr_t target = 0;
	uint32_t function = 0;

	if (!fg_call_is_wanted(name, NULL, readable) || is_untouchable(name) || *slot == 0)
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
	    !fg_call_function_add(readable, from->path, FG_CALL_WAY_IMPORT, &function))
		return;
	const uintptr_t stub =
		stub_for(function, target, fg_call_is_other_overload(name, readable, from->path));

	if (stub && write_slot(object, slot, stub))
		object->stub_slot = slot;
}

static void each_slot(struct fg_object *object,
		      void (*visit)(struct fg_object *, const ElfW(Rela) *))
{
	for (unsigned t = 0; object->exports.symbols && object->exports.strings && t < 2; t++) {
		const size_t count = object->table_sizes[t] / sizeof(ElfW(Rela));

		for (size_t i = 0; object->tables[t] && i < count; i++)
			if (fg_object_is_slot(&object->tables[t][i]))
				visit(object, &object->tables[t][i]);
	}
}

static void visit_canonical(struct fg_object *object, const ElfW(Rela) * entry)
{
	note_canonical(object, &object->exports.symbols[ELF64_R_SYM(entry->r_info)]);
}

static void visit_hook(struct fg_object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->exports.symbols[ELF64_R_SYM(entry->r_info)];

	if (symbol->st_shndx != SHN_UNDEF)
		return;
	object->has_hooks |= strcmp(object->exports.strings + symbol->st_name, HOOK) == 0;
	if (strcmp(object->exports.strings + symbol->st_name, FENTRY) == 0)
		fg_fentry_slot_add(&object->fentry, object->exports.bias + entry->r_offset);
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

/*
 * Adds a function that calls a hook. The hook of -finstrument-functions is preferred: it also
 * reports the end of each call.
 */
static void add_hooked(void *context, const struct fg_call_defined *symbol)
{
	const struct fg_object *object = context;
	const uintptr_t address = object->exports.bias + symbol->address;
	struct fg_call_symbol hook = {.way = FG_CALL_WAY_HOOKS, .size = symbol->size};
	char readable[FG_CALL_NAME_MAX];
	uintptr_t site = 0;

	if (symbol->is_resolver || !fg_call_is_wanted(symbol->base, object->path, readable))
		return;
	if (!object->has_hooks) {
		site = fentry_site(object, address, symbol->size);
		if (!site)
			return;
		hook.way = FG_CALL_WAY_FENTRY;
		/*
		 * If durations are wanted, calls are only counted: __fentry__ does not see the end
		 * of a call.
		 */
		hook.is_counted_only =
			symbol->is_clone ||
			fg_call_is_other_overload(symbol->base, readable, object->path) ||
			fg_calls_timed;
	}
	if (!fg_call_function_add(readable, object->path, (enum fg_call_way)hook.way,
				  &hook.function))
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
 * Skips an object that was examined before, unless it was unloaded and loaded again at the same
 * place: then the loader has filled its slots again.
 */
static void take_over(struct fg_object *object, const struct fg_object_list *known, bool any_gone)
{
	for (uint32_t i = 0; i < known->count; i++) {
		const struct fg_object *before = &known->objects[i];

		if (before->exports.bias != object->exports.bias ||
		    before->dynamic != object->dynamic || before->whole.end != object->whole.end ||
		    before->path != object->path)
			continue;
		object->stub_slot = before->stub_slot;
		object->is_initial = before->is_initial;
		object->is_seen = before->is_seen &&
				  (!any_gone || before->is_initial ||
				   (before->stub_slot && fg_call_is_stub(*before->stub_slot)));
	}
}

/* ---- patterns without a match ---- */

static bool is_meant(const void *pattern, const struct fg_object *object, const char *name)
{
	char readable[FG_CALL_NAME_MAX];

	return fg_call_is_wanted(name, object->path, readable) &&
	       fg_call_matches(pattern, readable, object->path);
}

/*
 * If this object exports a function that an unmatched pattern describes, notes that at the pattern.
 * The object's path is copied, because the object may be unloaded before the report.
 */
static void note_exports(const struct fg_object *object)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if (!pattern->is_reached && !pattern->exported_by &&
		    fg_object_exports(object, is_meant, pattern))
			pattern->exported_by = fg_call_keep_text(object->path);
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

/* The loader's counts of objects loaded and unloaded. */
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
