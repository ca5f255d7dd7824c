// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/code_facts.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "binary/code.h"
#include "binary/image.h"
#include "runner/build/build_files.h"
#include "runner/build/git.h"
#include "runner/facts/binary.h"

#include <stdio.h>
#include <sys/stat.h>

enum {
	/*
	 * Increase when the digests of unchanged code change: cached digests then become invalid.
	 */
	DIGEST_VERSION = 4,
	DIGEST_HEX = FG_CODE_FACT_SIZE,
	CHANGED_MAX_BYTES = 2000,
	FUNCTIONS_MAX_BYTES = 6000, /* limit for all names together */
	PAGE = 4096,
	COMPARED_FILES_MAX = 32,
	INPUT_FILES_MAX = 20000,
	INPUT_MAX_BYTES = 256 << 20, /* total over all files */
};

#define AND_MORE " ..."

/* ---- machine code ---- */

static char *cache_path(const char *build_id)
{
	char *folder = fg_fs_cache_folder();
	char *path;

	if (!folder || !*build_id) {
		free(folder);
		return NULL;
	}
	path = fg_xasprintf("%s/code/%d-%s", folder, DIGEST_VERSION, build_id);
	free(folder);
	return path;
}

/* Both digests of a file, as text "CODE LAYOUT". */
struct file_digests {
	char code[DIGEST_HEX];
	char layout[DIGEST_HEX];
};

static bool is_digest(const char *text)
{
	return strspn(text, "0123456789abcdef") >= DIGEST_HEX - 1;
}

static bool read_cached(const char *path, struct file_digests *digests)
{
	char *text = NULL;
	size_t size = 0;
	bool good = false;

	if (path && fg_fs_read_regular(path, sizeof(*digests), &text, &size, NULL) == FG_OK &&
	    size == sizeof(*digests) - 1 && is_digest(text) && is_digest(text + DIGEST_HEX)) {
		memcpy(digests, text, size);
		digests->code[DIGEST_HEX - 1] = '\0';
		digests->layout[DIGEST_HEX - 1] = '\0';
		good = true;
	}
	free(text);
	return good;
}

/* Best effort: without the cache the next run takes a tenth of a second longer. */
static void write_cached(const char *path, const struct file_digests *digests)
{
	char *folder = path ? fg_fs_parent(path) : NULL;
	char text[sizeof(*digests) + 1];

	(void)snprintf(text, sizeof(text), "%s %s", digests->code, digests->layout);
	if (folder && fg_fs_make_folders(folder, 0700, NULL) == FG_OK)
		(void)!fg_fs_write_atomic(path, text, strlen(text), 0600, NULL);
	free(folder);
}

static bool digest_file(const struct fg_target *target, const char *path,
			struct file_digests *digests)
{
	struct fg_binary elf = {0};
	struct fg_code code;
	char *cached = NULL;
	bool good;

	if (fg_binary_read(path, &elf, NULL) == FG_OK)
		cached = cache_path(elf.build_id);
	fg_binary_release(&elf);
	good = read_cached(cached, digests);
	if (!good && fg_code_read(path, target->checkout, &code, NULL) == FG_OK) {
		fg_hex(code.digest, sizeof(code.digest), digests->code);
		fg_hex(code.layout, sizeof(code.layout), digests->layout);
		fg_code_release(&code);
		write_cached(cached, digests);
		good = true;
	}
	free(cached);
	return good;
}

bool fg_code_facts_digest(const struct fg_target *target, const char *path,
			  char digest[FG_CODE_FACT_SIZE])
{
	struct file_digests digests;

	if (!digest_file(target, path, &digests))
		return false;
	memcpy(digest, digests.code, sizeof(digests.code));
	return true;
}

void fg_code_facts_add_program(const struct fg_target *target, struct fg_build_facts *build)
{
	struct file_digests digests;

	if (!target->program || target->is_wrapper ||
	    !digest_file(target, target->program, &digests))
		return;
	fg_build_facts_put(&build->code, digests.code);
	fg_build_facts_put(&build->layout, digests.layout);
}

