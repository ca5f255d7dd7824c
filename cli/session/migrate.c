// SPDX-License-Identifier: Apache-2.0
#include "cli/session/migrate.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/session/migrate_parts.h"

#include <ctype.h>

enum {
	MAX_FILE_BYTES = 4 << 20,
};

/* ---- hyperfine --export-json ---- */

static int read_export(struct fg_migration *migration, const char *text, size_t size,
		       struct fg_error *err)
{
	const cJSON *result = NULL;
	cJSON *json = NULL;
	int status = fg_json_parse(text, size, MAX_FILE_BYTES, &json, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "%s", migration->path);
		return status;
	}
	cJSON_ArrayForEach(result, fg_json_find(json, "results"))
	{
		const char *command = fg_json_text_or(result, "command", "");

		if (*command)
			(void)fg_migration_add(
				migration, NULL,
				&(struct fg_migrated){
					.command = fg_arena_strdup(migration->arena, command),
					.shell = strpbrk(command, "|&;<>()$`*?~") != NULL,
				});
	}
	cJSON_Delete(json);
	return FG_OK;
}

/* ---- Cargo.toml ---- */

/* The value of `name = "..."` in a line; NULL: it says something else. */
static const char *name_in(const char *line, struct fg_arena *arena)
{
	line += strspn(line, " \t");
	if (!fg_text_starts_with(line, "name"))
		return NULL;
	line += strlen("name");
	line += strspn(line, " \t");
	if (*line != '=')
		return NULL;
	line += 1 + strspn(line + 1, " \t");
	if (*line != '"' && *line != '\'')
		return NULL;
	return fg_arena_strndup(arena, line + 1, strcspn(line + 1, "\"'"));
}

static int read_cargo(struct fg_migration *migration, const char *text, size_t size,
		      struct fg_error *err)
{
	const bool is_criterion = memmem(text, size, "criterion", strlen("criterion")) != NULL;
	char *copy = fg_arena_strndup(migration->arena, text, size);
	bool in_bench = false;
	unsigned number = 0;

	(void)err;
	for (char *line = strsep(&copy, "\n"); line; line = strsep(&copy, "\n")) {
		const char *name = NULL;

		number++;
		if (line[strspn(line, " \t")] == '[')
			in_bench = strstr(line, "[[bench]]") != NULL;
		name = in_bench ? name_in(line, migration->arena) : NULL;
		if (name)
			(void)fg_migration_add(
				migration, name,
				&(struct fg_migrated){
					.command = fg_arena_printf(
						migration->arena, "cargo bench --bench %s%s", name,
						is_criterion ? " -- --output-format bencher" : ""),
					.harness = FG_HARNESS_CARGO_BENCH,
					.line = number,
				});
	}
	return FG_OK;
}

/* ---- scripts ---- */

static int read_script(struct fg_migration *migration, const char *text, size_t size,
		       struct fg_error *err)
{
	struct fg_script script = {.migration = migration, .take = fg_migrate_command, .line = 1};

	if (memchr(text, '\0', size))
		return fg_error_set(err, FG_EPARSE, "'%s' is not a text", migration->path);
	fg_script_read(&script, text);
	return FG_OK;
}

/* The ending of its name says what a file is; any other is taken for a script. */
static const struct reader {
	const char *ending;
	const char *kind;
	int (*read)(struct fg_migration *migration, const char *text, size_t size,
		    struct fg_error *err);
} readers[] = {
	{.ending = ".json", .kind = "hyperfine's results", .read = read_export},
	{.ending = ".toml", .kind = "a Cargo.toml", .read = read_cargo},
	{.ending = ".yml", .kind = "a workflow", .read = fg_migrate_workflow},
	{.ending = ".yaml", .kind = "a workflow", .read = fg_migrate_workflow},
	{.ending = "", .kind = "a script", .read = read_script},
};

int fg_migration_read(const char *path, struct fg_arena *arena, struct fg_migration *migration,
		      struct fg_error *err)
{
	const struct reader *reader = readers;
	char *text = NULL;
	size_t size = 0;
	int status = FG_OK;

	*migration = (struct fg_migration){.arena = arena, .path = path};
	status = fg_fs_read(path, MAX_FILE_BYTES, &text, &size, err);
	if (status != FG_OK)
		return status;
	while (!fg_text_ends_with(path, reader->ending))
		reader++;
	migration->kind = reader->kind;
	status = reader->read(migration, text, size, err);
	free(text);
	if (status != FG_OK || migration->count > 0)
		return status;
	return fg_error_set(err, FG_EINVAL,
			    "nothing in '%s', read as %s, could be taken over: expected "
			    "hyperfine, perf stat, bencher run, cargo bench, go test -bench or "
			    "pytest --benchmark",
			    path, reader->kind);
}
