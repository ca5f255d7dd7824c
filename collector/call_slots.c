// SPDX-License-Identifier: Apache-2.0
/*
 * An object calls functions of others through slots that the dynamic linker fills: of its PLT, of
 * its GOT, and words of its data that hold addresses of functions.  Where a slot is for a function
 * that is wanted, it gets the address of a stub instead, which jumps to what the slot held.  All
 * slots of one function get the same stub, so addresses of functions still compare as equal.
 *
 * A slot of the PLT that is bound at its first call does not hold a function yet.  Its function is
 * looked up here: where that is not certain, the slot stays as it is, and is told.
 *
 * All of this happens while objects cannot come and go: before main, and inside dlopen(), when an
 * object that was just loaded begins (__gmon_start__).
 */
#include "base/attrs.h"
#include "collector/call_fentry.h"
#include "collector/call_jumps.h"
#include "collector/call_symbols.h"
#include "collector/collector_env.h"
#include "collector/domains.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define HOOK   "__cyg_profile_func_enter"
#define FENTRY "__fentry__"

enum {
	OBJECTS_MAX = 4096,
	SEGMENTS_MAX = 8,
	CANONICAL_MAX = 1024,
	PAGE = 4096,
};

struct range {
	uintptr_t start;
	uintptr_t end;
};

/* What is read of a loaded object.  Tables are NULL where it has none. */
struct object {
	uintptr_t bias;
	const char *path;
	const ElfW(Dyn) * dynamic;
	struct range whole;
	struct range relro; /* read-only since it was relocated */
	struct range code[SEGMENTS_MAX];
	struct range writable[SEGMENTS_MAX];
	unsigned code_count, writable_count;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
	const uint16_t *versions;
	const uint8_t *needed_versions;
	const uint8_t *defined_versions;
	size_t needed_count, defined_count;
	const ElfW(Rela) * tables[2];
	size_t table_sizes[2];
	const uintptr_t *led; /* a slot that leads to a stub since, or NULL */
	bool is_seen;         /* its slots were looked at */
	bool is_left;         /* ours, the loader, the kernel's: its slots stay as they are */
	bool is_initial;      /* loaded with the program: everybody finds what it exports */
	bool has_hooks;       /* compiled with -finstrument-functions */
	struct fg_fentry_slots fentry; /* compiled with -mfentry, if there are any */
	bool is_symbolic;              /* finds what it exports itself before all others */
};

struct object_list {
	struct object *objects;
	uint32_t count;
};

static struct object_list known;
static struct object_list found;

struct fg_called fg_called[FG_CALLED_MAX];
uint32_t fg_called_count;
bool fg_called_full;
uint32_t fg_call_nameless;
struct fg_call_target fg_call_targets[FG_CALL_STUBS_MAX];
static uint32_t stub_count;

/* Where the program's own PLT stands for a function: calls through it are counted there. */
static uintptr_t canonical[CANONICAL_MAX];
static uint32_t canonical_count;

/* ---- what an object says ---- */

static bool lies_in(uintptr_t address, const struct range *ranges, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

static void add_range(struct range *ranges, unsigned *count, uintptr_t start, uintptr_t end)
{
	if (*count < SEGMENTS_MAX)
		ranges[(*count)++] = (struct range){start, end};
}

static void read_segments(struct object *object, const struct dl_phdr_info *info)
{
	object->whole.start = UINTPTR_MAX;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + header->p_vaddr;
		const uintptr_t end = start + header->p_memsz;

		if (header->p_type == PT_DYNAMIC) {
			object->dynamic = (const ElfW(Dyn) *)start;
		} else if (header->p_type == PT_GNU_RELRO) {
			object->relro.start = start & ~(uintptr_t)(PAGE - 1);
			object->relro.end = end & ~(uintptr_t)(PAGE - 1);
		}
		if (header->p_type != PT_LOAD)
			continue;
		if (start < object->whole.start)
			object->whole.start = start;
		if (end > object->whole.end)
			object->whole.end = end;
		if (header->p_flags & PF_X)
			add_range(object->code, &object->code_count, start, end);
		else if (header->p_flags & PF_W)
			add_range(object->writable, &object->writable_count, start, end);
	}
}

/* The loader has added the bias to what it needs itself, with most objects. */
static const void *at(const struct object *object, uintptr_t value)
{
	return (const void *)(value >= object->bias ? value : object->bias + value);
}