void fg_code_facts_add_library(const struct fg_target *target, const char *path,
			       struct fg_build_library *library)
{
	struct file_digests digests;

	/*
	 * A library from outside is the same file on both sides, or is identified by its build-id.
	 */
	if (!fg_target_is_inside(target, path) || !digest_file(target, path, &digests))
		return;
	fg_build_facts_put(&library->code, digests.code);
	fg_build_facts_put(&library->layout, digests.layout);
}

/* A program or library that both builds have. */
struct compared {
	struct fg_code code[FG_ARM_COUNT];
	struct fg_code_difference difference;
};

static void add_changed_names(struct fg_strbuf *text, const struct compared *file)
{
	for (size_t i = 0; i < file->difference.pair_count; i++) {
		const struct fg_code_pair *pair = &file->difference.pairs[i];
		const bool is_there = pair->after != FG_CODE_NONE;
		const struct fg_code *code =
			&file->code[is_there ? FG_ARM_CANDIDATE : FG_ARM_BASELINE];
		const char *name = code->items[is_there ? pair->after : pair->before].name;

		if (pair->change == FG_CODE_SAME)
			continue;
		if (text->length + strlen(name) > CHANGED_MAX_BYTES) {
			if (!fg_text_ends_with(fg_strbuf_text(text), AND_MORE))
				fg_strbuf_add_text(text, AND_MORE);
			return;
		}
		fg_strbuf_printf(text, "%s%s", text->length ? " " : "", name);
	}
}

/* ---- functions of both builds ---- */

/*
 * Does the item name this function, or a part that the compiler split off ("parse.cold")? Both
 * names come without clone numbers.
 */
static bool is_part_of(const char *item, const char *function)
{
	const size_t length = strlen(function);

	return strncmp(item, function, length) == 0 &&
	       (item[length] == '\0' || item[length] == '.');
}

/* The facts about a function, over all items of its name: the worst item counts. */
struct function_facts {
	uint64_t address[FG_ARM_COUNT];
	struct fg_code_form form[FG_ARM_COUNT];
	bool calls_itself[FG_ARM_COUNT];
	bool is_found;
	bool has_changed;
	bool reaches_change;
};

static void add_form(const struct fg_code *code, uint32_t index, size_t arm,
		     struct function_facts *facts)
{
	if (index == FG_CODE_NONE)
		return;
	facts->form[arm].vectors += code->items[index].vector_count;
	facts->form[arm].tail_calls += code->items[index].tail_count;
	facts->calls_itself[arm] |= code->items[index].calls_itself;
}

static void add_facts_of(const char *function, const struct compared *file,
			 struct function_facts *facts)
{
	const struct fg_code *before = &file->code[FG_ARM_BASELINE];
	const struct fg_code *after = &file->code[FG_ARM_CANDIDATE];

	for (size_t i = 0; i < file->difference.pair_count; i++) {
		const struct fg_code_pair *pair = &file->difference.pairs[i];
		const bool in_both = pair->before != FG_CODE_NONE && pair->after != FG_CODE_NONE;
		const struct fg_code_item *item = pair->after != FG_CODE_NONE
							  ? &after->items[pair->after]
							  : &before->items[pair->before];

		if (!item->is_function || !is_part_of(item->name, function))
			continue;
		add_form(before, pair->before, FG_ARM_BASELINE, facts);
		add_form(after, pair->after, FG_ARM_CANDIDATE, facts);
		facts->has_changed |= pair->change != FG_CODE_SAME;
		facts->reaches_change |= pair->reaches_change;
		if (in_both && !facts->is_found) {
			facts->address[FG_ARM_BASELINE] = before->items[pair->before].address;
			facts->address[FG_ARM_CANDIDATE] = item->address;
			facts->is_found = true;
		}
	}
}

