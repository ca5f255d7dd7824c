// SPDX-License-Identifier: Apache-2.0
/*
 * Shell text, as far as one has to understand it to see which commands it runs: words and quotes,
 * variables that it sets itself, redirections, pipelines, `cd`.  What it does not know it leaves
 * as it is written, and notes in the word.
 */
#include "base/text.h"
#include "cli/session/migrate_parts.h"

#include <ctype.h>

enum {
	MAX_WORDS = 256,
	MAX_PIPED = 8,
	MAX_NESTED = 16,
};

struct words {
	char *argv[MAX_WORDS + 1];
	const char *unknown[MAX_WORDS];
	size_t argc;
	const char *input;
	const char *output;
	unsigned line;
};

struct reader {
	struct fg_script *script;
	const char *at;
	unsigned line;
	struct fg_strbuf word;
	bool has_word;
	bool is_quoted;      /* some of the word is: it is no keyword and no assignment */
	const char *unknown; /* the word has a part that only the shell knows */
	char redirect;       /* '<' or '>': the next word is its file; '!': and it does not count */
	const char *here_end;
	struct words piped[MAX_PIPED];
	size_t piped_count; /* those that are complete */
	const char *folders[MAX_NESTED];
	size_t depth;
};

static struct fg_arena *arena_of(const struct reader *r)
{
	return r->script->migration->arena;
}

static struct words *current(struct reader *r)
{
	return &r->piped[r->piped_count];
}

/* ---- variables ---- */

static const char *value_of(const struct fg_script *script, const char *name)
{
	for (size_t i = script->variable_count; i-- > 0;) {
		if (strcmp(script->variables[i].name, name) == 0)
			return script->variables[i].value;
	}
	return NULL;
}

static void set_variable(struct fg_script *script, const char *name, const char *value)
{
	for (size_t i = 0; i < script->variable_count; i++) {
		if (strcmp(script->variables[i].name, name) == 0) {
			script->variables[i].value = value;
			return;
		}
	}
	if (script->variable_count < FG_SCRIPT_MAX_VARIABLES)
		script->variables[script->variable_count++] =
			(struct fg_script_variable){.name = name, .value = value};
}

static size_t name_length(const char *text)
{
	size_t length = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length;
}

/* The length of "(...)" or "{...}", as the brackets say; to the end where none closes it. */
static size_t bracket_length(const char *text, char open, char close)
{
	size_t depth = 0;
	size_t length = 0;

	for (; text[length]; length++) {
		depth += text[length] == open;
		depth -= text[length] == close;
		if (depth == 0)
			return length + 1;
	}
	return length;
}

/* At a '$' or a back quote. */
static void take_dollar(struct reader *r)
{
	const bool is_braced = r->at[0] == '$' && r->at[1] == '{';
	const char *name = r->at + 1 + is_braced;
	size_t length = name_length(name);
	const char *value = NULL;
	size_t whole = 1 + length;

	if (is_braced)
		whole = 1 + bracket_length(r->at + 1, '{', '}');
	else if (r->at[0] == '$' && r->at[1] == '(')
		whole = 1 + bracket_length(r->at + 1, '(', ')');
	else if (*r->at == '`')
		whole = 1 + strcspn(r->at + 1, "`") + (strchr(r->at + 1, '`') != NULL);
	else if (length == 0 && r->at[1] && !isspace((unsigned char)r->at[1]) && r->at[1] != '"')
		whole = 2;
	if (length > 0 && (!is_braced || name[length] == '}')) {
		const char *known = fg_arena_strndup(arena_of(r), name, length);

		value = value_of(r->script, known);
	}
	if (value) {
		fg_strbuf_add_text(&r->word, value);
	} else {
		if (!r->unknown)
			r->unknown = fg_arena_strndup(arena_of(r), r->at, whole);
		fg_strbuf_add(&r->word, r->at, whole);
	}
	for (size_t i = 0; i < whole; i++)
		r->line += r->at[i] == '\n';
	r->has_word = true;
	r->at += whole;
}

/* ---- words ---- */

static void take_single_quotes(struct reader *r)
{
	const size_t length = strcspn(r->at + 1, "'");

	fg_strbuf_add(&r->word, r->at + 1, length);
	for (size_t i = 0; i < length; i++)
		r->line += r->at[1 + i] == '\n';
	r->at += 1 + length + (r->at[1 + length] != '\0');
	r->has_word = r->is_quoted = true;
}

