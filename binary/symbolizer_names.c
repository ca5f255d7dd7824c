// SPDX-License-Identifier: Apache-2.0
/* Finds the names, files and lines of one address. */
#include "base/log.h"
#include "base/strbuf.h"
#include "binary/demangle.h"
#include "binary/frame_flag.h"
#include "binary/symbolizer_private.h"

enum {
	MAX_FRAMES_BYTES = 256 << 20
};

/* Returns the readable form of a linkage name; NULL: not a mangled name. */
static const char *readable_name(struct fg_symbolizer *s, const char *linkage)
{
	bool is_new;
	uint64_t *place = fg_map_add_text(&s->readable, linkage, 0, &is_new);

	if (is_new) {
		struct fg_strbuf name = {0};

		if (fg_demangle(linkage, &name))
			*place = (uint64_t)(uintptr_t)fg_symbolizer_text(s, fg_strbuf_text(&name));
		fg_strbuf_release(&name);
	}
	return (const char *)(uintptr_t)*place;
}

/* Sets both names from a symbol table's name. */
static void name_linkage(struct fg_symbolizer *s, struct fg_symbol_function *function,
			 const char *linkage)
{
	const char *readable = readable_name(s, linkage);

	function->name = readable ? readable : fg_symbolizer_text(s, linkage);
	function->linkage = readable ? fg_symbolizer_text(s, linkage) : NULL;
}

static const char *linkage_at(const struct fg_symbol_module *module, uint64_t address)
{
	const struct fg_elf *elf =
		module->file.has_separate ? &module->file.separate : &module->file.elf;
	const struct fg_elf_symbol *symbol = fg_elf_find(elf, address);
	const struct fg_elf_symbol *dynamic =
		module->file.separate_is_mini ? fg_elf_find(&module->file.elf, address) : NULL;

	/* both symbol tables may cover the address: the nearer symbol is right */
	if (dynamic && (!symbol || dynamic->value >= symbol->value)) {
		elf = &module->file.elf;
		symbol = dynamic;
	}
	return symbol ? fg_elf_name(elf, symbol) : NULL;
}

/* Removes the version from a symbol table's name, such as "memcpy@GLIBC_2.14" or "foo@@V2". */
static const char *without_version(struct fg_symbolizer *s, const char *linkage)
{
	const char *at = strchr(linkage, '@');
	char *bare;

	if (!at || at == linkage)
		return linkage;
	bare = fg_arena_strndup(&s->arena, linkage, (size_t)(at - linkage));
	return bare;
}

static void read_frames(struct fg_symbol_module *module)
{
	struct fg_eh_section section = {.address = module->file.elf.frames_address,
					.is_narrow = module->file.elf.is_narrow};
	struct fg_error err = {0};
	char *bytes = NULL;

	module->file.tried_frames = true;
	if (!module->file.path)
		return;
	if (fg_elf_read_section(module->file.path, ".eh_frame", MAX_FRAMES_BYTES, &bytes,
				&section.size, &err) != FG_OK) {
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
		return;
	}
	section.bytes = (const uint8_t *)bytes;
	fg_eh_frames_add(&module->file.frames, &section);
	free(bytes);
}

/*
 * A stripped binary has no names, but its unwind tables list the starts of functions: all addresses
 * of a nameless function share one name, "library+0xSTART".
 */
uint64_t fg_symbol_module_start_of(struct fg_symbol_module *module, uint64_t address)
{
	const struct fg_eh_frame *frame = NULL;

	if (!module->file.tried_frames)
		read_frames(module);
	frame = fg_eh_frames_before(&module->file.frames, address);
	return frame && frame->start >= module->file.elf.code_start ? frame->start : address;
}

static uint32_t name_by_offset(struct fg_symbolizer *s, struct fg_symbol_module *module,
			       uint64_t address, struct fg_symbol_function *function)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%.400s+0x%llx", module->name,
		       (unsigned long long)fg_symbol_module_start_of(module, address));
	function->name = fg_symbolizer_text(s, text);
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

static void name_jit(struct fg_symbolizer *s, const char *name, struct fg_symbol_function *function)
{
	struct fg_jit_place place;

	if (!fg_jit_place_read(name, &place)) {
		function->name = fg_symbolizer_text(s, name);
		return;
	}
	function->name = fg_symbolizer_text(s, place.name);
	function->file = fg_symbolizer_text(s, place.file);
	function->line = place.line;
	free(place.name);
	free(place.file);
}

/*
 * Fills in the names and returns the frame's flags.  The PLT comes first: the symbol before it
 * ("_init") often has no size and would extend over it.
 */
