// SPDX-License-Identifier: Apache-2.0
#include "model/executed.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"

/*
 *	fastgate-executed/1
 *	doubt REASON
 *	input inside|outside IDENTITY PATH
 *	file inside|outside named|whole IDENTITY PATH
 *	NAME of a function in the file above; the line begins with a blank
 */
static const char head[] = "fastgate-executed/1\n";

struct fg_executed_file *fg_executed_find(const struct fg_executed *executed, const char *path)
{
	for (size_t i = 0; i < executed->file_count; i++) {
		if (strcmp(executed->files[i].path, path) == 0)
			return &executed->files[i];
	}
	return NULL;
}

struct fg_executed_file *fg_executed_add_file(struct fg_executed *executed, const char *path,
					      bool is_inside, const char *identity)
{
	struct fg_executed_file *file = fg_executed_find(executed, path);

	if (file)
		return file;
	file = &FG_APPEND(executed->files, executed->file_count, executed->file_capacity);
	*file = (struct fg_executed_file){
		.path = fg_arena_strdup(&executed->arena, path),
		.identity = fg_arena_strdup(&executed->arena, identity),
		.is_inside = is_inside,
	};
	return file;
}

void fg_executed_add_input(struct fg_executed *executed, const char *path, bool is_inside,
			   const char *identity)
{
	FG_APPEND(executed->inputs, executed->input_count, executed->input_capacity) =
		(struct fg_executed_input){
			.path = fg_arena_strdup(&executed->arena, path),
			.identity = fg_arena_strdup(&executed->arena, identity),
			.is_inside = is_inside,
		};
}

static size_t base_length(const char *name)
{
	const char *dot = *name ? strchr(name + 1, '.') : NULL;

	return dot ? (size_t)(dot - name) : strlen(name);
}

void fg_executed_add_function(struct fg_executed_file *file, const char *name)
{
	const size_t length = base_length(name);

	if (length && !memchr(name, '\n', length))
		(void)fg_map_add(&file->functions, name, length, 1, NULL);
}

bool fg_executed_has_function(const struct fg_executed_file *file, const char *name)
{
	return fg_map_get(&file->functions, name, base_length(name)) != NULL;
}

void fg_executed_doubt(struct fg_executed *executed, const char *format, ...)
{
	struct fg_strbuf text = {0};
	va_list ap;

	if (executed->doubt)
		return;
	va_start(ap, format);
	fg_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	executed->doubt = fg_strbuf_keep(&text, &executed->arena);
}

static const char *place_of(bool is_inside)
{
	return is_inside ? "inside" : "outside";
}

void fg_executed_write(const struct fg_executed *executed, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, head);
	if (executed->doubt)
		fg_strbuf_printf(text, "doubt %s\n", executed->doubt);
	for (size_t i = 0; i < executed->input_count; i++) {
		const struct fg_executed_input *input = &executed->inputs[i];

		fg_strbuf_printf(text, "input %s %s %s\n", place_of(input->is_inside),
				 input->identity, input->path);
	}
	for (size_t i = 0; i < executed->file_count; i++) {
		const struct fg_executed_file *file = &executed->files[i];

		fg_strbuf_printf(text, "file %s %s %s %s\n", place_of(file->is_inside),
				 file->is_whole ? "whole" : "named", file->identity, file->path);
		for (size_t k = 0; k < file->functions.count; k++)
			fg_strbuf_printf(text, " %s\n", file->functions.entries[k].key);
	}
}

bool fg_executed_add_sampled(struct fg_executed *executed, const char *library, const char *name)
{
	for (size_t i = 0; i < executed->file_count; i++) {
		struct fg_executed_file *file = &executed->files[i];

		if (!file->is_inside || strcmp(fg_fs_base_name(file->path), library) != 0 ||
		    fg_executed_has_function(file, name))
			continue;
		fg_executed_add_function(file, name);
		return true;
	}
	return false;
}

/* Cuts off the word before the next blank. Returns NULL without a blank or a word. */
static char *next_word(char **rest)
{
	char *word = *rest;
	char *blank = strchr(word, ' ');

	if (!blank || blank == word)
		return NULL;
	*blank = '\0';
	*rest = blank + 1;
	return word;
}

static struct fg_executed_file *read_file(struct fg_executed *executed, char *line)
{
	const char *place = next_word(&line);
	const char *extent = place ? next_word(&line) : NULL;
	const char *identity = extent ? next_word(&line) : NULL;
	struct fg_executed_file *file = NULL;

	if (!identity || !*line)
		return NULL;
	file = fg_executed_add_file(executed, line, strcmp(place, "inside") == 0, identity);
	file->is_whole = strcmp(extent, "whole") == 0;
	return file;
}

static bool read_input(struct fg_executed *executed, char *line)
{
	const char *place = next_word(&line);
	const char *identity = place ? next_word(&line) : NULL;

	if (!identity || !*line)
		return false;
	fg_executed_add_input(executed, line, strcmp(place, "inside") == 0, identity);
	return true;
}

/* Reads a line about the whole execution, or about an input file. */
static bool read_line(struct fg_executed *executed, char *line)
{
	if (fg_text_starts_with(line, "doubt "))
		fg_executed_doubt(executed, "%s", line + strlen("doubt "));
	else if (fg_text_starts_with(line, "input "))
		return read_input(executed, line + strlen("input "));
	else
		return false;
	return true;
}

int fg_executed_read(const char *text, size_t size, struct fg_executed *executed,
		     struct fg_error *err)
{
	struct fg_executed_file *file = NULL;
	char *copy = fg_xstrndup(text, size);
	char *line = NULL;
	bool good = fg_text_starts_with(copy, head) && fg_text_ends_with(copy, "\n");

	*executed = (struct fg_executed){0};
	for (line = good ? copy + strlen(head) : NULL; line && *line && good;) {
		char *end = strchr(line, '\n');

		*end = '\0';
		if (fg_text_starts_with(line, "file "))
			good = (file = read_file(executed, line + strlen("file "))) != NULL;
		else if (*line == ' ' && file)
			fg_executed_add_function(file, line + 1);
		else
			good = read_line(executed, line);
		line = end + 1;
	}
	free(copy);
	if (good)
		return FG_OK;
	fg_executed_release(executed);
	return fg_error_set(err, FG_EPARSE, "not a list of executed functions");
}

void fg_executed_release(struct fg_executed *executed)
{
	for (size_t i = 0; i < executed->file_count; i++)
		fg_map_release(&executed->files[i].functions);
	free(executed->files);
	free(executed->inputs);
	fg_arena_release(&executed->arena);
	*executed = (struct fg_executed){0};
}
