// SPDX-License-Identifier: Apache-2.0
/*
 * The traces are read as for a view. The symbolizer then lists the files that named the addresses,
 * and these files go into the archive.
 */
#include "base/fs.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/version.h"
#include "binary/debug_files.h"
#include "binary/debug_index.h"
#include "profile/exchange/archive.h"
#include "profile/exchange/pack.h"
#include "profile/trace_profile.h"
#include "trace/trace_format.h"

enum {
	INDEX_BYTES_MAX = 64 << 20 /* a larger index is left out, as if it had not been cached */
};

struct item {
	const char *name;
	const char *path; /* NULL: `data` */
	const void *data;
	uint64_t size;
	char sha256[FG_SHA256_HEX_SIZE];
};

struct writer {
	struct fg_arena arena;
	const struct fg_symbolizer_options *options;
	struct fg_archive_content *content;
	struct item *items;
	size_t item_count, item_capacity;
	struct fg_map by_name; /* name → index */
	struct fg_strbuf manifest;
	struct fg_json_writer json;
};

static void note_missing(struct fg_archive_content *content, const char *name, const char *why)
{
	FG_APPEND(content->missing, content->missing_count, content->missing_capacity) =
		fg_xasprintf("%s: %s", name, why);
}

/* ---- choice of files ---- */

static int count_bytes(struct writer *w, uint64_t size, struct fg_error *err)
{
	if (size > FG_ARCHIVE_TOTAL_BYTES || w->content->bytes > FG_ARCHIVE_TOTAL_BYTES - size ||
	    w->item_count >= FG_ARCHIVE_FILES)
		return fg_error_set(err, FG_ELIMIT,
				    "an archive holds at most %d GiB in %d files, unpacked",
				    (int)(FG_ARCHIVE_TOTAL_BYTES >> 30), (int)FG_ARCHIVE_FILES);
	w->content->bytes += size;
	return FG_OK;
}

/*
 * Adds a file unless the archive already has it; `name` becomes its final name. Two different files
 * can claim one name (a program and its stripped copy have the same build-id): the second is named
 * after its digest.
 */
static int add_item(struct writer *w, struct item item, const char **name, struct fg_error *err)
{
	bool is_new = false;
	uint64_t *place = NULL;

	if (!item.name)
		item.name = fg_arena_printf(&w->arena, "files/%s", item.sha256);
	place = fg_map_add_text(&w->by_name, item.name, w->item_count, &is_new);
	if (!is_new && strcmp(w->items[*place].sha256, item.sha256) != 0) {
		item.name = fg_arena_printf(&w->arena, "files/%s", item.sha256);
		(void)fg_map_add_text(&w->by_name, item.name, w->item_count, &is_new);
	}
	*name = item.name;
	if (!is_new)
		return FG_OK;
	FG_TRY(count_bytes(w, item.size, err));
	FG_APPEND(w->items, w->item_count, w->item_capacity) = item;
	return FG_OK;
}

static int add_file(struct writer *w, const char *path, const char **name, struct fg_error *err)
{
	struct item item = {.name = *name, .path = fg_arena_strdup(&w->arena, path)};
	const int status = fg_pack_digest(path, &item.size, item.sha256, err);

	return status == FG_OK ? add_item(w, item, name, err) : status;
}

/*
 * Returns the path where debuggers look for this build-id below a folder of debug files; NULL: name
 * the file after its digest.
 */
static const char *name_by_id(struct writer *w, const char *build_id, const char *ending)
{
	return strlen(build_id) > 2 ? fg_arena_printf(&w->arena, "debug/.build-id/%.2s/%s%s",
						      build_id, build_id + 2, ending)
				    : NULL;
}

static int add_vdso(struct writer *w, const char **name, struct fg_error *err)
{
	struct item item = {.name = *name};
	size_t size = 0;

	item.data = fg_debug_own_vdso(&size);
	if (!item.data)
		return fg_error_set(err, FG_EUNSUPPORTED, "this process has no vdso");
	item.size = size;
	fg_sha256_hex(item.data, size, item.sha256);
	return add_item(w, item, name, err);
}

