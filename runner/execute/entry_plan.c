// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/entry_plan.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "binary/entries.h"
#include "runner/facts/loader_list.h"
#include "runner/facts/program_file.h"

#include <stdlib.h>
#include <string.h>

enum {
	SCRIPT_DEPTH_MAX = 4,
};

struct writing {
	struct fg_strbuf objects;
	struct fg_strbuf entries;
	struct fg_strbuf texts;
	uint64_t object_count;
	uint64_t entry_count;
};

/* ---- finding the program ---- */

/* The file that will be executed, for a script its interpreter; to be freed. */
static int find_program(const char *path, char **program, struct fg_program_file *file,
			struct fg_error *err)
{
	char script[sizeof(file->interpreter)];
	int status = fg_program_file_read(path, file, err);

	for (unsigned depth = 0; status == FG_OK && *file->interpreter && depth < SCRIPT_DEPTH_MAX;
	     depth++) {
		memcpy(script, file->interpreter, sizeof(script));
		path = script;
		status = fg_program_file_read(path, file, err);
	}
	if (status != FG_OK)
		return status;
	*program = realpath(path, NULL);
	if (!*program)
		return fg_error_errno(err, FG_ENOENT, "%s", path);
	if (file->is_dynamic && !file->is_musl && file->machine == EM_X86_64)
		return FG_OK;
	return fg_error_set(
		err, FG_EUNSUPPORTED,
		"%s: function entries are known only for 64-bit programs with the GNU C library",
		*program);
}

/* ---- writing a plan ---- */

static uint64_t add_text(struct writing *w, const char *text)
{
	const uint64_t at = w->texts.length;

	fg_strbuf_add(&w->texts, text, strlen(text) + 1);
	return at;
}

/* `name` is the dynamic linker's name for the file; unreadable files are left out. */
static void add_object(struct writing *w, const char *name, const char *folder)
{
	struct fg_plan_object object = {.first_entry = w->entry_count};
	struct fg_entries entries;
	struct fg_error why = {0};
	char *path = fg_fs_join(folder ? folder : ".", name);

	if (w->object_count == FG_PLAN_OBJECTS_MAX ||
	    fg_entries_read(path, &entries, &why) != FG_OK) {
		free(path);
		return;
	}
	free(path);
	object.path = add_text(w, name);
	object.sum = entries.sum;
	object.entry_count = entries.count;
	for (size_t i = 0; i < entries.count; i++) {
		struct fg_plan_entry entry = entries.entries[i];

		entry.name = add_text(w, entries.names[entry.name]);
		fg_strbuf_add(&w->entries, (const char *)&entry, sizeof(entry));
	}
	w->entry_count += entries.count;
	w->object_count++;
	fg_strbuf_add(&w->objects, (const char *)&object, sizeof(object));
	fg_entries_release(&entries);
}

struct listing {
	struct writing *writing;
	const char *folder;
};

static void add_listed(void *context, const char *name, const char *path)
{
	const struct listing *listing = context;

	(void)name;
	if (strchr(path, '/'))
		add_object(listing->writing, path, listing->folder);
}

static int add_libraries(struct writing *w, const struct fg_entry_plan *plan, const char *loader,
			 const char *program, struct fg_error *err)
{
	struct listing listing = {w, plan->working_directory};

	return fg_loader_list(&(struct fg_loader){.path = loader,
						  .program = program,
						  .environment = plan->environment,
						  .working_directory = plan->working_directory,
						  .add = add_listed,
						  .context = &listing},
			      err);
}