static void read_entry(struct object *object, const ElfW(Dyn) * entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		object->symbols = at(object, value);
		break;
	case DT_STRTAB:
		object->strings = at(object, value);
		break;
	case DT_GNU_HASH:
		object->hash = at(object, value);
		break;
	case DT_VERSYM:
		object->versions = at(object, value);
		break;
	case DT_VERNEED:
		object->needed_versions = at(object, value);
		break;
	case DT_VERNEEDNUM:
		object->needed_count = entry->d_un.d_val;
		break;
	case DT_VERDEF:
		object->defined_versions = at(object, value);
		break;
	case DT_VERDEFNUM:
		object->defined_count = entry->d_un.d_val;
		break;
	case DT_JMPREL:
		object->tables[0] = at(object, value);
		break;
	case DT_PLTRELSZ:
		object->table_sizes[0] = entry->d_un.d_val;
		break;
	case DT_RELA:
		object->tables[1] = at(object, value);
		break;
	case DT_RELASZ:
		object->table_sizes[1] = entry->d_un.d_val;
		break;
	case DT_SYMBOLIC:
		object->is_symbolic = true;
		break;
	case DT_FLAGS:
		object->is_symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
		break;
	default:
		break;
	}
}

static bool is_of_the_system(const struct object *object)
{
	static const char loader[] = "ld-linux";
	const char *slash = strrchr(object->path, '/');
	const char *name = slash ? slash + 1 : object->path;

	return object->whole.start == getauxval(AT_SYSINFO_EHDR) ||
	       object->whole.start == getauxval(AT_BASE) ||
	       strncmp(name, loader, sizeof(loader) - 1) == 0 || strstr(name, FG_COLLECTOR_NAME);
}

static int list_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object_list *list = data;
	struct object *object = &list->objects[list->count];

	(void)size;
	if (list->count == OBJECTS_MAX)
		return 1;
	*object = (struct object){.bias = info->dlpi_addr,
				  .path = info->dlpi_name ? info->dlpi_name : ""};
	read_segments(object, info);
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
		read_entry(object, entry);
	if (object->dynamic)
		object->is_left = is_of_the_system(object);
	else
		object->is_left = true;
	list->count++;
	return 0;
}

