// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbolizer.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/pair_index.h"
#include "symbols/debug_files.h"
#include "symbols/debug_index.h"
#include "symbols/demangle.h"
#include "symbols/elf_file.h"
#include "symbols/elf_starts.h"
#include "symbols/frame_flag.h"
#include "symbols/jit_map.h"
#include "symbols/mini_debug.h"

struct chain {
	uint64_t address;
	struct fg_symbol *symbols;
	uint32_t count;
};

enum {
	RECENT_TEXTS = 64
};

struct fg_symbol_module {
	const char *name;
	char build_id[FG_BUILD_ID_TEXT]; /* "": not recorded */
	char *binary;                    /* the file used; NULL: none */
	struct fg_elf elf;
	struct fg_elf debug_elf; /* symbols of a separate file, when the binary is stripped */
	bool has_debug_elf;
	bool is_mini;                /* they are only those that the dynamic symbols are without */
	struct fg_elf_starts starts; /* read when the first address without a name comes */
	bool tried_starts;
	struct fg_debug_index debug;
	bool has_debug;
	bool tried_debug;
	/* of the debug index, by number; NULL: not made yet */
	const struct fg_symbol_function **functions;
	size_t function_count;
	/* (0, offset of a text of the debug index) → index into texts */
	struct fg_pair_index text_index;
	const char **texts;
	size_t text_count, text_capacity;
	struct {
		uint32_t text; /* 0: nothing here */
		const char *kept;
	} recent[RECENT_TEXTS]; /* by the number's last bits: most frames are in the file of the one before */
	char *cache_file; /* NULL: not kept */
	struct fg_jit_map jit;
	const char *source;
	bool bad;
	bool is_vdso;
	struct chain *chains; /* of the addresses asked for, ascending */
	size_t chain_count, chain_capacity;
	size_t next;        /* behind the one found last */
	struct chain *late; /* those that came after a higher one */
	size_t late_count, late_capacity;
	struct fg_pair_index late_index; /* upper and lower half of the address → index into late */
};

struct fg_symbolizer {
	struct fg_arena arena;
	struct fg_symbolizer_options options;
	struct fg_map module_index; /* path NUL build-id → index */
	struct fg_symbol_module **modules;
	size_t module_count, module_capacity;
	struct fg_map readable; /* linkage name → address of the readable one */
	struct fg_map texts;
};

struct fg_symbolizer *fg_symbolizer_new(const struct fg_symbolizer_options *options)
{
	struct fg_symbolizer *symbolizer = fg_xcalloc(1, sizeof(*symbolizer));

	if (options)
		symbolizer->options = *options;
	if (!symbolizer->options.debug_root)
		symbolizer->options.debug_root = "/usr/lib/debug";
	return symbolizer;
}

/* Has a file been written? */
static bool save_cache(const struct fg_symbol_module *module)
{
	struct fg_error err = {0};

	/* what a missing .dwo left out may be there the next time */
	if (!module->cache_file || !module->has_debug || !module->debug.changed ||
	    module->debug.units_without_split > 0)
		return false;
	if (fg_debug_index_save(&module->debug, module->cache_file, module->build_id, &err) !=
	    FG_OK)
		fg_log(FG_LOG_PROFILE, 1, "symbol cache: %s", err.message);
	return err.code == FG_OK;
}

static void free_module(struct fg_symbol_module *module)
{
	if (module->has_debug)
		fg_debug_index_release(&module->debug);
	fg_elf_release(&module->elf);
	fg_elf_release(&module->debug_elf);
	fg_elf_starts_release(&module->starts);
	fg_jit_map_release(&module->jit);
	free(module->chains);
	free(module->late);
	fg_pair_index_release(&module->late_index);
	free(module->functions);
	fg_pair_index_release(&module->text_index);
	free(module->texts);
	free(module->binary);
	free(module->cache_file);
	free(module);
}

static void prune_cache(const char *cache_folder)
{
	char *symbols = fg_fs_join(cache_folder, "symbols");

	fg_debug_cache_prune(symbols);
	free(symbols);
}

