// SPDX-License-Identifier: Apache-2.0
/* Finds the files of a module, checks them against the recorded build and opens them on demand. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "binary/debug_files.h"
#include "binary/symbolizer_private.h"

const char *fg_symbolizer_text(struct fg_symbolizer *s, const char *text)
{
	return text ? fg_map_intern(&s->texts, text) : NULL;
}

bool fg_symbol_module_save(struct fg_symbol_module *module)
{
	struct fg_error err = {0};

	/* a missing .dwo may be found the next time */
	if (!module->debug.cache_file || !module->debug.is_open || !module->debug.index.changed ||
	    module->debug.index.units_without_split > 0)
		return false;
	if (fg_debug_index_save(&module->debug.index, module->debug.cache_file, module->build_id,
				&err) != FG_OK)
		fg_log(FG_LOG_PROFILE, 1, "symbol cache: %s", err.message);
	module->debug.index.changed = false;
	return err.code == FG_OK;
}

void fg_symbol_module_free(struct fg_symbol_module *module)
{
	if (module->debug.is_open)
		fg_debug_index_release(&module->debug.index);
	fg_elf_release(&module->file.elf);
	fg_elf_release(&module->file.separate);
	fg_eh_frames_release(&module->file.frames);
	fg_jit_map_release(&module->jit);
	free(module->chains.items);
	free(module->chains.late);
	fg_pair_index_release(&module->chains.late_index);
	free(module->debug.functions);
	fg_pair_index_release(&module->debug.text_index);
	free(module->debug.texts);
	free(module->file.path);
	free(module->file.debug_path);
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
static bool try_binary(struct fg_symbol_module *module, char *path, const char *from,
		       struct fg_error *why)
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
			"'%s' is not used: its build-id is %.16s, but the trace was recorded "
			"with %.16s",
			from, text[0] ? text : "none", module->build_id);
		fg_elf_release(&elf);
		free(path);
		return false;
	}
	module->file.elf = elf;
	module->file.path = path;
	module->file.from = from;
	return true;
}

/* Takes ownership of `path`, a file of this host. */
static bool try_path(struct fg_symbolizer *s, struct fg_symbol_module *module, char *path,
		     struct fg_error *why)
{
	return try_binary(module, path, fg_symbolizer_text(s, path), why);
}

/*
 * Tries the file at the recorded path, or its copy in the archive. An archive without a copy
 * records why the file was not found on the recorded host.
 */
static bool try_recorded(struct fg_symbolizer *s, struct fg_symbol_module *module,
			 struct fg_error *why)
{
	const struct fg_symbol_files *files = module->archived;

	if (!s->options.archive)
		return try_path(s, module, fg_xstrdup(module->path), why);
	if (files && files->binary.path)
		return try_binary(module, fg_xstrdup(files->binary.path), files->binary.from, why);
	(void)fg_error_set(why, FG_ENOENT, "%s",
			   files && files->problem ? files->problem : "not in the archive");
	return false;
}

/*
 * Tries the recorded path, then each of binary_folders. If none has the recorded build, `why` gets
 * the best reason.
 */
static bool find_binary(struct fg_symbolizer *s, struct fg_symbol_module *module,
			struct fg_error *why)
{
	const char *const *folder = s->options.binary_folders;
	struct fg_error other = {0};

	if (try_recorded(s, module, why))
		return true;
	for (; folder && *folder; folder++) {
		const char *relative = module->path + strspn(module->path, "/");

		if (try_path(s, module, fg_fs_join(*folder, relative), &other) ||
		    try_path(s, module, fg_fs_join(*folder, module->name), &other))
			return true;
		if (other.code == FG_EINVAL) /* a better reason than a missing file */
			*why = other;
	}
	return false;
}

/* Returns the separate debug file of the binary, searched for once; NULL: none. */
static const char *find_debug_file(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_module_file *file = &module->file;

	if (file->looked_for_debug)
		return file->debug_path;
	file->looked_for_debug = true;
	if (module->archived && module->archived->debug.path) {
		file->debug_path = fg_debug_file_check(&file->elf, module->archived->debug.path);
		file->debug_from = module->archived->debug.from;
	} else if (!s->options.archive) {
		file->debug_path = fg_debug_file_find(&file->elf, file->path, s->options.debug_root,
						      s->options.debuginfod);
		file->debug_from = fg_symbolizer_text(s, file->debug_path);
	}
	return file->debug_path;
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
		fg_arena_printf(&s->arena, "compressed symbol table of %s", module->file.from);
}

/*
 * Reads a stripped binary's symbols from the separate debug file, or from the small table inside
 * the binary.
 */
static void find_separate_symbols(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	const char *path;

	if (module->file.elf.has_symbol_table)
		return;
	path = find_debug_file(s, module);
	module->file.has_separate =
		path && fg_elf_read(path, &module->file.separate, NULL) == FG_OK;
	if (module->file.has_separate)
		module->source =
			fg_arena_printf(&s->arena, "symbol table of %s", module->file.debug_from);
	else if (module->file.elf.has_mini_debug)
		read_mini_debug(s, module);
}

