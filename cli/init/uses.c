// SPDX-License-Identifier: Apache-2.0
/* Reads from a project's tests, build files and documentation how a program is called. */
#include "cli/init/uses.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/build/git.h"

#include <ctype.h>
#include <sys/stat.h>

enum {
	LINES_MAX = 2000,
	LINE_BYTES_MAX = 400,
	WORDS_MAX = 12,
};

#define ANY_CASE ":(icase)"

static const char *const among_tests[] = {ANY_CASE "*test*",
					  ANY_CASE "*check*",
					  ANY_CASE "*example*",
					  ANY_CASE "*sample*",
					  ANY_CASE "*bench*",
					  ":!*.c*",
					  ":!*.h",
					  ":!*.html",
					  NULL};
static const char *const among_others[] = {ANY_CASE "*makefile*",
					   "*CMakeLists.txt",
					   ANY_CASE "*readme*",
					   ANY_CASE "*usage*",
					   "*.md",
					   "*.1",
					   NULL};

/* ---- words of a shell command ---- */

/* Does the word name the program, like "$(top_builddir)/src/encode$(EXEEXT)" or "$ENCODE"? */
static bool is_program(const char *word, const char *name)
{
	const size_t length = strlen(name);
	const char *base = strrchr(word, '/');

	base = base ? base + 1 : word + strspn(word, "\"'`$({@%");
	if (strncasecmp(base, name, length) != 0)
		return false;
	base += length;
	return *base == '\0' || strchr(")}\"'`@$", *base) || strcmp(base, ".exe") == 0;
}

static bool is_plain(const char *word)
{
	for (; *word; word++) {
		if (!isalnum((unsigned char)*word) && !strchr("_=.,:+/-", *word))
			return false;
	}
	return true;
}

/*
 * Returns the word without quotes, without a leading variable such as "$srcdir/", and without the
 * backslashes of a page of the manual ("\-c").
 */
static const char *bare(const char *word, struct fg_arena *arena)
{
	char *text = NULL;
	char *to = NULL;

	word += strspn(word, "\"'");
	if (*word == '$' || *word == '@') {
		const char *slash = strchr(word, '/');

		word = slash ? slash + 1 : word;
	}
	text = fg_arena_strdup(arena, word);
	for (to = text; *word; word++) {
		if (*word != '\\')
			*to++ = *word;
	}
	*to = '\0';
	for (to = text + strlen(text); to > text && strchr("\"'", to[-1]);)
		*--to = '\0';
	return text;
}

/* Does the word stand for any input, like "FILE", "<file>", "$i" or "input.txt"? */
static bool is_placeholder(const char *word)
{
	word += strspn(word, "\"'");
	return *word == '$' || *word == '<' || *word == '[' || strcasestr(word, "file") ||
	       strcasestr(word, "input") || *word == '*';
}

struct reading {
	const char *tree;
	const char *folder; /* the script's folder */
	struct fg_arena *arena;
	const char *own; /* the program's path, which is not an input */
};

/* Returns the path, below the root, of the file that the word names, or NULL. */
static const char *file_of(const struct reading *reading, const char *word, int64_t *size)
{
	static const char *const folders[] = {NULL, "", "tests", "test"};
	const char *found = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(folders) && *word && is_plain(word) && !found; i++) {
		char *path = fg_xasprintf("%s/%s/%s", reading->tree,
					  folders[i] ? folders[i] : reading->folder, word);
		char *whole = realpath(path, NULL);
		struct stat facts;

		if (whole && fg_fs_is_below(reading->tree, whole) && stat(whole, &facts) == 0 &&
		    S_ISREG(facts.st_mode)) {
			found = fg_arena_strdup(reading->arena, whole + strlen(reading->tree) + 1);
			*size = facts.st_size;
		}
		free(whole);
		free(path);
	}
	return found && is_plain(found) && strcmp(found, reading->own) != 0 ? found : NULL;
}

