// SPDX-License-Identifier: Apache-2.0
/* Finds, reads and loads fastgate.yml. */
#include "base/fs.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/config.h"
#include "config/messages.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <limits.h>

static char *absolute(const char *path)
{
	char buffer[PATH_MAX];

	return fg_xstrdup(realpath(path, buffer) ? buffer : path);
}

int fg_config_find(const char *folder, char **path, struct fg_error *err)
{
	static const char *const mistaken[] = {"fastgate.yaml", ".fastgate.yml", "fastgate.json",
					       "Fastgate.yml"};
	char *at = absolute(folder);
	char *root = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(mistaken); i++) {
		if (!fg_fs_has(at, FG_CONFIG_FILE_NAME) && fg_fs_has(at, mistaken[i])) {
			free(at);
			return fg_error_set(
				err, FG_ENOENT,
				"found '%s', but the file must be called '%s': rename it",
				mistaken[i], FG_CONFIG_FILE_NAME);
		}
	}
	root = fg_fs_find_above(at, FG_CONFIG_FILE_NAME);
	free(at);
	if (!root)
		return fg_error_set(
			err, FG_ENOENT,
			"there is no %s in this folder or above it; 'fastgate init' writes one "
			"for this project",
			FG_CONFIG_FILE_NAME);
	*path = fg_fs_join(root, FG_CONFIG_FILE_NAME);
	free(root);
	return FG_OK;
}

/*
 * A checkout could link its fastgate.yml to any of the user's files, and error messages would quote
 * that file.
 */
static int refuse_link(const char *path, struct fg_error *err)
{
	char *folder = fg_fs_parent(path);
	char *checkout = fg_fs_find_above(folder, ".git");
	char *real = realpath(path, NULL);
	char *real_root = realpath(checkout ? checkout : folder, NULL);
	const size_t length = real_root ? strlen(real_root) : 0;
	int status = FG_OK;

	if (real && real_root && strcmp(real_root, "/") != 0 &&
	    (strncmp(real, real_root, length) != 0 || real[length] != '/'))
		status = fg_error_set(
			err, FG_EINVAL,
			"%s is a link that leads out of the checkout, to %s: name that file with "
			"--config",
			path, real);
	free(real_root);
	free(real);
	free(checkout);
	free(folder);
	return status;
}

/* ---- the project's name ---- */

/*
 * A worktree's .git is a file "gitdir: /home/me/repository/.git/worktrees/name", which contains the
 * repository's name.
 */
static char *name_from_git_file(const char *git)
{
	struct fg_error err = {0};
	char *text = NULL;
	char *name = NULL;
	char *folder = NULL;
	size_t size = 0;

	if (fg_fs_is_folder(git) || fg_fs_read(git, PATH_MAX, &text, &size, &err) != FG_OK)
		return NULL;
	folder = strstr(text, "/.git/");
	if (folder) {
		*folder = '\0';
		name = fg_xstrdup(fg_fs_base_name(text));
	}
	free(text);
	return name;
}

static char *project_name(const char *root)
{
	char *checkout = fg_fs_find_above(root, ".git");
	char *git = checkout ? fg_fs_join(checkout, ".git") : NULL;
	char *name = git ? name_from_git_file(git) : NULL;

	if (checkout && !name)
		name = fg_xstrdup(fg_fs_base_name(checkout));
	free(git);
	free(checkout);
	if (name && *name)
		return name;
	free(name);
	return fg_xstrdup(fg_fs_base_name(root));
}

static void set_places(struct fg_plan *plan, const char *path)
{
	char *root = NULL;
	char *name = NULL;

	if (path) {
		char *whole = absolute(path);

		root = fg_fs_parent(whole);
		plan->config_path = fg_arena_strdup(&plan->arena, whole);
		free(whole);
	} else {
		root = absolute(".");
	}
	plan->root = fg_arena_strdup(&plan->arena, root);
	if (!plan->project) {
		name = project_name(root);
		plan->project = fg_arena_strdup(&plan->arena, name);
	}
	free(name);
	free(root);
}

/* ---- loading ---- */

/* The file's text; `data` is NULL if no file was found and the file is optional. */
struct input {
	char *path;
	char *data;
	size_t size;
};

static void input_release(struct input *input)
{
	free(input->path);
	free(input->data);
}

static int read_input(const struct fg_config_source *source, struct input *input,
		      struct fg_error *err)
{
	int status = FG_OK;

	if (source->text) {
		input->path = fg_xstrdup(source->path ? source->path : FG_CONFIG_FILE_NAME);
		input->data = fg_xmalloc(source->text_size + 1);
		if (source->text_size > FG_CONFIG_MAX_BYTES)
			return fg_error_set(err, FG_ELIMIT, "%s is larger than %d bytes",
					    input->path, FG_CONFIG_MAX_BYTES);
		memcpy(input->data, source->text, source->text_size);
		input->data[source->text_size] = '\0';
		input->size = source->text_size;
		return FG_OK;
	}
	if (source->path)
		input->path = fg_xstrdup(source->path);
	else
		status = fg_config_find(".", &input->path, err);
	if (status != FG_OK)
		return source->optional && !fg_fs_has(".", "fastgate.yaml") ? FG_OK : status;
	if (source->path) /* a file that the user names may be a pipe */
		return fg_fs_read(input->path, FG_CONFIG_MAX_BYTES, &input->data, &input->size,
				  err);
	FG_TRY(refuse_link(input->path, err));
	return fg_fs_read_regular(input->path, FG_CONFIG_MAX_BYTES, &input->data, &input->size,
				  err);
}