static void open_binary(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error why = {0};

	if (!find_binary(s, module, &why)) {
		module->bad = true;
		module->source = fg_arena_strdup(&s->arena, why.message);
		return;
	}
	module->source = fg_arena_printf(&s->arena, "%s of %s",
					 module->file.elf.has_symbol_table ? "symbol table"
									   : "dynamic symbols",
					 module->file.from);
	if (module->build_id[0] == '\0')
		fg_elf_build_id_text(&module->file.elf, module->build_id);
	find_separate_symbols(s, module);
	if (s->options.cache_folder && module->build_id[0])
		module->debug.cache_file =
			fg_debug_cache_file(s->options.cache_folder, module->build_id);
}

/* Reads the image of the vdso from the archive or from this process. */
static int read_vdso(const struct fg_symbolizer *s, const struct fg_symbol_module *module,
		     struct fg_elf *elf)
{
	const struct fg_symbol_files *files = module->archived;
	const void *image;
	size_t size;

	if (s->options.archive)
		return files && files->binary.path ? fg_elf_read(files->binary.path, elf, NULL)
						   : FG_ENOENT;
	image = fg_debug_own_vdso(&size);
	return image ? fg_elf_parse(image, size, "[vdso]", elf, NULL) : FG_ENOENT;
}

/*
 * All 64-bit processes since boot have the same vdso, so this process's vdso is used if its
 * build-id matches.
 */
static void open_vdso(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_elf elf;

	module->name = "[vdso]";
	module->source = "the kernel's vdso";
	if (read_vdso(s, module, &elf) != FG_OK) {
		if (s->options.archive)
			module->source = "the vdso of another kernel";
		return;
	}
	if (same_build(&elf, module->build_id)) {
		module->file.elf = elf;
		module->has_vdso = true;
		return;
	}
	module->source = fg_arena_strdup(&s->arena, "the vdso of another kernel");
	fg_elf_release(&elf);
}

static struct fg_symbol_module *add_module(struct fg_symbolizer *s)
{
	struct fg_symbol_module *module = fg_xcalloc(1, sizeof(*module));

	module->source = "";
	FG_APPEND(s->modules, s->module_count, s->module_capacity) = module;
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
	module->has_recorded_id = module->build_id[0] != '\0';
	module->path = fg_symbolizer_text(s, path);
	module->name = fg_fs_base_name(module->path);
	if (s->options.archive)
		module->archived =
			fg_symbol_archive_find(s->options.archive, path, module->build_id);
	if (is_vdso)
		open_vdso(s, module);
	else
		open_binary(s, module);
	return module;
}

struct fg_symbol_module *fg_symbolizer_jit(struct fg_symbolizer *s, uint32_t pid)
{
	struct fg_strbuf key = {0};
	struct fg_symbol_module *module;
	const char *map = NULL;
	char *from = NULL;
	uint64_t place;
	bool is_new;

	fg_strbuf_printf(&key, "jit %u", pid);
	place = *fg_map_add_text(&s->module_index, fg_strbuf_text(&key), s->module_count, &is_new);
	fg_strbuf_release(&key);
	if (!is_new)
		return s->modules[place];
	module = add_module(s);
	module->name = "[unknown]";
	module->source = "code outside any module";
	module->pid = pid;
	from = fg_xasprintf("/tmp/perf-%u.map", pid);
	map = s->options.archive ? fg_symbol_archive_map(s->options.archive, pid) : from;
	if (map && fg_jit_map_read(map, &module->jit, NULL) == FG_OK) {
		module->name = "[JIT]";
		module->source = fg_symbolizer_text(s, from);
	}
	free(from);
	return module;
}

bool fg_symbol_module_open_debug(struct fg_symbolizer *s, struct fg_symbol_module *module)
{
	struct fg_error err = {0};
	const char *path;

	if (module->debug.was_tried || s->options.names_only || !module->file.path)
		return module->debug.is_open;
	module->debug.was_tried = true;
	path = module->file.elf.has_debug_info ? module->file.path : find_debug_file(s, module);
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
		module->source =
			fg_arena_printf(&s->arena, "debug information of %s",
					module->file.elf.has_debug_info ? module->file.from
									: module->file.debug_from);
	else
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
	return module->debug.is_open;
}

/* ---- files for another host ---- */

static struct fg_symbol_files files_of(const struct fg_symbol_module *module)
{
	const bool own = module->file.path || module->has_vdso;

	return (struct fg_symbol_files){
		.path = module->path,
		.build_id = module->has_recorded_id ? module->build_id : "",
		.binary = {.path = module->file.path, .from = module->file.from},
		.debug = {.path = module->file.debug_path, .from = module->file.debug_from},
		.problem = own ? NULL : module->source,
		.is_vdso = module->has_vdso,
	};
}

void fg_symbolizer_files(const struct fg_symbolizer *s, struct fg_symbol_archive *archive)
{
	*archive = (struct fg_symbol_archive){
		.modules = fg_xcalloc(s->module_count + 1, sizeof(archive->modules[0])),
		.maps = fg_xcalloc(s->module_count + 1, sizeof(archive->maps[0])),
	};
	for (size_t i = 0; i < s->module_count; i++) {
		const struct fg_symbol_module *module = s->modules[i];

		if (module->path)
			archive->modules[archive->module_count++] = files_of(module);
		else if (module->jit.count > 0)
			archive->maps[archive->map_count++] =
				(struct fg_symbol_map){.pid = module->pid, .path = module->source};
	}
}