static bool reserve(struct object_list *list)
{
	void *memory = NULL;

	if (list->objects)
		return true;
	memory = mmap(NULL, OBJECTS_MAX * sizeof(struct object), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	list->objects = memory;
	return true;
}

static const struct object *object_of(uintptr_t address)
{
	for (uint32_t i = 0; i < known.count; i++)
		if (address >= known.objects[i].whole.start && address < known.objects[i].whole.end)
			return &known.objects[i];
	return NULL;
}

/* ---- which function an import means ---- */

/* The version that an undefined symbol asks for, or NULL. */
static const char *wanted_version(const struct object *object, size_t index)
{
	const uint8_t *need = object->needed_versions;
	const uint16_t number = object->versions ? object->versions[index] & 0x7fff : 0;

	for (size_t i = 0; need && number > 1 && i < object->needed_count; i++) {
		const ElfW(Verneed) *library = (const void *)need;
		const uint8_t *aux = need + library->vn_aux;

		for (size_t n = 0; n < library->vn_cnt; n++) {
			const ElfW(Vernaux) *version = (const void *)aux;

			if ((version->vna_other & 0x7fff) == number)
				return object->strings + version->vna_name;
			aux += version->vna_next;
		}
		need += library->vn_next;
	}
	return NULL;
}

/* Is this definition the wanted version, or the default one where none is asked for? */
static bool has_version(const struct object *object, size_t index, const char *wanted)
{
	const uint8_t *definition = object->defined_versions;
	const uint16_t number = object->versions ? object->versions[index] : 1;

	if (!wanted)
		return !(number & 0x8000);
	for (size_t i = 0; definition && i < object->defined_count; i++) {
		const ElfW(Verdef) *version = (const void *)definition;
		const ElfW(Verdaux) *name = (const void *)(definition + version->vd_aux);

		if (version->vd_ndx == (number & 0x7fff))
			return strcmp(object->strings + name->vda_name, wanted) == 0;
		definition += version->vd_next;
	}
	return !object->defined_versions;
}

static bool is_function(const ElfW(Sym) * symbol)
{
	const unsigned kind = ELF64_ST_TYPE(symbol->st_info);

	return kind == STT_FUNC || kind == STT_GNU_IFUNC;
}

/* The tables of DT_GNU_HASH. */
struct hash_table {
	const uint32_t *buckets;
	const uint32_t *chains;
	uint32_t bucket_count;
	uint32_t first;
};

static struct hash_table hash_table(const struct object *object)
{
	const uint32_t *head = object->hash;
	const uint32_t *buckets = head + 4 + (size_t)head[2] * sizeof(ElfW(Addr)) / sizeof(*head);

	return (struct hash_table){buckets, buckets + head[0], head[0], head[1]};
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = 33 * hash + (uint8_t)*name;
	return hash;
}

/* The function of this name that the object exports, or NULL. */
static const ElfW(Sym) *
	exported(const struct object *object, const char *name, const char *version)
{
	const uint32_t hash = hash_name(name);
	struct hash_table table;
	uint32_t index = 0;

	if (!object->hash || !object->symbols || !object->strings || !object->hash[0])
		return NULL;
	table = hash_table(object);
	index = table.buckets[hash % table.bucket_count];
	for (; index >= table.first && index; index++) {
		const ElfW(Sym) *symbol = &object->symbols[index];
		const uint32_t chain = table.chains[index - table.first];

		if ((chain | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    is_function(symbol) && strcmp(object->strings + symbol->st_name, name) == 0 &&
		    has_version(object, index, version))
			return symbol;
		if (chain & 1)
			break;
	}
	return NULL;
}

static uintptr_t address_of(const struct object *object, const ElfW(Sym) * symbol)
{
	uintptr_t address = object->bias + symbol->st_value;

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		address = ((uintptr_t(*)(void))address)();
	return address;
}

/*
 * What an import of `object` will be bound to: the first that exports it among those that were
 * loaded with the program, in the loader's order, or else the only one.  0: not certain.
 */
static uintptr_t look_up(const struct object *object, const char *name, const char *version)
{
	const struct object *first = NULL;
	unsigned later = 0;

	if (object->is_symbolic && exported(object, name, version))
		return address_of(object, exported(object, name, version));
	for (uint32_t i = 0; i < known.count; i++) {
		const struct object *other = &known.objects[i];

		if (!exported(other, name, version))
			continue;
		later += !other->is_initial;
		if (!first)
			first = other;
	}
	/* One that came later may prefer its own (RTLD_DEEPBIND), or be seen by some alone. */
	if (!first || (first->is_initial ? later && !object->is_initial : later > 1))
		return 0;
	return address_of(first, exported(first, name, version));
}

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
	uint32_t at = hash_name(name) % FG_ARRAY_SIZE(called_places);

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

/* What the patterns say of the function `name` of the object `path`; false: none means it. */
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
 * with?  The pattern is told.
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

/* Finds or adds it; false: no pattern means it, or there is no room. */
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

static bool add_jumped(const char *symbol, const char *readable, const char *path,
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

/* The stub that counts this function and jumps there; 0: there are no more. */
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
		if (!object_of(atomic_load(&fg_call_targets[i].address)))
			atomic_store(&fg_call_targets[i].address, 0);
}

/* ---- slots ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): an atomic store changes it */
static bool write_slot(const struct object *object, uintptr_t *slot, uintptr_t value)
{
	const uintptr_t address = (uintptr_t)slot;
	void *page = (void *)(address & ~(uintptr_t)(PAGE - 1));
	const bool is_protected = address >= object->relro.start && address < object->relro.end;

	if (!lies_in(address, object->writable, object->writable_count) ||
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
static void note_canonical(const struct object *object, const ElfW(Sym) * symbol)
{
	if (symbol->st_shndx == SHN_UNDEF && symbol->st_value && canonical_count < CANONICAL_MAX)
		canonical[canonical_count++] = object->bias + symbol->st_value;
}

static uintptr_t target_of(const struct object *object, const ElfW(Rela) * entry,
			   const ElfW(Sym) * symbol, uintptr_t held)
{
	const size_t index = (size_t)(symbol - object->symbols);
	const bool is_defined = symbol->st_shndx != SHN_UNDEF;

	if (ELF64_R_TYPE(entry->r_info) != R_X86_64_JUMP_SLOT ||
	    !lies_in(held, object->code, object->code_count))
		return held;
	if (is_defined && held == object->bias + symbol->st_value)
		return held;
	/* It leads back into its own PLT: it will be bound when it is called first. */
	return look_up(object, object->strings + symbol->st_name,
		       is_defined ? NULL : wanted_version(object, index));
}

static void lead(struct object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
	const char *name = object->strings + symbol->st_name;
	uintptr_t *slot = (uintptr_t *)(object->bias + entry->r_offset);
	char readable[FG_CALL_NAME_MAX];
	const struct object *from = NULL;
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
	from = object_of(target);
	if (!from || !lies_in(target, from->code, from->code_count) || is_canonical(target) ||
	    fg_call_is_stub(target) || fg_call_symbol_find(target, &hooked) ||
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

static void each_slot(struct object *object, void (*visit)(struct object *, const ElfW(Rela) *))
{
	for (unsigned t = 0; object->symbols && object->strings && t < 2; t++) {
		const size_t count = object->table_sizes[t] / sizeof(ElfW(Rela));

		for (size_t i = 0; object->tables[t] && i < count; i++)
			if (is_slot(&object->tables[t][i]))
				visit(object, &object->tables[t][i]);
	}
}

static bool is_used_by_us(uintptr_t address)
{
	const struct object *ours = object_of((uintptr_t)&known);

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

static void visit_canonical(struct object *object, const ElfW(Rela) * entry)
{
	note_canonical(object, &object->symbols[ELF64_R_SYM(entry->r_info)]);
}

static void visit_hook(struct object *object, const ElfW(Rela) * entry)
{
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];

	if (symbol->st_shndx != SHN_UNDEF)
		return;
	object->has_hooks |= strcmp(object->strings + symbol->st_name, HOOK) == 0;
	if (strcmp(object->strings + symbol->st_name, FENTRY) == 0)
		fg_fentry_slot_add(&object->fentry, object->bias + entry->r_offset);
}

static uintptr_t fentry_site(const struct object *object, uintptr_t address, size_t size)
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
	const struct object *object = context;
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
		hook.is_counted_only =
			symbol->is_clone || is_other_overload(symbol->base, readable, object->path);
	}
	if (!add_function(readable, object->path, (enum fg_call_way)hook.way, &hook.function))
		return;
	(void)fg_call_symbol_add(address, &hook);
	if (site)
		(void)fg_call_symbol_add(site, &hook);
}

static void read_hooked(struct object *object)
{
	object->fentry.count = 0;
	each_slot(object, visit_hook);
	if (object->has_hooks || (object->fentry.count > 0 && fg_fentry_is_ready()))
		fg_call_nameless += !fg_call_symbols_each(object->path, object, add_hooked);
}

static bool is_loaded(uintptr_t address)
{
	return object_of(address) != NULL;
}

/*
 * What was looked at before stays so, as long as it is the same object: not one that was unloaded
 * and loaded again at the same place, whose slots are as the loader left them.
 */
static void take_over(struct object *object, bool any_gone)
{
	for (uint32_t i = 0; i < known.count; i++) {
		const struct object *before = &known.objects[i];

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

/* ---- what was not reached ---- */

static bool exports_match(const struct object *object, const struct fg_call_pattern *pattern)
{
	char readable[FG_CALL_NAME_MAX];
	struct hash_table table;

	if (!object->hash || !object->symbols || !object->strings || !object->hash[0])
		return false;
	table = hash_table(object);
	for (uint32_t bucket = 0; bucket < table.bucket_count; bucket++) {
		uint32_t index = table.buckets[bucket];

		for (; index >= table.first && index; index++) {
			const ElfW(Sym) *symbol = &object->symbols[index];

			if (is_function(symbol) &&
			    fg_call_is_wanted(object->strings + symbol->st_name, readable) &&
			    fg_call_matches(pattern, readable, object->path))
				return true;
			if (table.chains[index - table.first] & 1)
				break;
		}
	}
	return false;
}

/*
 * Which patterns reach nothing though this object exports such a function?  The object may be gone
 * when that is told.
 */
static void note_exports(const struct object *object)
{
	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if (!pattern->is_reached && !pattern->exported_by && exports_match(object, pattern))
			pattern->exported_by = keep_text(object->path);
	}
}

/* ---- all objects ---- */

static const struct fg_call_jump_host jump_host = {.add = add_jumped,
						   .is_used_by_us = is_used_by_us};

static void look_at_new(bool is_first)
{
	for (uint32_t i = 0; i < known.count; i++) {
		struct object *object = &known.objects[i];

		object->is_initial |= is_first;
		if (!object->is_seen && !object->is_left)
			read_hooked(object);
	}
	if (is_first)
		fg_call_jumps_begin(&jump_host);
	for (uint32_t i = 0; i < known.count; i++) {
		struct object *object = &known.objects[i];

		if (!object->is_seen && !object->is_left)
			each_slot(object, lead);
	}
	for (uint32_t i = 0; i < known.count; i++) {
		struct object *object = &known.objects[i];

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
	const bool is_first = !known.objects;
	struct changes now = {0, 0};

	(void)dl_iterate_phdr(read_changes, &now);
	if (!is_first && now.added == last.added && now.removed == last.removed)
		return;
	if (!reserve(&known) || !reserve(&found))
		return;
	found.count = 0;
	(void)dl_iterate_phdr(list_one, &found);
	for (uint32_t i = 0; i < found.count; i++)
		take_over(&found.objects[i], now.removed != last.removed);

	const struct object_list before = known;

	known = found;
	found = before;
	if (is_first && known.count > 0)
		each_slot(&known.objects[0], visit_canonical);
	free_stubs();
	fg_call_symbols_sweep(is_loaded);
	look_at_new(is_first);
	last = now;
}