void fg_symbolizer_free(struct fg_symbolizer *symbolizer)
{
	bool saved = false;

	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->module_count; i++) {
		saved = save_cache(symbolizer->modules[i]) || saved;
		free_module(symbolizer->modules[i]);
	}
	if (saved)
		prune_cache(symbolizer->options.cache_folder);
	free(symbolizer->modules);
	fg_map_release(&symbolizer->module_index);
	fg_map_release(&symbolizer->readable);
	fg_map_release(&symbolizer->texts);
	fg_arena_release(&symbolizer->arena);
	free(symbolizer);
}

/* --------------------------------------------------------------------- texts */

static const char *keep_text(struct fg_symbolizer *s, const char *text)
{
	uint64_t *place;
	bool is_new;

	if (!text)
		return NULL;
	place = fg_map_add_text(&s->texts, text, 0, &is_new);
	if (is_new)
		*place = (uint64_t)(uintptr_t)fg_arena_strdup(&s->arena, text);
	return (const char *)(uintptr_t)*place;
}

/* The readable form of a linkage name; NULL when it is none. */
static const char *readable_name(struct fg_symbolizer *s, const char *linkage)
{
	bool is_new;
	uint64_t *place = fg_map_add_text(&s->readable, linkage, 0, &is_new);

	if (is_new) {
		struct fg_strbuf name = {0};

		if (fg_demangle(linkage, &name))
			*place = (uint64_t)(uintptr_t)keep_text(s, fg_strbuf_text(&name));
		fg_strbuf_release(&name);
	}
	return (const char *)(uintptr_t)*place;
}

/* The names of a symbol of a table. */
static void name_linkage(struct fg_symbolizer *s, struct fg_symbol_function *function,
			 const char *linkage)
{
	const char *readable = readable_name(s, linkage);

	function->name = readable ? readable : keep_text(s, linkage);
	function->linkage = readable ? keep_text(s, linkage) : NULL;
}

/* ------------------------------------------------------------------- modules */

static bool same_build(const struct fg_elf *elf, const char *recorded)
{
	char text[FG_BUILD_ID_TEXT];

	fg_elf_build_id_text(elf, text);
	return recorded[0] == '\0' || strcmp(text, recorded) == 0;
}

/* Reads the file if it is the recorded build; else says why not, in `why`. */
static bool try_binary(struct fg_symbol_module *module, char *path, struct fg_error *why)
{
	struct fg_elf elf;
	char text[FG_BUILD_ID_TEXT];

	if (fg_elf_read(path, &elf, why) != FG_OK) {
		free(path);
		return false;
	}
	if (!same_build(&elf, module->build_id)) {
		fg_elf_build_id_text(&elf, text);
		(void)fg_error_set(
			why, FG_EINVAL,
			"'%s' has build-id %.16s, the trace was taken with %.16s: not used", path,
			text[0] ? text : "none", module->build_id);
		fg_elf_release(&elf);
		free(path);
		return false;
	}
	module->elf = elf;
	module->binary = path;
	return true;
}

/* The kernel may have put " (deleted)" behind the path of a file that was replaced while it ran. */
static bool find_binary(struct fg_symbolizer *s, struct fg_symbol_module *module, const char *path,
			struct fg_error *why)
{
	const char *const *folder = s->options.binary_folders;
	struct fg_error other = {0};

	if (try_binary(module, fg_xstrdup(path), why))
		return true;
	for (; folder && *folder; folder++) {
		const char *relative = path + strspn(path, "/");

		if (try_binary(module, fg_fs_join(*folder, relative), &other) ||
		    try_binary(module, fg_fs_join(*folder, module->name), &other))
			return true;
		if (other.code == FG_EINVAL) /* a file of this name was there: more telling */
			*why = other;
	}
	return false;
}

static void read_mini_debug(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error err = {0};

	if (fg_mini_debug_read(module->binary, &module->debug_elf, &err) != FG_OK) {
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
		return;
	}
	module->has_debug_elf = true;
	module->is_mini = true;
	module->source =
		fg_arena_printf(&s->arena, "compressed symbol table of %s", module->binary);
}

/*
 * A stripped binary's names: from the separate file with its symbol table, else from the small one
 * inside it.
 */
