// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/executed.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "binary/code.h"
#include "runner/facts/binary.h"
#include "runner/facts/code_facts.h"

#include <stdio.h>
#include <sys/stat.h>

enum {
	INPUT_HEX = 33,
};

struct reader {
	const struct fg_target *target;
	struct fg_executed *executed;
	struct fg_map names;    /* "o7", "f12" → index into `texts`; per process */
	struct fg_map programs; /* object path → index into codes + 1; 0: not of the project */
	char **texts;
	size_t text_count;
	size_t text_capacity;
	struct fg_code *codes;
	size_t code_count;
	size_t code_capacity;
	struct fg_executed_file *file; /* NULL: not of interest */
	const struct fg_code *code;    /* code of `file`, if the project contains it */
	char *command;                 /* first word of the process's command line */
	bool has_program; /* the process executed a file of the project with the command's name */
};

/* ---- names in callgrind's output ---- */

/* "(7) name" assigns a name to 7, "(7)" refers to it; "name" stands for itself. */
static const char *name_of(struct reader *r, char kind, const char *spec)
{
	const char *close = *spec == '(' ? strchr(spec, ')') : NULL;
	char key[24];
	uint64_t *known = NULL;

	if (!close || close - spec >= (ptrdiff_t)sizeof(key))
		return spec;
	(void)snprintf(key, sizeof(key), "%c%.*s", kind, (int)(close - spec - 1), spec + 1);
	known = fg_map_get_text(&r->names, key);
	if (close[1] != ' ')
		return known && r->texts ? r->texts[*known] : "";
	if (known && r->texts) {
		free(r->texts[*known]);
		r->texts[*known] = fg_xstrdup(close + 2);
		return r->texts[*known];
	}
	(void)fg_map_add_text(&r->names, key, r->text_count, NULL);
	return FG_APPEND(r->texts, r->text_count, r->text_capacity) = fg_xstrdup(close + 2);
}

static void forget_names(struct reader *r)
{
	fg_map_release(&r->names);
	for (size_t i = 0; i < r->text_count; i++)
		free(r->texts[i]);
	r->text_count = 0;
}

/* A process must run a program of the project: code that an interpreter executes is not visible. */
static void end_process(struct reader *r)
{
	if (r->command && !r->has_program)
		fg_executed_doubt(r->executed,
				  "the benchmark starts %s, which is not part of this project",
				  fg_fs_base_name(r->command));
	free(r->command);
	r->command = NULL;
	r->has_program = false;
	r->file = NULL;
	r->code = NULL;
}

static void begin_process(struct reader *r, const char *command)
{
	const char *word = command + strspn(command, " ");

	end_process(r);
	forget_names(r);
	r->command = fg_xstrndup(word, strcspn(word, " "));
}

/* ---- files ---- */

static bool is_of_valgrind(const char *path)
{
	return strstr(path, "/valgrind/") && strstr(path, "/vgpreload_");
}

/* Returns `path` relative to the arm's root if it lies below the root, and unchanged otherwise. */
static const char *path_in(const struct fg_target *target, const char *path)
{
	const char *rest = fg_fs_rest_below(target->root, path);

	return rest ? rest : path;
}

static const char *relative_path(const struct fg_target *target, const char *path, char **whole)
{
	const char *inside = NULL;

	*whole = realpath(path, NULL);
	inside = *whole ? path_in(target, *whole) : NULL;
	return inside != *whole ? inside : NULL;
}

static void begin_inside(struct reader *r, const char *path, const char *relative)
{
	char digest[FG_CODE_FACT_SIZE];
	struct fg_code code;

	if (!fg_code_facts_digest(r->target, path, digest) ||
	    fg_code_read(path, r->target->checkout, &code, NULL) != FG_OK) {
		fg_executed_doubt(r->executed, "the functions of %s cannot be distinguished",
				  relative);
		return;
	}
	if (code.queries_cpu)
		fg_executed_doubt(r->executed, "%s chooses its code by the processor's features",
				  relative);
	if (code.code_loader)
		fg_executed_doubt(r->executed, "%s may run code that is not part of it (%s)",
				  relative, code.code_loader);
	(void)fg_executed_add_file(r->executed, relative, true, digest);
	FG_APPEND(r->codes, r->code_count, r->code_capacity) = code;
}