/* Returns the file's name in messages: short if it is in the current folder. */
static const char *display_name(const struct fg_config_source *source, const struct input *input)
{
	char *here = NULL;
	char *folder = NULL;
	const char *name = input->path;

	if (!input->path)
		return "the command line";
	if (source->path)
		return input->path;
	here = absolute(".");
	folder = fg_fs_parent(input->path);
	if (strcmp(here, folder) == 0)
		name = fg_fs_base_name(input->path);
	free(folder);
	free(here);
	return name;
}

static bool build_tree(const struct fg_config_source *source, const struct input *input,
		       struct fg_arena *arena, struct fg_config_report *report,
		       struct fg_yaml_node **root)
{
	const struct fg_yaml_text text = {
		.origin = fg_arena_strdup(arena, display_name(source, input)),
		.data = input->data,
		.size = input->size,
	};
	const struct fg_yaml_place start = {
		.origin = text.origin, .line = input->data ? 1 : 0, .column = 1};

	*root = NULL;
	if (input->data && !fg_yaml_parse(&text, arena, report, root))
		return false;
	if (!*root || fg_yaml_is_null(*root))
		*root = fg_yaml_new_mapping(arena, &start);
	if ((*root)->kind != FG_YAML_MAPPING) {
		fg_config_error(report, &(*root)->place,
				"found %s, expected keys such as 'version: 1'",
				fg_yaml_kind_name(*root));
		return false;
	}
	fg_override(source, *root, arena, report);
	return true;
}

static void bind(struct fg_plan *plan, const struct fg_yaml_node *root, bool needs_file,
		 struct fg_config_report *report)
{
	struct fg_binder binder = {
		.schema = &fg_config_schema, .plan = plan, .arena = &plan->arena, .report = report};
	struct fg_yaml_node nothing = {.kind = FG_YAML_LIST, .place = root->place};
	struct fg_yaml_node version = {.kind = FG_YAML_SCALAR, .place = root->place, .text = "1"};
	struct fg_yaml_node *completed = NULL;

	if (needs_file) {
		fg_bind_section(&binder, &fg_config_schema, root, plan);
		fg_config_schema.finish(&binder, root, plan, plan);
	} else {
		/*
		 * Without a file, only overrides are checked: required keys count as given, and no
		 * benchmark is needed.
		 */
		completed = fg_arena_memdup(&plan->arena, root, sizeof(*root));
		fg_yaml_set(completed, "version", &version, &plan->arena);
		if (!fg_yaml_get(completed, "benchmarks"))
			fg_yaml_set(completed, "benchmarks", &nothing, &plan->arena);
		fg_bind_section(&binder, &fg_config_schema, completed, plan);
	}
	fg_strbuf_release(&binder.path);
}

static int summarise(const struct fg_config_report *report, const char *name, struct fg_error *err)
{
	const char *first = NULL;

	if (report->error_count == 0)
		return FG_OK;
	for (size_t i = 0; i < report->count && !first; i++)
		first = report->items[i].is_warning ? NULL : report->items[i].text;
	if (report->error_count == 1 && first)
		return fg_error_set(err, FG_EPARSE, "%s", first);
	return fg_error_set(err, FG_EPARSE, "%s has %zu errors; the first: %s", name,
			    report->error_count, first ? first : "");
}

int fg_config_load(const struct fg_config_source *source, struct fg_plan *plan,
		   struct fg_config_report *report, struct fg_error *err)
{
	struct fg_plan made = {0};
	struct input input = {0};
	struct fg_yaml_node *root = NULL;
	int status = FG_OK;

	fg_plan_init(&made);
	FG_TRY_OUT(read_input(source, &input, err));
	if (build_tree(source, &input, &made.arena, report, &root))
		bind(&made, root, input.data != NULL, report);
	fg_config_report_sort(report);
	FG_TRY_OUT(summarise(report, input.path ? fg_fs_base_name(input.path) : "the command line",
			     err));
	set_places(&made, input.path);
	*plan = made;
	made = (struct fg_plan){0};
out:
	input_release(&input);
	fg_plan_release(&made);
	return status;
}

int fg_config_show(const struct fg_config_source *source, struct fg_strbuf *text,
		   struct fg_error *err)
{
	struct fg_config_report report = {0};
	struct fg_arena arena = {0};
	struct input input = {0};
	struct fg_yaml_node *root = NULL;
	int status = FG_OK;

	FG_TRY_OUT(read_input(source, &input, err));
	if (build_tree(source, &input, &arena, &report, &root))
		fg_config_write(root, text);
	else
		status = fg_error_set(err, FG_EPARSE, "%s cannot be read", input.path);
out:
	input_release(&input);
	fg_config_report_release(&report);
	fg_arena_release(&arena);
	return status;
}