static void find_separate_symbols(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	char *path;

	if (module->elf.has_symbol_table)
		return;
	path = fg_debug_file_find(&module->elf, module->binary, s->options.debug_root,
				  s->options.debuginfod);
	module->has_debug_elf = path && fg_elf_read(path, &module->debug_elf, NULL) == FG_OK;
	if (module->has_debug_elf)
		module->source = fg_arena_printf(&s->arena, "symbol table of %s", path);
	else if (module->elf.has_mini_debug)
		read_mini_debug(s, module);
	free(path);
}

static void open_binary(struct fg_symbolizer *s, struct fg_symbol_module *module, const char *path)
{
	struct fg_error why = {0};

	if (!find_binary(s, module, path, &why)) {
		module->bad = true;
		module->source = fg_arena_strdup(&s->arena, why.message);
		return;
	}
	module->source = fg_arena_printf(
		&s->arena, "%s of %s",
		module->elf.has_symbol_table ? "symbol table" : "dynamic symbols", module->binary);
	if (module->build_id[0] == '\0')
		fg_elf_build_id_text(&module->elf, module->build_id);
	find_separate_symbols(s, module);
	if (s->options.cache_folder && module->build_id[0]) {
		char *name = fg_xasprintf("%s/symbols/%.2s/%s.fgsym", s->options.cache_folder,
					  module->build_id, module->build_id + 2);

		module->cache_file = name;
	}
}

/*
 * The kernel's own page of code: the same for every process of this boot, so ours serves when it is
 * the recorded build.
 */
static void open_vdso(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	const void *image;
	size_t size;
	struct fg_elf elf;

	module->is_vdso = true;
	module->name = "[vdso]";
	module->source = "the kernel's vdso";
	image = fg_debug_own_vdso(&size);
	if (!image || fg_elf_parse(image, size, "[vdso]", &elf, NULL) != FG_OK)
		return;
	if (same_build(&elf, module->build_id)) {
		module->elf = elf;
		return;
	}
	module->source = fg_arena_strdup(&s->arena, "the vdso of another kernel");
	fg_elf_release(&elf);
}

static struct fg_symbol_module *add_module(struct fg_symbolizer *s)
{
	struct fg_symbol_module *module = fg_xcalloc(1, sizeof(*module));

	module->source = "";
	s->modules = fg_grow(s->modules, &s->module_capacity, s->module_count + 1,
			     sizeof(struct fg_symbol_module *));
	s->modules[s->module_count++] = module;
	return module;
}

struct fg_symbol_module *fg_symbolizer_module(struct fg_symbolizer *s, const char *path,
					      const uint8_t *build_id, size_t build_id_size,
					      bool is_vdso)
{
	struct fg_symbol_module *module;
	struct fg_strbuf key = {0};
	uint64_t place;
	bool is_new;

	fg_strbuf_add(&key, path, strlen(path) + 1);
	fg_strbuf_add(&key, build_id, build_id_size);
	place = *fg_map_add(&s->module_index, key.data, key.length, s->module_count, &is_new);
	fg_strbuf_release(&key);
	if (!is_new)
		return s->modules[place];
	module = add_module(s);
	if (build_id_size <= FG_BUILD_ID_MAX && build_id_size > 0)
		fg_hex(build_id, build_id_size, module->build_id);
	module->name = keep_text(s, fg_fs_base_name(path));
	if (is_vdso)
		open_vdso(s, module);
	else
		open_binary(s, module, path);
	return module;
}

struct fg_symbol_module *fg_symbolizer_jit(struct fg_symbolizer *s, uint32_t pid)
{
	struct fg_symbol_module *module;
	char key[32];
	uint64_t place;
	bool is_new;

	(void)snprintf(key, sizeof(key), "jit %u", pid);
	place = *fg_map_add_text(&s->module_index, key, s->module_count, &is_new);
	if (!is_new)
		return s->modules[place];
	module = add_module(s);
	module->name = "[unknown]";
	module->source = "code outside any module";
	if (fg_jit_map_read(pid, &module->jit, NULL) == FG_OK) {
		module->name = "[JIT]";
		module->source = fg_arena_printf(&s->arena, "/tmp/perf-%u.map", pid);
	}
	return module;
}