static void take_double_quotes(struct reader *r)
{
	r->has_word = r->is_quoted = true;
	r->at++;
	while (*r->at && *r->at != '"') {
		if (*r->at == '$' || *r->at == '`') {
			take_dollar(r);
			continue;
		}
		if (*r->at == '\\' && r->at[1] && strchr("\"\\$`\n", r->at[1])) {
			r->line += r->at[1] == '\n';
			if (r->at[1] != '\n')
				fg_strbuf_add_char(&r->word, r->at[1]);
			r->at += 2;
			continue;
		}
		r->line += *r->at == '\n';
		fg_strbuf_add_char(&r->word, *r->at++);
	}
	r->at += *r->at != '\0';
}

static bool is_assignment(const char *word)
{
	const size_t length = name_length(word);

	return length > 0 && word[length] == '=';
}

static bool is_keyword(const char *word)
{
	static const char *const keywords[] = {"then", "do",   "else", "!",   "{",
					       "time", "exec", "sudo", "env", NULL};

	for (size_t i = 0; keywords[i]; i++) {
		if (strcmp(word, keywords[i]) == 0)
			return true;
	}
	return false;
}

static void end_word(struct reader *r)
{
	struct words *words = current(r);
	char *text = NULL;

	if (!r->has_word)
		return;
	text = fg_arena_strdup(arena_of(r), fg_strbuf_text(&r->word));
	if (r->redirect) {
		if (r->redirect == '<')
			words->input = text;
		else if (r->redirect == '>')
			words->output = text;
		else if (r->redirect == 'h')
			r->here_end = text;
		r->redirect = 0;
	} else if (words->argc == 0 && !r->is_quoted && is_keyword(text)) {
		/* what follows it is a command */
	} else if (words->argc < MAX_WORDS) {
		if (words->argc == 0)
			words->line = r->line;
		words->unknown[words->argc] = r->unknown;
		words->argv[words->argc++] = text;
	}
	fg_strbuf_clear(&r->word);
	r->has_word = r->is_quoted = false;
	r->unknown = NULL;
}

/* ---- commands ---- */

/* The last element of a folder that is given by steps, "a/b" and ".." among them. */
static void change_folder(struct fg_script *script, struct fg_arena *arena, const char *step)
{
	if (*step == '/' || *step == '-' || strcmp(step, ".") == 0)
		return;
	script->folder =
		script->folder ? fg_arena_printf(arena, "%s/%s", script->folder, step) : step;
}

static bool took_setting(struct reader *r, struct words *words)
{
	if (words->argc == 2 && strcmp(words->argv[0], "cd") == 0 && !words->unknown[1]) {
		change_folder(r->script, arena_of(r), words->argv[1]);
		return true;
	}
	if (words->argc >= 2 && strcmp(words->argv[0], "export") == 0) {
		words->argv[0] = words->argv[1];
		words->unknown[0] = words->unknown[1];
		words->argc = 1;
	}
	if (words->argc == 1 && is_assignment(words->argv[0])) {
		const size_t length = name_length(words->argv[0]);

		set_variable(r->script, fg_arena_strndup(arena_of(r), words->argv[0], length),
			     words->unknown[0] ? NULL : words->argv[0] + length + 1);
		return true;
	}
	return false;
}

/* The first command of a pipeline may measure; a `tee` after it says where its output goes. */
static void end_pipeline(struct reader *r)
{
	struct words *words = &r->piped[0];
	const size_t last = r->piped_count;
	size_t first = 0;

	r->piped_count = 0;
	if (words->argc == 0 || took_setting(r, words))
		goto out;
	for (size_t i = 1; i <= last && i < MAX_PIPED; i++) {
		const struct words *next = &r->piped[i];

		if (next->argc >= 2 && strcmp(next->argv[0], "tee") == 0)
			words->output = next->argv[next->argc - 1];
	}
	while (first < words->argc && is_assignment(words->argv[first]))
		first++;
	words->argv[words->argc] = NULL;
	if (first < words->argc) {
		const struct fg_script_command command = {
			.script = r->script,
			.line = words->line,
			.argv = words->argv + first,
			.unknown = words->unknown + first,
			.argc = words->argc - first,
			.input = words->input,
			.output = words->output,
		};

		if (r->script->take(r->script->migration, &command) && first > 0)
			fg_migration_note(r->script->migration, words->line,
					  "'%s' before the command is left out: write it as "
					  "`environment`",
					  words->argv[0]);
	}
out:
	memset(r->piped, 0, sizeof(r->piped));
}