static uint32_t name_by_table(struct fg_symbolizer *s, struct fg_symbol_module *module,
			      uint64_t address, struct fg_symbol_function *function)
{
	const char *target = fg_elf_plt_target(&module->file.elf, address);
	const char *linkage = linkage_at(module, address);
	const char *jit = fg_jit_map_find(&module->jit, address);

	if (target)
		return name_plt(s, module, target, function);
	if (linkage) {
		name_linkage(s, function, without_version(s, linkage));
		return 0;
	}
	if (jit) {
		name_jit(s, jit, function);
		return FG_FRAME_JIT;
	}
	return name_by_offset(s, module, address, function);
}

static const char *find_debug_text(struct fg_symbolizer *s, struct fg_symbol_module *module,
				   uint32_t text)
{
	bool is_new;
	const uint32_t place = *fg_pair_index_add(&module->debug.text_index, 0, text,
						  (uint32_t)module->debug.text_count, &is_new);

	if (is_new) {
		FG_APPEND(module->debug.texts, module->debug.text_count,
			  module->debug.text_capacity) =
			fg_arena_strdup(&s->arena, fg_debug_text(&module->debug.index, text));
	}
	return module->debug.texts[place];
}

/*
 * Returns a string of the debug index, interned by its offset: hashing long paths every time would
 * dominate the cost.
 */
static const char *debug_text(struct fg_symbolizer *s, struct fg_symbol_module *module,
			      uint32_t text)
{
	const char *lasting = fg_debug_lasting_text(&module->debug.index, text);
	const size_t slot = text % FG_RECENT_TEXTS;

	if (text == 0 || lasting)
		return text == 0 ? NULL : lasting;
	if (module->debug.recent[slot].text != text) {
		module->debug.recent[slot].kept = find_debug_text(s, module, text);
		module->debug.recent[slot].text = text;
	}
	return module->debug.recent[slot].kept;
}

static struct fg_symbol_function *new_function(struct fg_symbolizer *s)
{
	return fg_arena_alloc(&s->arena, sizeof(struct fg_symbol_function));
}

static const struct fg_symbol_function *
make_function(struct fg_symbolizer *s, struct fg_symbol_module *module, uint32_t number)
{
	const struct fg_debug_function known = module->debug.index.functions[number];
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
			fg_debug_set_readable(&module->debug.index, number, function->name);
	} else {
		function->name = known.name ? debug_text(s, module, known.name) : "";
	}
	return function;
}

/* Returns a function of the debug index, created when the function is first needed. */
static const struct fg_symbol_function *
function_at(struct fg_symbolizer *s, struct fg_symbol_module *module, uint32_t number)
{
	static const struct fg_symbol_function nameless = {.name = ""};
	const size_t count = module->debug.index.function_count;

	if (number == FG_DEBUG_NO_FUNCTION)
		return &nameless;
	if (count > module->debug.function_count) {
		module->debug.functions = fg_xreallocarray(module->debug.functions, count,
							   sizeof(module->debug.functions[0]));
		for (size_t i = module->debug.function_count; i < count; i++)
			module->debug.functions[i] = NULL;
		module->debug.function_count = count;
	}
	if (!module->debug.functions[number])
		module->debug.functions[number] = make_function(s, module, number);
	return module->debug.functions[number];
}

/*
 * Debug information has the name that the compiler saw ("__GI___libc_free"); the symbol table has
 * the public name ("free"), which is also shown on a host without debug information. A part that
 * the compiler split off ("fit.cold") belongs to its original function, which only debug
 * information names.
 */
static bool symbol_table_is_better(const struct fg_symbol_module *module, uint64_t address,
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
	by_table = symbol_table_is_better(module, address, symbol);
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

struct fg_symbol_chain fg_symbolizer_name(struct fg_symbolizer *s, struct fg_symbol_module *module,
					  uint64_t address)
{
	struct fg_debug_frame frames[FG_DEBUG_CHAIN_MAX];
	size_t count = fg_symbol_module_open_debug(s, module)
			       ? fg_debug_index_find(&module->debug.index, address, frames)
			       : 0;
	struct fg_symbol_chain chain = {.address = address, .count = count ? (uint32_t)count : 1};

	chain.symbols = fg_arena_array(&s->arena, chain.count, sizeof(chain.symbols[0]));
	for (size_t i = 0; i < count; i++)
		name_by_debug(s, module, address, &frames[i], &chain.symbols[i]);
	if (count == 0)
		name_without_debug(s, module, address, &chain.symbols[0]);
	return chain;
}