/* ------------------------------------------------------------------ addresses */

/* The debug index is opened with the first address that needs it, from the cache if it is there. */
static bool open_debug(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error err = {0};
	char *path;

	if (module->tried_debug || s->options.names_only || !module->binary)
		return module->has_debug;
	module->tried_debug = true;
	path = module->elf.has_debug_info
		       ? fg_xstrdup(module->binary)
		       : fg_debug_file_find(&module->elf, module->binary, s->options.debug_root,
					    s->options.debuginfod);
	if (!path)
		return false;
	if (module->cache_file)
		module->has_debug = fg_debug_index_load(&module->debug, module->cache_file,
							module->build_id, path, NULL) == FG_OK;
	if (!module->has_debug)
		module->has_debug = fg_debug_index_open(&module->debug, path, &err) == FG_OK;
	if (module->has_debug)
		module->source = fg_arena_printf(&s->arena, "debug information of %s", path);
	else
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
	free(path);
	return module->has_debug;
}

static const char *linkage_at(const struct fg_symbol_module *module, uint64_t address)
{
	const struct fg_elf *elf = module->has_debug_elf ? &module->debug_elf : &module->elf;
	const struct fg_elf_symbol *symbol = fg_elf_find(elf, address);
	const struct fg_elf_symbol *dynamic =
		module->is_mini ? fg_elf_find(&module->elf, address) : NULL;

	/* one table goes on where the other has a symbol: the nearer one is it */
	if (dynamic && (!symbol || dynamic->value >= symbol->value)) {
		elf = &module->elf;
		symbol = dynamic;
	}
	return symbol ? fg_elf_name(elf, symbol) : NULL;
}

/* "memcpy@GLIBC_2.14" and "foo@@V2" in symbol tables: the version is not part of the name. */
static const char *without_version(struct fg_symbolizer *s, const char *linkage)
{
	const char *at = strchr(linkage, '@');
	char *bare;

	if (!at || at == linkage)
		return linkage;
	bare = fg_arena_strndup(&s->arena, linkage, (size_t)(at - linkage));
	return bare;
}

static uint64_t start_of(struct fg_symbol_module *module, uint64_t address)
{
	struct fg_error err = {0};

	if (!module->tried_starts && module->binary &&
	    fg_elf_starts_read(module->binary, &module->elf, &module->starts, &err) != FG_OK)
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
	module->tried_starts = true;
	return fg_elf_starts_find(&module->starts, address);
}

static uint32_t name_by_offset(struct fg_symbolizer *s, struct fg_symbol_module *module,
			       uint64_t address, struct fg_symbol_function *function)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%.400s+0x%llx", module->name,
		       (unsigned long long)start_of(module, address));
	function->name = keep_text(s, text);
	return FG_FRAME_NAMELESS;
}

static uint32_t name_plt(struct fg_symbolizer *s, const struct fg_symbol_module *module,
			 const char *target, struct fg_symbol_function *function)
{
	struct fg_strbuf name = {0};

	fg_strbuf_printf(&name, "%s@plt", *target ? target : module->name);
	name_linkage(s, function, fg_strbuf_text(&name));
	fg_strbuf_release(&name);
	return FG_FRAME_PLT;
}

/*
 * Fills in the names, and returns what kind of frame that makes.  The PLT comes first: the symbol
 * before it ("_init") often has no size and would claim it.
 */
static uint32_t name_by_table(struct fg_symbolizer *s, struct fg_symbol_module *module,
			      uint64_t address, struct fg_symbol_function *function)
{
	const char *target = fg_elf_plt_target(&module->elf, address);
	const char *linkage = linkage_at(module, address);
	const char *jit = fg_jit_map_find(&module->jit, address);

	if (target)
		return name_plt(s, module, target, function);
	if (linkage) {
		name_linkage(s, function, without_version(s, linkage));
		return 0;
	}
	if (jit) {
		function->name = keep_text(s, jit);
		return FG_FRAME_JIT;
	}
	return name_by_offset(s, module, address, function);
}

