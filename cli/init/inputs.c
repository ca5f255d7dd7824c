// SPDX-License-Identifier: Apache-2.0
#include "cli/init/inputs.h"

#include "base/fs.h"
#include "runner/build/build_files.h"
#include "runner/build/git.h"

#include <ctype.h>
#include <sys/stat.h>

enum {
	MIN_BYTES = 128,
	MAX_BYTES = 8 << 20,
	ENDING_MAX = 12,
	LOOKED_AT_BYTES = 4096, /* bytes read to see whether a file is text */
};

static bool is_plain(const char *path)
{
	for (; *path; path++) {
		if (!isalnum((unsigned char)*path) && !strchr("_-./+", *path))
			return false;
	}
	return true;
}

/* Returns the name's ending, like ".json"; "" for a name without a dot or with a long ending. */
static const char *ending_of(const char *path)
{
	const char *dot = strrchr(fg_fs_base_name(path), '.');

	return dot && strlen(dot) < ENDING_MAX ? dot : "";
}

static bool is_source(const char *path)
{
	static const char *const endings[] = {".c",   ".h",   ".cc",  ".hh",
					      ".cpp", ".hpp", ".cxx", ".hxx"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(endings); i++) {
		if (strcmp(ending_of(path), endings[i]) == 0)
			return true;
	}
	return false;
}

static bool is_sample(const char *path)
{
	static const char *const words[] = {"test",   "example", "sample", "data",
					    "corpus", "bench",   "demo"};
	char *folder = fg_xstrndup(path, (size_t)(fg_fs_base_name(path) - path));
	bool found = false;

	for (size_t i = 0; i < FG_ARRAY_SIZE(words) && !found; i++)
		found = strcasestr(folder, words[i]) != NULL;
	free(folder);
	return found;
}

/*
 * Separates text files from binary files: images and fonts next to inputs are seldom inputs
 * themselves.
 */
static enum fg_project_input_kind kind_of(const char *path, bool is_sample)
{
	char start[LOOKED_AT_BYTES];
	FILE *file = NULL;
	size_t size = 0;

	if (is_source(path) || fg_is_build_file(path, &(struct fg_command){.argc = 0}))
		return FG_INPUT_SOURCE;
	file = fopen(path, "re");
	if (!file)
		return FG_INPUT_BINARY;
	size = fread(start, 1, sizeof(start), file);
	(void)fclose(file);
	if (memchr(start, '\0', size))
		return is_sample ? FG_INPUT_BINARY_SAMPLE : FG_INPUT_BINARY;
	return is_sample ? FG_INPUT_SAMPLE : FG_INPUT_TEXT;
}

/* Is the file a binary file encoded as text, which tests decode before a program reads it? */
static bool is_encoded(const char *path)
{
	return strcmp(ending_of(path), ".uu") == 0 || strcmp(ending_of(path), ".b64") == 0;
}