static void add_function(struct fg_build_facts *build, const char *name,
			 const struct function_facts *facts, size_t *bytes)
{
	struct fg_build_function function = {
		.name = (char *)(uintptr_t)name,
		.state = facts->has_changed      ? FG_COMPARED_CHANGED
			 : facts->reaches_change ? FG_COMPARED_REACHES_CHANGE
						 : FG_COMPARED_SAME,
		.offset = {(unsigned)(facts->address[FG_ARM_BASELINE] % PAGE),
			   (unsigned)(facts->address[FG_ARM_CANDIDATE] % PAGE)},
		.form = {facts->form[0], facts->form[1]},
	};

	if (!facts->is_found || strchr(name, ' ') || *bytes + strlen(name) > FUNCTIONS_MAX_BYTES)
		return;
	*bytes += strlen(name);
	/*
	 * If the function calls itself only on the other side, recursion became a loop on this
	 * side: a tail call.
	 */
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		function.form[arm].tail_calls +=
			!facts->calls_itself[arm] && facts->calls_itself[1 - arm];
	fg_build_facts_add_function(build, &function);
}

struct comparing {
	const struct fg_target *targets[FG_ARM_COUNT];
	struct compared *files;
	size_t count, capacity;
};

static void compare_file(struct comparing *c, const char *const paths[FG_ARM_COUNT])
{
	struct compared file;
	size_t read = 0;

	while (read < FG_ARM_COUNT && fg_code_read(paths[read], c->targets[read]->checkout,
						   &file.code[read], NULL) == FG_OK)
		read++;
	if (read == FG_ARM_COUNT) {
		fg_code_compare(&file.code[FG_ARM_BASELINE], &file.code[FG_ARM_CANDIDATE],
				&file.difference);
		FG_APPEND(c->files, c->count, c->capacity) = file;
		return;
	}
	while (read > 0)
		fg_code_release(&file.code[--read]);
}

static void compare_library(struct comparing *c, const char *place)
{
	char *paths[FG_ARM_COUNT] = {NULL};

	if (!c->targets[FG_ARM_BASELINE]->checkout || !c->targets[FG_ARM_CANDIDATE]->checkout)
		return;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		paths[arm] = fg_fs_join(c->targets[arm]->checkout, place);
	compare_file(c, (const char *const[]){paths[0], paths[1]});
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		free(paths[arm]);
}

static void compare_files(struct comparing *c, const struct fg_build_facts *build)
{
	compare_file(c, (const char *const[]){c->targets[FG_ARM_BASELINE]->program,
					      c->targets[FG_ARM_CANDIDATE]->program});
	for (size_t i = 0; i < build->library_count && c->count < COMPARED_FILES_MAX; i++) {
		if (build->libraries[i].place)
			compare_library(c, build->libraries[i].place);
	}
}

static void release_files(struct comparing *c)
{
	for (size_t i = 0; i < c->count; i++) {
		fg_code_difference_release(&c->files[i].difference);
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
			fg_code_release(&c->files[i].code[arm]);
	}
	free(c->files);
}

void fg_code_facts_add_changes(const struct fg_target *baseline, const struct fg_target *candidate,
			       const struct fg_code_names *functions, struct fg_build_facts *build)
{
	struct comparing c = {
		.targets = {[FG_ARM_BASELINE] = baseline, [FG_ARM_CANDIDATE] = candidate}};
	struct fg_strbuf text = {0};
	struct fg_arena arena = {0};
	size_t bytes = 0;

	if (!baseline->program || !candidate->program || baseline->is_wrapper ||
	    candidate->is_wrapper)
		return;
	compare_files(&c, build);
	for (size_t i = 0; i < c.count; i++)
		add_changed_names(&text, &c.files[i]);
	if (text.length)
		fg_build_facts_put(&build->changed, text.data);
	fg_build_facts_forget_functions(build);
	for (size_t i = 0; i < functions->count; i++) {
		const char *name = fg_image_plain_name(&arena, functions->items[i]);
		struct function_facts facts = {0};

		for (size_t k = 0; k < c.count; k++)
			add_facts_of(name, &c.files[k], &facts);
		add_function(build, functions->items[i], &facts, &bytes);
	}
	fg_arena_release(&arena);
	fg_strbuf_release(&text);
	release_files(&c);
}

/* ---- inputs ---- */

struct inputs {
	struct fg_sha256 sha;
	uint64_t bytes_left;
	bool complete;
};