/*
 * Adds cached results from debug information, which need no .dwo files. The cache is read
 * immediately, because another fastgate may change or remove it at any time.
 */
static int add_index(struct writer *w, const char *build_id, struct fg_error *err)
{
	struct item item = {0};
	const char *name = NULL;
	char *path = NULL;
	char *data = NULL;
	size_t size = 0;

	if (!w->options->cache_folder || strlen(build_id) <= 2)
		return FG_OK;
	path = fg_debug_cache_file(w->options->cache_folder, build_id);
	if (fg_fs_read_regular(path, INDEX_BYTES_MAX, &data, &size, NULL) == FG_OK) {
		item.name =
			fg_arena_printf(&w->arena, "symbols/%.2s/%s.fgsym", build_id, build_id + 2);
		item.data = fg_arena_memdup(&w->arena, data, size);
		item.size = size;
		fg_sha256_hex(data, size, item.sha256);
	}
	free(data);
	free(path);
	return item.name ? add_item(w, item, &name, err) : FG_OK;
}

static void write_place(struct fg_json_writer *json, const char *member, const char *name,
			const char *from)
{
	fg_json_begin_object(json, member);
	fg_json_text(json, "name", name);
	if (from)
		fg_json_text(json, "from", from);
	fg_json_end(json);
}

static int add_module(struct writer *w, const struct fg_symbol_files *module, struct fg_error *err)
{
	const char *binary = name_by_id(w, module->build_id, "");
	const char *debug = name_by_id(w, module->build_id, ".debug");

	fg_json_begin_object(&w->json, NULL);
	fg_json_text(&w->json, "path", module->path);
	fg_json_text(&w->json, "build_id", module->build_id);
	if (module->is_vdso || module->binary.path) {
		FG_TRY(module->is_vdso ? add_vdso(w, &binary, err)
				       : add_file(w, module->binary.path, &binary, err));
		write_place(&w->json, "binary", binary, module->binary.from);
		w->content->binaries++;
	}
	if (module->debug.path) {
		FG_TRY(add_file(w, module->debug.path, &debug, err));
		write_place(&w->json, "debug", debug, module->debug.from);
		w->content->debug_files++;
	}
	if (module->problem) {
		fg_json_text(&w->json, "problem", module->problem);
		note_missing(w->content, fg_fs_base_name(module->path), module->problem);
	}
	fg_json_end(&w->json);
	return add_index(w, module->build_id, err);
}

static int add_modules(struct writer *w, const struct fg_symbol_archive *files,
		       struct fg_error *err)
{
	int status = FG_OK;

	fg_json_begin_array(&w->json, "modules");
	for (size_t i = 0; i < files->module_count && status == FG_OK; i++)
		status = add_module(w, &files->modules[i], err);
	if (status != FG_OK)
		return status;
	fg_json_end(&w->json);
	fg_json_begin_array(&w->json, "maps");
	for (size_t i = 0; i < files->map_count && status == FG_OK; i++) {
		const struct fg_symbol_map *map = &files->maps[i];
		const char *name = fg_arena_printf(&w->arena, "maps/perf-%u.map", map->pid);

		status = add_file(w, map->path, &name, err);
		fg_json_begin_object(&w->json, NULL);
		fg_json_int(&w->json, "pid", map->pid);
		fg_json_text(&w->json, "name", name);
		fg_json_end(&w->json);
		w->content->maps++;
	}
	fg_json_end(&w->json);
	return status;
}