static const char *find_debug_text(struct fg_symbolizer *s, struct fg_symbol_module *module,
				   uint32_t text)
{
	bool is_new;
	const uint32_t place = *fg_pair_index_add(&module->text_index, 0, text,
						  (uint32_t)module->text_count, &is_new);

	if (is_new) {
		module->texts = fg_grow(module->texts, &module->text_capacity,
					module->text_count + 1, sizeof(module->texts[0]));
		module->texts[module->text_count++] =
			fg_arena_strdup(&s->arena, fg_debug_text(&module->debug, text));
	}
	return module->texts[place];
}

/*
 * A text of the debug index, kept: looked up by its number, for hashing long paths again and again
 * costs most of the time.
 */
static const char *debug_text(struct fg_symbolizer *s, struct fg_symbol_module *module,
			      uint32_t text)
{
	const char *lasting = fg_debug_lasting_text(&module->debug, text);
	const size_t slot = text % RECENT_TEXTS;

	if (text == 0 || lasting)
		return text == 0 ? NULL : lasting;
	if (module->recent[slot].text != text) {
		module->recent[slot].kept = find_debug_text(s, module, text);
		module->recent[slot].text = text;
	}
	return module->recent[slot].kept;
}

static struct fg_symbol_function *new_function(struct fg_symbolizer *s)
{
	return fg_arena_alloc(&s->arena, sizeof(struct fg_symbol_function));
}

static const struct fg_symbol_function *
make_function(struct fg_symbolizer *s, struct fg_symbol_module *module, uint32_t number)
{
	const struct fg_debug_function known = module->debug.functions[number];
	const char *linkage = debug_text(s, module, known.linkage);
	struct fg_symbol_function *function = new_function(s);

	function->file = debug_text(s, module, known.file);
	function->line = known.line;
	if (known.readable) {
		function->name = debug_text(s, module, known.readable);
		function->linkage = linkage;
	} else if (linkage) {
		name_linkage(s, function, linkage);
		if (function->linkage)
			fg_debug_set_readable(&module->debug, number, function->name);
	} else {
		function->name = known.name ? debug_text(s, module, known.name) : "";
	}
	return function;
}

/* A function of the debug index, made when the first address in it is asked for. */
static const struct fg_symbol_function *
function_at(struct fg_symbolizer *s, struct fg_symbol_module *module, uint32_t number)
{
	static const struct fg_symbol_function nameless = {.name = ""};
	const size_t count = module->debug.function_count;

	if (number == FG_DEBUG_NO_FUNCTION)
		return &nameless;
	if (count > module->function_count) {
		module->functions =
			fg_xreallocarray(module->functions, count, sizeof(module->functions[0]));
		for (size_t i = module->function_count; i < count; i++)
			module->functions[i] = NULL;
		module->function_count = count;
	}
	if (!module->functions[number])
		module->functions[number] = make_function(s, module, number);
	return module->functions[number];
}

/*
 * Debug information calls a C function by the name that the compiler saw ("__GI___libc_free"), the
 * symbol table by the one that people call ("free"), and so does a host without debug information.
 * Parts that the compiler split off ("fit.cold") belong to the function they came from: there the
 * debug information knows better.
 */
static bool table_knows_better(const struct fg_symbol_module *module, uint64_t address,
			       const struct fg_symbol *symbol)
{
	const char *linkage;

	if (symbol->flags & FG_FRAME_INLINED || symbol->function->linkage)
		return false;
	linkage = linkage_at(module, address);
	return !symbol->function->name[0] || (linkage && !strchr(linkage, '.'));
}

static void name_by_debug(struct fg_symbolizer *s, struct fg_symbol_module *module,
			  uint64_t address, const struct fg_debug_frame *frame,
			  struct fg_symbol *symbol)
{
	struct fg_symbol_function *renamed;
	bool by_table;

	*symbol = (struct fg_symbol){
		.function = function_at(s, module, frame->function),
		.at_file = debug_text(s, module, frame->at_file),
		.at_line = frame->at_line,
		.flags = frame->inlined ? FG_FRAME_INLINED : 0,
	};
	by_table = table_knows_better(module, address, symbol);
	if (!by_table && symbol->function->name[0])
		return;
	renamed = new_function(s);
	*renamed = *symbol->function;
	symbol->flags |= by_table ? name_by_table(s, module, address, renamed)
				  : name_by_offset(s, module, address, renamed);
	symbol->function = renamed;
}