/* ---- one call ---- */

struct call {
	struct fg_strbuf before; /* words before the input */
	struct fg_strbuf after;
	struct fg_project_use use;
	bool has_input;
	bool has_output;
};

static void add(struct call *call, const char *word)
{
	struct fg_strbuf *words =
		call->has_input && call->use.is_argument ? &call->after : &call->before;

	fg_strbuf_printf(words, "%s%s", words->length ? " " : "", word);
}

static bool set_input(struct call *call, const char *file, int64_t size, bool is_argument)
{
	if (call->has_input)
		return false;
	call->has_input = true;
	call->use.wants_file = !file;
	call->use.input = file;
	call->use.is_argument = is_argument;
	call->use.size = file ? size : 1;
	return true;
}

static bool set_output(struct call *call)
{
	if (call->has_output)
		return false;
	call->has_output = true;
	add(call, FG_PROJECT_OUTPUT_NAME);
	return true;
}

/* Adds a word to the call. Returns false if the call makes no sense outside its script. */
static bool take_word(const struct reading *reading, struct call *call, const char *word,
		      const char *previous)
{
	const char *text = bare(word, reading->arena);
	const bool after_option = previous && *previous == '-';
	const char *file = NULL;
	int64_t size = 0;

	if (*text == '-') {
		if (is_plain(text))
			add(call, text);
		return is_plain(text);
	}
	file = file_of(reading, text, &size);
	if (file && set_input(call, file, size, true))
		return true;
	if (file) {
		add(call, file);
		return true;
	}
	if (after_option && previous[1] == 'o')
		return set_output(call);
	if (is_placeholder(word))
		return set_input(call, NULL, 0, true) || set_output(call);
	/* Take a subcommand or the value of an option, but not a device or a host. */
	if (is_plain(text) && !strchr(text, '/') &&
	    (after_option || (!previous && !strchr(text, '.')))) {
		add(call, text);
		return true;
	}
	return call->has_input && strchr(text, '.') && set_output(call);
}

/* Is the word a redirection, like "2>&1" or ">"? Skips the file name after a lone ">". */
static bool is_redirection(const char *word, char **rest)
{
	if (!fg_text_starts_with(word, ">") && !fg_text_starts_with(word, "1>") &&
	    !fg_text_starts_with(word, "2>"))
		return false;
	if (fg_text_ends_with(word, ">"))
		(void)strsep(rest, " \t");
	return true;
}

/* Does the command end with this word? Cuts off the end mark: "data.txt;", "data.txt)". */
static bool cut_end(char *word)
{
	const bool ends = word[strcspn(word, ";`")] || fg_text_ends_with(word, ")");

	if (ends && !strchr(word, '('))
		word[strcspn(word, ";`)")] = '\0';
	return ends;
}

/* Takes the input from "<data.txt" or "< data.txt". */
static bool take_stdin(const struct reading *reading, struct call *call, const char *word,
		       char **rest)
{
	const char *name = word[1] ? word + 1 : strsep(rest, " \t");
	const char *file = NULL;
	int64_t size = 0;

	if (!name)
		return false;
	file = file_of(reading, bare(name, reading->arena), &size);
	return set_input(call, file, size, false);
}

/* Reads the words after the program's name. Returns false if the call cannot be repeated. */
static bool read_call(const struct reading *reading, char *words, struct call *call)
{
	const char *previous = NULL;
	size_t count = 0;
	char *rest = words;
	bool ends = false;

	for (char *word = strsep(&rest, " \t"); word && !ends; word = strsep(&rest, " \t")) {
		bool good = true;

		if (*word &&
		    (strchr("|;&#)", *word) || strcmp(word, "\\") == 0 || ++count > WORDS_MAX))
			break;
		ends = *word && cut_end(word);
		if (!*word || is_redirection(word, &rest))
			continue;
		if (*word == '<' && !strchr(word, '>'))
			good = take_stdin(reading, call, word, &rest);
		else if (*word)
			good = take_word(reading, call, word, previous);
		if (!good)
			return false;
		previous = word;
	}
	return call->has_input || call->before.length > 0;
}