static void begin_outside(struct reader *r, const char *path)
{
	struct fg_binary elf = {0};

	if (fg_binary_read(path, &elf, NULL) == FG_OK && *elf.build_id)
		(void)fg_executed_add_file(r->executed, path, false, elf.build_id);
	else
		fg_executed_doubt(r->executed, "%s cannot be read or has no build-id", path);
	fg_binary_release(&elf);
}

static void begin_file(struct reader *r, const char *path)
{
	char *whole = NULL;
	const char *relative = NULL;
	uint64_t *index = NULL;
	bool is_new = false;

	r->file = NULL;
	r->code = NULL;
	/* Sections other than .text have no file in callgrind's output: stubs, _init. */
	if (*path != '/' || is_of_valgrind(path))
		return;
	relative = relative_path(r->target, path, &whole);
	index = fg_map_add_text(&r->programs, path, 0, &is_new);
	if (is_new && relative) {
		begin_inside(r, whole, relative);
		*index = r->code_count;
	} else if (is_new) {
		begin_outside(r, path);
	}
	r->file = fg_executed_find(r->executed, relative ? relative : path);
	r->code = r->file && relative ? &r->codes[*index - 1] : NULL;
	if (relative && r->command &&
	    strcmp(fg_fs_base_name(r->command), fg_fs_base_name(relative)) == 0)
		r->has_program = true;
	free(whole);
}

/* ---- functions ---- */

/*
 * Is the name an address in the function's file, such as "0x0000000000001050"? callgrind writes it
 * for a function without a symbol.
 */
static bool is_address(const char *name, uint64_t *address)
{
	char *end = NULL;

	if (!fg_text_starts_with(name, "0x"))
		return false;
	*address = strtoull(name, &end, 16);
	return *end == '\0';
}

/* Strips the context of "parse'main" and the version of "parse@@V2". */
static char *plain_name(const char *name)
{
	const size_t length = strcspn(*name ? name + 1 : name, "'@");

	return fg_xstrndup(name, *name ? length + 1 : 0);
}

static void take_function(struct reader *r, const char *full)
{
	const struct fg_code_item *item = NULL;
	char *name = NULL;
	uint64_t address = 0;

	if (!r->file || !r->code)
		return;
	name = plain_name(full);
	item = is_address(name, &address) ? fg_code_at(r->code, address)
					  : fg_code_find(r->code, name);
	if (item)
		fg_executed_add_function(r->file, item->name);
	else
		r->file->is_whole = true;
	free(name);
}

static void take_line(struct reader *r, const char *line)
{
	if (fg_text_starts_with(line, "cmd:"))
		begin_process(r, line + strlen("cmd:"));
	else if (fg_text_starts_with(line, "ob="))
		begin_file(r, name_of(r, 'o', line + strlen("ob=")));
	else if (fg_text_starts_with(line, "cob="))
		(void)name_of(r, 'o', line + strlen("cob="));
	else if (fg_text_starts_with(line, "fn="))
		take_function(r, name_of(r, 'f', line + strlen("fn=")));
	else if (fg_text_starts_with(line, "cfn="))
		(void)name_of(r, 'f', line + strlen("cfn="));
}

void fg_executed_from_callgrind(const struct fg_target *target, const char *callgrind, size_t size,
				struct fg_executed *executed)
{
	struct reader r = {.target = target, .executed = executed};
	char *copy = fg_xstrndup(callgrind, size);
	char *rest = copy;

	for (const char *line; (line = fg_text_next_line(&rest));)
		take_line(&r, line);
	end_process(&r);
	if (executed->file_count == 0)
		fg_executed_doubt(executed, "no file with code was seen");
	forget_names(&r);
	free(r.texts);
	for (size_t i = 0; i < r.code_count; i++)
		fg_code_release(&r.codes[i]);
	free(r.codes);
	fg_map_release(&r.programs);
	free(copy);
}