/* Is the file a document about the project, like "README.md" or "ChangeLog"? */
static bool is_document(const char *path)
{
	static const char *const names[] = {"readme",  "change", "news",    "copying",
					    "license", "todo",   "authors", "install"};
	const char *name = fg_fs_base_name(path);

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strncasecmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* Prefers inputs of benchmarks, then larger inputs. */
static bool is_better(const struct fg_project_input *a, const struct fg_project_input *b)
{
	const bool of_benchmark = fg_project_is_benchmark_name(a->path);

	if (of_benchmark != fg_project_is_benchmark_name(b->path))
		return of_benchmark;
	return a->size > b->size;
}

/* Keeps one input per kind and ending; if there are too many, drops the smallest. */
static void take(struct fg_project_inputs *inputs, const struct fg_project_input *input)
{
	size_t place = inputs->count;

	for (size_t i = 0; i < inputs->count; i++) {
		if (inputs->items[i].kind == input->kind &&
		    strcmp(ending_of(inputs->items[i].path), ending_of(input->path)) == 0)
			place = i;
	}
	if (place == FG_PROJECT_FOUND_INPUTS)
		place--;
	else if (place == inputs->count)
		inputs->count++;
	if (inputs->items[place].path && !is_better(input, &inputs->items[place]))
		return;
	inputs->items[place] = *input;
	for (; place > 0 && inputs->items[place].size > inputs->items[place - 1].size; place--) {
		const struct fg_project_input moved = inputs->items[place - 1];

		inputs->items[place - 1] = inputs->items[place];
		inputs->items[place] = moved;
	}
}

void fg_project_inputs_find(const char *tree, struct fg_arena *arena,
			    struct fg_project_inputs *inputs)
{
	const struct fg_git git = {.folder = tree};
	const char *const ask[] = {"ls-files", NULL};
	char *text = NULL;
	char *rest = NULL;

	if (fg_git_output(&git, ask, &text, NULL) != FG_OK)
		return;
	rest = text;
	for (const char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		char *path = fg_fs_join(tree, line);
		struct stat facts;

		if (is_plain(line) && !is_encoded(line) && lstat(path, &facts) == 0 &&
		    S_ISREG(facts.st_mode) && facts.st_size >= MIN_BYTES &&
		    facts.st_size <= MAX_BYTES)
			take(inputs,
			     &(struct fg_project_input){
				     .path = fg_arena_strdup(arena, line),
				     .size = facts.st_size,
				     .written = facts.st_mtim,
				     .kind = kind_of(path, is_sample(line) && !is_document(line)),
			     });
		free(path);
	}
	free(text);
}

/*
 * For twelve seconds of sound with 44,100 16-bit samples per second. The samples are noise, made
 * from the digits of numbers.
 */
#define WAV_HEADER                                                          \
 "RIFF\\044\\000\\020\\000WAVEfmt \\020\\000\\000\\000\\001\\000\\001\\000" \
 "\\104\\254\\000\\000\\210\\130\\001\\000\\002\\000\\020\\000data\\000\\000\\020\\000"

static const struct {
	const char *path;
	const char *command;
} made[FG_PROJECT_MADE_INPUTS] = {
	{FG_PROJECT_INPUT_NAME ".wav",
	 "sh -c '(printf \"" WAV_HEADER "\"; seq 200000 | head -c 1048576) >" FG_PROJECT_INPUT_NAME
	 ".wav'"},
	{FG_PROJECT_INPUT_NAME ".pgm",
	 "sh -c '(echo P5 1024 1024 255; seq 200000 | head -c 1048576) >" FG_PROJECT_INPUT_NAME
	 ".pgm'"},
	{FG_PROJECT_INPUT_NAME ".csv",
	 "sh -c 'seq 100000 | sed \"s/.*/&,name &,&.5/\" >" FG_PROJECT_INPUT_NAME ".csv'"},
	{FG_PROJECT_INPUT_NAME ".json",
	 "sh -c '(echo [; seq 100000 | sed \"s/.*/[&, &.5],/\"; echo []]) >" FG_PROJECT_INPUT_NAME
	 ".json'"},
	{FG_PROJECT_INPUT_NAME ".txt",
	 "sh -c 'seq 100000 | tr 0-9 \"aeint \\nors\" >" FG_PROJECT_INPUT_NAME ".txt'"},
	{FG_PROJECT_INPUT_NAME ".fa",
	 "sh -c 'for i in 1 2 3 4 5 6 7 8; do echo \">s$i\"; seq ${i}00 ${i}60 | tr -d \"\\n\" | "
	 "tr 0-9 ACGTTGCAAC | fold -w 60; echo; done >" FG_PROJECT_INPUT_NAME ".fa'"},
	{FG_PROJECT_INPUT_NAME ".fasta",
	 "sh -c '(echo \">s\"; seq 150000 | tr -d \"\\n\" | tr 0-9 ACGTTGCAAC | fold -w 60; echo) "
	 ">" FG_PROJECT_INPUT_NAME ".fasta'"},
	{FG_PROJECT_INPUT_NAME ".html",
	 "sh -c '(echo \"<html><body><table>\"; seq 50000 | sed \"s,.*,<tr><td>&</td><td>row "
	 "&</td></tr>,\"; echo \"</table></body></html>\") >" FG_PROJECT_INPUT_NAME ".html'"},
};

void fg_project_inputs_make(struct fg_project_inputs *inputs)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(made); i++)
		inputs->items[inputs->count++] = (struct fg_project_input){
			.path = made[i].path, .made = made[i].command, .kind = FG_INPUT_MADE};
}

const char *fg_project_input_name(const char *path, struct fg_arena *arena)
{
	return fg_arena_printf(arena, FG_PROJECT_INPUT_NAME "%s", ending_of(path));
}

const char *fg_project_input_setup(const struct fg_project_program *program, struct fg_arena *arena)
{
	if (program->input_made || program->input_copies <= 1 || program->input_is_repeated)
		return program->input_made;
	return fg_arena_printf(arena, "sh -c 'yes %s | head -n %u | xargs cat >%s'", program->input,
			       program->input_copies, fg_project_input_name(program->input, arena));
}