/* Traces are numbered, so that they are read in the same order. */
static int add_traces(struct writer *w, const char *traces, struct fg_error *err)
{
	char **paths = NULL;
	size_t count = 0;
	int status = FG_OK;

	FG_TRY(fg_profile_list_traces(traces, &paths, &count, err));
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		const char *name = fg_arena_printf(&w->arena, "%s/%06zu%s", FG_ARCHIVE_TRACES, i,
						   FG_TRACE_SUFFIX);

		if (!fg_trace_is_trace(paths[i])) {
			note_missing(w->content, paths[i], "not a trace");
			continue;
		}
		status = add_file(w, paths[i], &name, err);
		w->content->traces++;
	}
	fg_fs_list_free(paths, count);
	return status;
}

/* ---- the file ---- */

static void write_file_list(struct writer *w)
{
	fg_json_begin_array(&w->json, "files");
	for (size_t i = 0; i < w->item_count; i++) {
		fg_json_begin_object(&w->json, NULL);
		fg_json_text(&w->json, "name", w->items[i].name);
		fg_json_int(&w->json, "size", (int64_t)w->items[i].size);
		fg_json_text(&w->json, "sha256", w->items[i].sha256);
		fg_json_end(&w->json);
	}
	fg_json_end(&w->json);
}

static int write_pack(struct writer *w, const char *output, struct fg_error *err)
{
	struct fg_pack *pack = NULL;
	int status = FG_OK;

	FG_TRY(fg_pack_create(output, &pack, err));
	status = fg_pack_add(pack, FG_ARCHIVE_MANIFEST, w->manifest.data, w->manifest.length, err);
	for (size_t i = 0; i < w->item_count && status == FG_OK; i++) {
		const struct item *item = &w->items[i];

		status = item->path ? fg_pack_add_file(pack, item->name, item->path, item->size,
						       item->sha256, err)
				    : fg_pack_add(pack, item->name, item->data, (size_t)item->size,
						  err);
	}
	if (status != FG_OK) {
		fg_pack_abandon(pack);
		return status;
	}
	return fg_pack_finish(pack, err);
}

static int gather(struct writer *w, const char *traces, struct fg_error *err)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(w->options);
	struct fg_symbol_archive files = {0};
	struct fg_profile profile;
	int status = FG_OK;

	FG_TRY_OUT(fg_profile_read_traces(traces, symbolizer, &profile, err));
	fg_profile_release(&profile);
	fg_symbolizer_save(symbolizer);
	fg_symbolizer_files(symbolizer, &files);
	FG_TRY_OUT(add_traces(w, traces, err));
	status = add_modules(w, &files, err);
out:
	fg_symbol_archive_release(&files);
	fg_symbolizer_free(symbolizer);
	return status;
}

int fg_archive_write(const char *traces, const struct fg_symbolizer_options *symbols,
		     const char *output, struct fg_archive_content *content, struct fg_error *err)
{
	struct writer w = {.options = symbols, .content = content};
	int status = FG_OK;

	*content = (struct fg_archive_content){0};
	fg_json_writer_init(&w.json, &w.manifest, 1);
	fg_json_begin_object(&w.json, NULL);
	fg_json_text(&w.json, "schema", FG_ARCHIVE_SCHEMA);
	fg_json_text(&w.json, "tool", fg_version());
	FG_TRY_OUT(gather(&w, traces, err));
	write_file_list(&w);
	fg_json_end(&w.json);
	fg_strbuf_add_char(&w.manifest, '\n');
	if (w.manifest.length > FG_ARCHIVE_MANIFEST_BYTES)
		status = fg_error_set(err, FG_ELIMIT, "%s: too many modules and files", output);
	else
		status = write_pack(&w, output, err);
out:
	fg_strbuf_release(&w.manifest);
	fg_map_release(&w.by_name);
	free(w.items);
	fg_arena_release(&w.arena);
	if (status != FG_OK)
		fg_archive_content_release(content);
	return status;
}

void fg_archive_content_release(struct fg_archive_content *content)
{
	fg_fs_list_free(content->missing, content->missing_count);
	*content = (struct fg_archive_content){0};
}