static int write_file(struct writing *w, const char *path, struct fg_error *err)
{
	struct fg_plan_header header = {.object_count = w->object_count,
					.entry_count = w->entry_count};
	struct fg_strbuf all = {0};
	int status;

	(void)add_text(w, ""); /* the last byte is a NUL */
	memcpy(header.magic, FG_PLAN_MAGIC, sizeof(header.magic));
	header.text_bytes = w->texts.length;
	header.size = sizeof(header) + w->objects.length + w->entries.length + w->texts.length;
	fg_strbuf_add(&all, (const char *)&header, sizeof(header));
	fg_strbuf_add(&all, w->objects.data, w->objects.length);
	if (w->entries.length)
		fg_strbuf_add(&all, w->entries.data, w->entries.length);
	fg_strbuf_add(&all, w->texts.data, w->texts.length);
	status = fg_fs_write_atomic(path, all.data, all.length, 0600, err);
	fg_strbuf_release(&all);
	return status;
}

int fg_entry_plan_write(const struct fg_entry_plan *plan, const char *path, struct fg_error *err)
{
	struct fg_program_file file;
	struct writing w = {0};
	char *program = NULL;
	int status = FG_OK;

	FG_TRY_OUT(find_program(plan->program, &program, &file, err));
	add_object(&w, program, NULL);
	if (w.object_count == 0) {
		status = fg_error_set(err, FG_EUNSUPPORTED, "%s: its sections cannot be read",
				      program);
		goto out;
	}
	status = add_libraries(&w, plan, file.loader, program, err);
	if (status == FG_OK)
		status = write_file(&w, path, err);
out:
	fg_strbuf_release(&w.objects);
	fg_strbuf_release(&w.entries);
	fg_strbuf_release(&w.texts);
	free(program);
	return status;
}

/* ---- aligning two plans ---- */

/* A plan that fastgate wrote, loaded again. */
struct loaded {
	char *data;
	size_t size;
	struct fg_plan_view plan;
	/* "libreco.so:parse" → 1: at least one function of this name is refused */
	struct fg_map refused;
};

static int load(const char *path, struct loaded *loaded, struct fg_error *err)
{
	const size_t limit = (size_t)1 << 30;

	FG_TRY(fg_fs_read(path, limit, &loaded->data, &loaded->size, err));
	return fg_plan_open(loaded->data, loaded->size, &loaded->plan)
		       ? FG_OK
		       : fg_error_set(err, FG_EPARSE, "%s: not an entry plan", path);
}

/* Refuses what the other side refuses; without another side, notes what is refused. */
static void align(struct loaded *loaded, const struct loaded *other)
{
	const struct fg_plan_view *plan = &loaded->plan;

	for (uint64_t i = 0; i < plan->header->object_count; i++) {
		const struct fg_plan_object *object = &plan->objects[i];
		const char *file = fg_fs_base_name(plan->texts + object->path);

		for (uint64_t k = 0; k < object->entry_count; k++) {
			struct fg_plan_entry *entry = &plan->entries[object->first_entry + k];
			char *key = fg_xasprintf("%s:%s", file, plan->texts + entry->name);

			if (!other && entry->refusal != FG_ENTRY_ACCEPTED)
				(void)fg_map_add_text(&loaded->refused, key, 1, NULL);
			if (other && entry->refusal == FG_ENTRY_ACCEPTED &&
			    fg_map_get_text(&other->refused, key))
				entry->refusal = FG_ENTRY_OTHER_SIDE;
			free(key);
		}
	}
}

int fg_entry_plans_agree(const char *one, const char *other, struct fg_error *err)
{
	struct loaded plans[2] = {0};
	int status = load(one, &plans[0], err);

	if (status == FG_OK)
		status = load(other, &plans[1], err);
	if (status != FG_OK)
		goto out;
	align(&plans[0], NULL);
	align(&plans[1], NULL);
	align(&plans[0], &plans[1]);
	align(&plans[1], &plans[0]);
	status = fg_fs_write_atomic(one, plans[0].data, plans[0].size, 0600, err);
	if (status == FG_OK)
		status = fg_fs_write_atomic(other, plans[1].data, plans[1].size, 0600, err);
out:
	for (unsigned i = 0; i < 2; i++) {
		fg_map_release(&plans[i].refused);
		free(plans[i].data);
	}
	return status;
}