static void name_without_debug(struct fg_symbolizer *s, struct fg_symbol_module *module,
			       uint64_t address, struct fg_symbol *symbol)
{
	struct fg_symbol_function *function = new_function(s);

	symbol->flags = name_by_table(s, module, address, function);
	symbol->function = function;
}

static struct chain make_chain(struct fg_symbolizer *s, struct fg_symbol_module *module,
			       uint64_t address)
{
	struct fg_debug_frame frames[FG_DEBUG_CHAIN_MAX];
	size_t count =
		open_debug(s, module) ? fg_debug_index_find(&module->debug, address, frames) : 0;
	struct chain chain = {.address = address, .count = count ? (uint32_t)count : 1};

	chain.symbols = fg_arena_array(&s->arena, chain.count, sizeof(chain.symbols[0]));
	for (size_t i = 0; i < count; i++)
		name_by_debug(s, module, address, &frames[i], &chain.symbols[i]);
	if (count == 0)
		name_without_debug(s, module, address, &chain.symbols[0]);
	return chain;
}

void fg_symbolizer_expect(struct fg_symbol_module *module, size_t addresses)
{
	const size_t count = module->chain_count + addresses;

	module->chains =
		fg_grow(module->chains, &module->chain_capacity, count, sizeof(module->chains[0]));
}

/* The place of the first known address that is not below this one. */
static size_t place_of(const struct fg_symbol_module *module, uint64_t address)
{
	size_t low = 0;
	size_t high = module->chain_count;

	/* Whoever asks in order finds it right behind the one before. */
	if (module->next < high && module->chains[module->next].address == address)
		return module->next;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->chains[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct chain *append_chain(struct fg_symbolizer *s, struct fg_symbol_module *module,
					uint64_t address)
{
	struct chain chain = make_chain(s, module, address);

	module->chains = fg_grow(module->chains, &module->chain_capacity, module->chain_count + 1,
				 sizeof(module->chains[0]));
	module->chains[module->chain_count] = chain;
	return &module->chains[module->chain_count++];
}

/*
 * Addresses that come out of order are few: most are asked for in order, and again in the next
 * repetition.
 */
static const struct chain *find_late(struct fg_symbolizer *s, struct fg_symbol_module *module,
				     uint64_t address)
{
	bool is_new;
	const uint32_t place =
		*fg_pair_index_add(&module->late_index, (uint32_t)(address >> 32),
				   (uint32_t)address, (uint32_t)module->late_count, &is_new);

	if (is_new) {
		struct chain chain = make_chain(s, module, address);

		module->late = fg_grow(module->late, &module->late_capacity, module->late_count + 1,
				       sizeof(module->late[0]));
		module->late[module->late_count++] = chain;
	}
	return &module->late[place];
}

static const struct chain *find_chain(struct fg_symbolizer *s, struct fg_symbol_module *module,
				      uint64_t address)
{
	const size_t count = module->chain_count;
	size_t place;

	if (count == 0 || address > module->chains[count - 1].address)
		return append_chain(s, module, address);
	place = place_of(module, address);
	if (module->chains[place].address != address)
		return find_late(s, module, address);
	module->next = place + 1;
	return &module->chains[place];
}

size_t fg_symbolizer_find(struct fg_symbolizer *s, struct fg_symbol_module *module,
			  uint64_t address, const struct fg_symbol **chain)
{
	const struct chain *found = find_chain(s, module, address);

	*chain = found->symbols;
	return found->count;
}

const char *fg_symbol_module_name(const struct fg_symbol_module *module)
{
	return module->name;
}

const char *fg_symbol_module_source(const struct fg_symbol_module *module)
{
	return module->source;
}

size_t fg_symbol_module_missing_units(const struct fg_symbol_module *module)
{
	return module->has_debug ? module->debug.units_without_split : 0;
}

bool fg_symbol_module_is_bad(const struct fg_symbol_module *module)
{
	return module->bad;
}
