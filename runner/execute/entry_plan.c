// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/entry_plan.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/map.h"
#include "binary/entries.h"
#include "runner/facts/loader_list.h"
#include "runner/facts/program_file.h"

#include <stdlib.h>
#include <string.h>

struct side {
	const struct fg_entry_plan *plan;
	struct fg_entries parts;
};

static void add_library(void *context, const char *name, const char *found)
{
	struct side *side = context;
	const char *folder = side->plan->working_directory;
	char *whole = fg_fs_join(folder ? folder : ".", found);
	struct fg_error err = {0};

	(void)name;
	if (strchr(found, '/') && fg_entries_add(&side->parts, whole, found, &err) != FG_OK)
		fg_log(FG_LOG_RUNNER, 1, "%s", err.message);
	free(whole);
}

static int make_plan(struct side *side, struct fg_error *err)
{
	const struct fg_entry_plan *plan = side->plan;
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
	status = fg_entries_add(&side->parts, program, program, err);
	if (status == FG_OK)
		status = fg_loader_list(
			&(struct fg_loader){.path = file.loader,
					    .program = program,
					    .environment = plan->environment,
					    .working_directory = plan->working_directory,
					    .add = add_library,
					    .context = side},
			err);
	free(program);
	return status;
}

/*
 * With `notes`, records the names of refused functions, such as "libreco.so:parse"; otherwise
 * refuses all functions with a recorded name.
 */
static void align(struct fg_entries *parts, struct fg_map *refused, bool notes)
{
	const struct fg_plan_object *object = (const void *)parts->objects.data;
	struct fg_plan_entry *entries = (void *)parts->entries.data;

	for (size_t left = parts->objects.length; left; left -= sizeof(*object), object++) {
		const char *file = fg_fs_base_name(parts->texts.data + object->path);

		for (uint64_t k = 0; k < object->entry_count; k++) {
			struct fg_plan_entry *entry = &entries[object->first_entry + k];
			char *key = fg_xasprintf("%s:%s", file, parts->texts.data + entry->name);

			if (notes && entry->refusal != FG_ENTRY_ACCEPTED)
				(void)fg_map_add_text(refused, key, 1, NULL);
			if (!notes && entry->refusal == FG_ENTRY_ACCEPTED &&
			    fg_map_get_text(refused, key))
				entry->refusal = FG_ENTRY_OTHER_SIDE;
			free(key);
		}
	}
}

static int write_file(const struct fg_entries *parts, const char *path, struct fg_error *err)
{
	struct fg_plan_header header = {
		.size = sizeof(header) + parts->objects.length + parts->entries.length +
			parts->texts.length,
		.object_count = parts->objects.length / sizeof(struct fg_plan_object),
		.entry_count = parts->entries.length / sizeof(struct fg_plan_entry),
	};
	struct fg_strbuf all = {0};
	int status = FG_OK;

	fg_strbuf_add(&all, &header, sizeof(header));
	fg_strbuf_add(&all, parts->objects.data, parts->objects.length);
	fg_strbuf_add(&all, fg_strbuf_text(&parts->entries), parts->entries.length);
	fg_strbuf_add(&all, parts->texts.data, parts->texts.length);
	status = fg_fs_write_atomic(path, all.data, all.length, 0600, err);
	fg_strbuf_release(&all);
	return status;
}

int fg_entry_plans_write(const struct fg_entry_plan *plans, size_t count, struct fg_error *err)
{
	struct side sides[2] = {0};
	struct fg_map refused = {0};
	int status = FG_OK;

	FG_ASSERT(count <= FG_ARRAY_SIZE(sides));
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		sides[i].plan = &plans[i];
		status = make_plan(&sides[i], err);
	}
	for (size_t i = 0; i < 2 * count && count == 2; i++)
		align(&sides[i % 2].parts, &refused, i < 2);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = write_file(&sides[i].parts, plans[i].path, err);
	for (size_t i = 0; i < count; i++)
		fg_entries_release(&sides[i].parts);
	fg_map_release(&refused);
	return status;
}