/* Adds a file by name and content, anything else by name only. */
static void add_file(struct inputs *inputs, const char *name, const char *path)
{
	struct stat status;
	char *data = NULL;
	size_t size = 0;

	fg_sha256_add_text(&inputs->sha, name);
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	if ((uint64_t)status.st_size > inputs->bytes_left ||
	    fg_fs_read_regular(path, (size_t)inputs->bytes_left, &data, &size, NULL) != FG_OK) {
		inputs->complete = false;
		return;
	}
	inputs->bytes_left -= size;
	fg_sha256_add(&inputs->sha, data, size);
	free(data);
}

/*
 * Changes to sources and build files show in the code, programs do not read documents for people,
 * and fastgate's own files are not the project's. A program may read any other file.
 */
bool fg_code_facts_is_no_input(const char *path)
{
	static const char *const endings[] = {
		".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx",  ".hxx",  ".c++", ".inc",
		".inl", ".ipp", ".tcc", ".def", ".s",   ".S",   ".asm",  ".f",    ".f90", ".rs",
		".go",  ".y",   ".l",   ".m4",  ".md",  ".rst", ".adoc", ".texi", ".1",   ".3",
	};
	static const char *const names[] = {
		"LICENSE", "COPYING",    "README",         "ChangeLog",     "NEWS",
		"AUTHORS", ".gitignore", ".gitattributes", ".clang-format", ".clang-tidy",
	};
	const char *name = fg_fs_base_name(path);

	/* "fastgate.*" are our own reports, under the names that the documentation gives them. */
	return FG_TEXT_IS_AMONG(name, names) || FG_TEXT_ENDS_WITH_ANY(name, endings) ||
	       fg_is_build_file(path, &(struct fg_command){.argc = 0}) ||
	       fg_text_starts_with(name, "fastgate.") || fg_text_starts_with(path, ".github/") ||
	       fg_text_starts_with(path, ".fastgate/");
}

/* Adds the files that git tracks or would add and that the program may read. */
static void add_project_files(struct inputs *inputs, const struct fg_target *target)
{
	/*
	 * In a checkout made by fastgate all of the user's files are tracked; untracked files are
	 * build products.
	 */
	const char *others = target->checkout ? NULL : "--others";
	const char *const arguments[] = {"ls-files", "--deduplicate", "--exclude-standard",
					 "--cached", others,          NULL};
	const struct fg_git git = {.folder = target->root};
	char *text = NULL;
	char *rest = NULL;
	size_t count = 0;

	/* Outside a repository the project's files are unknown, so make no claim. */
	if (fg_git_output(&git, arguments, &text, NULL) != FG_OK) {
		inputs->complete = false;
		return;
	}
	rest = text;
	for (const char *line; inputs->complete && (line = fg_text_next_line(&rest)); count++) {
		if (count >= INPUT_FILES_MAX || *line == '"')
			inputs->complete = false;
		else if (!fg_code_facts_is_no_input(line)) {
			char *path = fg_fs_join(target->root, line);

			add_file(inputs, line, path);
			free(path);
		}
	}
	free(text);
}

static void add_all_files(struct inputs *inputs, const struct fg_target *target)
{
	for (size_t i = 1; i < target->command->argc; i++) {
		char *path = fg_fs_join(target->working_directory, target->command->argv[i]);

		add_file(inputs, target->command->argv[i], path);
		free(path);
	}
	if (target->stdin_path)
		add_file(inputs, "<", target->stdin_path);
	add_project_files(inputs, target);
}

void fg_code_facts_add_inputs(const struct fg_target *target, struct fg_build_facts *build)
{
	struct inputs inputs = {.bytes_left = INPUT_MAX_BYTES, .complete = true};
	char hex[DIGEST_HEX];

	if (!target->program || target->is_wrapper)
		return;
	fg_sha256_init(&inputs.sha);
	add_all_files(&inputs, target);
	if (!inputs.complete)
		return;
	fg_sha256_finish_hex(&inputs.sha, FG_CODE_DIGEST_SIZE, hex);
	fg_build_facts_put(&build->inputs, hex);
}