/* ---- all calls ---- */

static bool is_known(const struct fg_project_uses *uses, const struct fg_project_use *use)
{
	for (size_t i = 0; i < uses->count; i++) {
		const struct fg_project_use *other = &uses->items[i];

		if (strcmp(other->before, use->before) == 0 &&
		    strcmp(other->after, use->after) == 0 &&
		    other->is_argument == use->is_argument &&
		    other->wants_file == use->wants_file &&
		    (other->input == use->input ||
		     (other->input && use->input && strcmp(other->input, use->input) == 0)))
			return true;
	}
	return false;
}

/* Inserts the call if it is new, largest input first. */
static void keep(struct fg_project_uses *uses, const struct fg_project_use *use)
{
	size_t place = uses->count;

	if (is_known(uses, use))
		return;
	if (place == FG_PROJECT_MAX_USES) {
		if (uses->items[--place].size >= use->size)
			return;
	} else {
		uses->count++;
	}
	for (; place > 0 && uses->items[place - 1].size < use->size; place--)
		uses->items[place] = uses->items[place - 1];
	uses->items[place] = *use;
}

/* Reads a line of `git grep`: "tests/run.sh:prog -x data.txt >out". */
static void read_line(const char *tree, struct fg_arena *arena,
		      const struct fg_project_program *program, char *line,
		      struct fg_project_uses *uses)
{
	const char *name = fg_fs_base_name(program->path);
	char *text = strchr(line, ':');
	struct call call = {.use = {.before = ""}};
	struct reading reading = {.tree = tree, .arena = arena, .own = program->path};
	char *folder = NULL;

	if (!text || strlen(text) > LINE_BYTES_MAX)
		return;
	*text++ = '\0';
	folder = strchr(line, '/') ? fg_fs_parent(line) : fg_xstrdup("");
	reading.folder = folder;
	for (char *word = strsep(&text, " \t"); word; word = strsep(&text, " \t")) {
		if (!is_program(word, name))
			continue;
		uses->calls++;
		if (text && read_call(&reading, text, &call)) {
			call.use.before = fg_arena_strdup(arena, fg_strbuf_text(&call.before));
			call.use.after = fg_arena_strdup(arena, fg_strbuf_text(&call.after));
			keep(uses, &call.use);
		}
		break;
	}
	fg_strbuf_release(&call.before);
	fg_strbuf_release(&call.after);
	free(folder);
}

static void read_files(const char *tree, struct fg_arena *arena,
		       const struct fg_project_program *program, const char *const *where,
		       struct fg_project_uses *uses)
{
	const struct fg_git git = {.folder = tree};
	const char *ask[32] = {"grep", "-IiFw", "-e", fg_fs_base_name(program->path), "--"};
	size_t count = 5;
	size_t lines = 0;
	char *text = NULL;
	char *rest = NULL;

	while (*where)
		ask[count++] = *where++;
	if (fg_git_output(&git, ask, &text, NULL) != FG_OK)
		return;
	rest = text;
	for (char *line = strsep(&rest, "\n"); line && lines < LINES_MAX;
	     line = strsep(&rest, "\n"), lines++)
		read_line(tree, arena, program, line, uses);
	free(text);
}

void fg_project_uses_find(const char *tree, struct fg_arena *arena,
			  const struct fg_project_program *program, struct fg_project_uses *uses)
{
	char *whole = realpath(tree, NULL);

	*uses = (struct fg_project_uses){.count = 0};
	if (whole) {
		read_files(whole, arena, program, among_tests, uses);
		if (uses->count == 0)
			read_files(whole, arena, program, among_others, uses);
	}
	free(whole);
}
