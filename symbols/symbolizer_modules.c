// SPDX-License-Identifier: Apache-2.0
/* The files of a module: found, checked against the recorded build, opened when they are needed. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "symbols/debug_files.h"
#include "symbols/mini_debug.h"
#include "symbols/symbolizer_private.h"

const char *fg_symbolizer_text(struct fg_symbolizer *s, const char *text)
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

bool fg_symbol_module_save(const struct fg_symbol_module *module)
{
	struct fg_error err = {0};

	/* a missing .dwo may be there the next time */
	if (!module->debug.cache_file || !module->debug.is_open || !module->debug.index.changed ||
	    module->debug.index.units_without_split > 0)
		return false;
	if (fg_debug_index_save(&module->debug.index, module->debug.cache_file, module->build_id,
				&err) != FG_OK)
		fg_log(FG_LOG_PROFILE, 1, "symbol cache: %s", err.message);
	return err.code == FG_OK;
}

void fg_symbol_module_free(struct fg_symbol_module *module)
{
	if (module->debug.is_open)
		fg_debug_index_release(&module->debug.index);
	fg_elf_release(&module->file.elf);
	fg_elf_release(&module->file.separate);
	fg_elf_starts_release(&module->file.starts);
	fg_jit_map_release(&module->jit);
	free(module->chains.items);
	free(module->chains.late);
	fg_pair_index_release(&module->chains.late_index);
	free(module->debug.functions);
	fg_pair_index_release(&module->debug.text_index);
	free(module->debug.texts);
	free(module->file.path);
	free(module->debug.cache_file);
	free(module);
}

static bool same_build(const struct fg_elf *elf, const char *recorded)
{
	char text[FG_BUILD_ID_TEXT];

	fg_elf_build_id_text(elf, text);
	return recorded[0] == '\0' || strcmp(text, recorded) == 0;
}

/* Opens the file if it is the recorded build; otherwise `why` has the reason. */
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
	module->file.elf = elf;
	module->file.path = path;
	return true;
}

/*
 * The kernel may have appended " (deleted)" to the path of a file that was replaced while it ran.
 */
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
		if (other.code == FG_EINVAL) /* a file of this name exists: a better reason */
			*why = other;
	}
	return false;
}

static void read_mini_debug(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error err = {0};

	if (fg_mini_debug_read(module->file.path, &module->file.separate, &err) != FG_OK) {
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
		return;
	}
	module->file.has_separate = true;
	module->file.separate_is_mini = true;
	module->source =
		fg_arena_printf(&s->arena, "compressed symbol table of %s", module->file.path);
}

/*
 * A stripped binary's names: from the separate file with its symbol table, else from the small one
 * inside it.
 */
static void find_separate_symbols(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	char *path;

	if (module->file.elf.has_symbol_table)
		return;
	path = fg_debug_file_find(&module->file.elf, module->file.path, s->options.debug_root,
				  s->options.debuginfod);
	module->file.has_separate =
		path && fg_elf_read(path, &module->file.separate, NULL) == FG_OK;
	if (module->file.has_separate)
		module->source = fg_arena_printf(&s->arena, "symbol table of %s", path);
	else if (module->file.elf.has_mini_debug)
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
	module->source = fg_arena_printf(&s->arena, "%s of %s",
					 module->file.elf.has_symbol_table ? "symbol table"
									   : "dynamic symbols",
					 module->file.path);
	if (module->build_id[0] == '\0')
		fg_elf_build_id_text(&module->file.elf, module->build_id);
	find_separate_symbols(s, module);
	if (s->options.cache_folder && module->build_id[0]) {
		char *name = fg_xasprintf("%s/symbols/%.2s/%s.fgsym", s->options.cache_folder,
					  module->build_id, module->build_id + 2);

		module->debug.cache_file = name;
	}
}

/*
 * The vdso is the same for every process of this boot, so ours is used if its build-id matches.
 */
static void open_vdso(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	const void *image;
	size_t size;
	struct fg_elf elf;

	module->name = "[vdso]";
	module->source = "the kernel's vdso";
	image = fg_debug_own_vdso(&size);
	if (!image || fg_elf_parse(image, size, "[vdso]", &elf, NULL) != FG_OK)
		return;
	if (same_build(&elf, module->build_id)) {
		module->file.elf = elf;
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
	module->name = fg_symbolizer_text(s, fg_fs_base_name(path));
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

bool fg_symbol_module_open_debug(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error err = {0};
	char *path;

	if (module->debug.was_tried || s->options.names_only || !module->file.path)
		return module->debug.is_open;
	module->debug.was_tried = true;
	path = module->file.elf.has_debug_info
		       ? fg_xstrdup(module->file.path)
		       : fg_debug_file_find(&module->file.elf, module->file.path,
					    s->options.debug_root, s->options.debuginfod);
	if (!path)
		return false;
	if (module->debug.cache_file)
		module->debug.is_open =
			fg_debug_index_load(&module->debug.index, module->debug.cache_file,
					    module->build_id, path, NULL) == FG_OK;
	if (!module->debug.is_open)
		module->debug.is_open =
			fg_debug_index_open(&module->debug.index, path, &err) == FG_OK;
	if (module->debug.is_open)
		module->source = fg_arena_printf(&s->arena, "debug information of %s", path);
	else
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
	free(path);
	return module->debug.is_open;
}