/* ---- files that the benchmark reads ---- */

/* System files are the same for both sides, or different on every read. */
static bool is_of_the_system(const char *path)
{
	static const char *const beginnings[] = {"/proc/", "/sys/", "/dev/"};

	/* A project may be kept in /dev/shm. */
	if (fg_text_starts_with(path, "/dev/shm/"))
		return false;
	if (FG_TEXT_STARTS_WITH_ANY(path, beginnings))
		return true;
	/* The libraries that the loader finds through this cache are compared themselves. */
	return strcmp(path, "/etc/ld.so.cache") == 0;
}

static bool digest_names(const char *path, struct fg_sha256 *sha)
{
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(path, &names, &count, NULL) != FG_OK)
		return false;
	for (size_t i = 0; i < count; i++)
		fg_sha256_add_text(sha, names[i]);
	fg_fs_list_free(names, count);
	return true;
}

static char *digest_input(const char *path)
{
	char text[INPUT_HEX];
	struct fg_sha256 sha;
	struct stat status;
	bool good = false;

	if (stat(path, &status) != 0)
		return fg_xstrdup("absent");
	fg_sha256_init(&sha);
	if (S_ISREG(status.st_mode))
		good = fg_sha256_add_file(&sha, path);
	else if (S_ISDIR(status.st_mode))
		good = digest_names(path, &sha);
	if (!good)
		return fg_xstrdup("unreadable");
	fg_sha256_finish_hex(&sha, INPUT_HEX / 2, text);
	return fg_xstrdup(text);
}

/* Is this a file of executed code? Such files are compared function by function, not as input. */
static bool is_code(const struct fg_target *target, const char *path,
		    const struct fg_executed *executed)
{
	char *whole = realpath(path, NULL);
	const bool found = whole && fg_executed_find(executed, path_in(target, whole));

	free(whole);
	return found;
}

void fg_executed_take_input(const struct fg_target *target, const char *path,
			    struct fg_executed *executed)
{
	const char *name = path_in(target, path);
	const bool inside = name != path;
	char *identity = NULL;

	if (is_of_the_system(path) || strchr(path, '\n') || is_code(target, path, executed))
		return;
	identity = digest_input(path);
	if (strcmp(identity, "unreadable") == 0)
		fg_executed_doubt(executed, "the benchmark reads from %s, which is not a file",
				  name);
	else
		fg_executed_add_input(executed, name, inside, identity);
	free(identity);
}

char *fg_executed_input_now(const struct fg_target *target, const struct fg_executed_input *input)
{
	char *path =
		input->is_inside ? fg_fs_join(target->root, input->path) : fg_xstrdup(input->path);
	char *identity = digest_input(path);

	free(path);
	return identity;
}

static const char *identity_now(const struct fg_target *target, const struct fg_executed_file *file,
				char digest[FG_CODE_FACT_SIZE])
{
	char *path = NULL;
	bool known = false;

	if (!file->is_inside)
		return file->identity;
	path = fg_fs_join(target->root, file->path);
	known = fg_code_facts_digest(target, path, digest);
	free(path);
	return known ? digest : file->identity;
}

void fg_executed_copy(const struct fg_target *target, const struct fg_executed *from,
		      struct fg_executed *to)
{
	*to = (struct fg_executed){0};
	for (size_t i = 0; i < from->file_count; i++) {
		const struct fg_executed_file *file = &from->files[i];
		char digest[FG_CODE_FACT_SIZE];
		struct fg_executed_file *copy = fg_executed_add_file(
			to, file->path, file->is_inside, identity_now(target, file, digest));

		copy->is_whole = file->is_whole;
		for (size_t k = 0; k < file->functions.count; k++)
			fg_executed_add_function(copy, file->functions.entries[k].key);
	}
	for (size_t i = 0; i < from->input_count; i++)
		fg_executed_add_input(to, from->inputs[i].path, from->inputs[i].is_inside,
				      from->inputs[i].identity);
	if (from->doubt)
		fg_executed_doubt(to, "%s", from->doubt);
}