static void end_command(struct reader *r)
{
	end_word(r);
	if (r->piped_count + 1 < MAX_PIPED)
		r->piped_count++;
}

static void skip_here_document(struct reader *r)
{
	const size_t wanted = strlen(r->here_end);

	while (*r->at) {
		const char *line = r->at + strspn(r->at, "\t");
		const size_t length = strcspn(line, "\n");
		const bool is_end = length == wanted && memcmp(line, r->here_end, wanted) == 0;

		r->at = line + length + (line[length] != '\0');
		r->line++;
		if (is_end)
			break;
	}
	r->here_end = NULL;
}

/* ---- the text ---- */

/* "2>&1", ">FILE", "<FILE", "<<END", at the sign. */
static void take_redirection(struct reader *r)
{
	const bool is_from = *r->at == '<';
	const char *word = fg_strbuf_text(&r->word);
	bool is_other = false; /* standard error's, which nobody needs */

	if (r->has_word && !r->is_quoted && strspn(word, "0123456789") == strlen(word)) {
		is_other = strcmp(word, "2") == 0;
		fg_strbuf_clear(&r->word);
		r->has_word = false;
	}
	end_word(r);
	if (fg_text_starts_with(r->at, "<<") && r->at[2] != '<') {
		r->redirect = 'h';
		r->at += 2 + (r->at[2] == '-');
		return;
	}
	while (*r->at == '<' || *r->at == '>')
		r->at++;
	if (*r->at == '&') {
		r->at++;
		is_other = true;
	}
	r->redirect = '>';
	if (is_from)
		r->redirect = '<';
	if (is_other)
		r->redirect = '!';
}

static void take_operator(struct reader *r)
{
	const char c = *r->at;

	if (c == '&' && r->at[1] == '>') {
		r->at++;
		take_redirection(r);
		return;
	}
	r->at++;
	if (c == '|' && *r->at != '|') {
		end_command(r);
		return;
	}
	end_word(r);
	end_pipeline(r);
	r->at += *r->at == c && (c == '&' || c == '|' || c == ';');
	if (c == '(' && r->depth < MAX_NESTED)
		r->folders[r->depth++] = r->script->folder;
	else if (c == ')' && r->depth > 0)
		r->script->folder = r->folders[--r->depth];
	if (c == '\n') {
		r->line++;
		if (r->here_end)
			skip_here_document(r);
	}
}

static void take_character(struct reader *r)
{
	const char c = *r->at;

	if (c == '\'') {
		take_single_quotes(r);
	} else if (c == '"') {
		take_double_quotes(r);
	} else if (c == '$' || c == '`') {
		take_dollar(r);
	} else if (c == '\\') {
		r->line += r->at[1] == '\n';
		if (r->at[1] && r->at[1] != '\n') {
			fg_strbuf_add_char(&r->word, r->at[1]);
			r->has_word = r->is_quoted = true;
		}
		r->at += r->at[1] ? 2 : 1;
	} else if (c == '#' && !r->has_word) {
		r->at += strcspn(r->at, "\n");
	} else if (strchr("\n;&|()", c)) {
		take_operator(r);
	} else if (c == '<' || c == '>') {
		take_redirection(r);
	} else if (isspace((unsigned char)c)) {
		end_word(r);
		r->at++;
	} else {
		fg_strbuf_add_char(&r->word, c);
		r->has_word = true;
		r->at++;
	}
}

void fg_script_read(struct fg_script *script, const char *text)
{
	struct reader *r = fg_xcalloc(1, sizeof(*r));

	*r = (struct reader){.script = script, .at = text, .line = script->line};
	while (*r->at)
		take_character(r);
	end_word(r);
	end_pipeline(r);
	fg_strbuf_release(&r->word);
	free(r);
}
