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

struct writing {
	struct fg_strbuf objects;
	struct fg_strbuf entries;
	struct fg_strbuf texts;
	uint64_t object_count;
	uint64_t entry_count;
	/* "libreco.so:parse" → 1: at least one function of this name is refused */
	struct fg_map refused;
};

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

	if (fg_entries_read(path, &entries, &why) != FG_OK) {
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

static int make_plan(const struct fg_entry_plan *plan, struct writing *w, struct fg_error *err)
{
	struct fg_program_file file;
	char *program = NULL;
	int status = FG_OK;

	FG_TRY(fg_program_file_read(plan->program, &file, err));
	if (!file.is_dynamic || file.is_musl || file.machine != EM_X86_64)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "%s: function entries are known only for 64-bit programs with "
				    "the GNU C library",
				    plan->program);
	program = realpath(plan->program, NULL);
	if (!program)
		return fg_error_errno(err, FG_ENOENT, "%s", plan->program);
	add_object(w, program, NULL);
	status = w->object_count > 0 ? add_libraries(w, plan, file.loader, program, err)
				     : fg_error_set(err, FG_EUNSUPPORTED,
						    "the sections of %s cannot be read", program);
	free(program);
	return status;
}

/* Refuses the functions that the other side refuses; without `other`, notes the refused ones. */
static void align(struct writing *w, const struct writing *other)
{
	const struct fg_plan_object *objects = (const void *)w->objects.data;
	struct fg_plan_entry *entries = (void *)w->entries.data;

	for (uint64_t i = 0; i < w->object_count; i++) {
		const char *file = fg_fs_base_name(w->texts.data + objects[i].path);

		for (uint64_t k = 0; k < objects[i].entry_count; k++) {
			struct fg_plan_entry *entry = &entries[objects[i].first_entry + k];
			char *key = fg_xasprintf("%s:%s", file, w->texts.data + entry->name);

			if (!other && entry->refusal != FG_ENTRY_ACCEPTED)
				(void)fg_map_add_text(&w->refused, key, 1, NULL);
			if (other && entry->refusal == FG_ENTRY_ACCEPTED &&
			    fg_map_get_text(&other->refused, key))
				entry->refusal = FG_ENTRY_OTHER_SIDE;
			free(key);
		}
	}
}

int fg_entry_plans_write(const struct fg_entry_plan *plans, size_t count, struct fg_error *err)
{
	struct writing w[2] = {0};
	int status = FG_OK;

	FG_ASSERT(count <= FG_ARRAY_SIZE(w));
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = make_plan(&plans[i], &w[i], err);
	for (size_t i = 0; i < 2 * count && count == 2; i++)
		align(&w[i % 2], i < 2 ? NULL : &w[(i + 1) % 2]);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = write_file(&w[i], plans[i].path, err);
	for (size_t i = 0; i < count; i++) {
		fg_strbuf_release(&w[i].objects);
		fg_strbuf_release(&w[i].entries);
		fg_strbuf_release(&w[i].texts);
		fg_map_release(&w[i].refused);
	}
	return status;
}
