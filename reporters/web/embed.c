// SPDX-License-Identifier: Apache-2.0
/*
 * Build tool: converts the page parts to C arrays, and joins all modules into one script.
 *
 *	embed OUTPUT.c FILE...
 *
 * Every FILE becomes an asset under its base name. Modules are also joined, in the given order,
 * into "bundle.js" for self-contained pages, which omits imports, `export`, whole-line comments and
 * indentation. Modules must therefore use one-line imports, names that are unique across all
 * modules, and no literal that spans lines.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *what, const char *path)
{
	(void)fprintf(stderr, "embed: %s '%s'\n", what, path);
	exit(1);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *data = NULL;
	long length = 0;

	if (!file || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET) != 0)
		fail("cannot read", path);
	data = malloc((size_t)length + 1);
	if (!data || fread(data, 1, (size_t)length, file) != (size_t)length)
		fail("cannot read", path);
	(void)fclose(file);
	data[length] = '\0';
	*size = (size_t)length;
	return data;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t a = strlen(text);
	const size_t b = strlen(end);

	return a >= b && strcmp(text + a - b, end) == 0;
}

static void write_bytes(FILE *out, const char *data, size_t size, size_t *column)
{
	for (size_t i = 0; i < size; i++)
		(void)fprintf(out, "%u,%s", (unsigned char)data[i],
			      ++*column % 24 == 0 ? "\n" : "");
}

/* Writes one line of a module to the joined script. */
static size_t write_line(FILE *out, const char *line, size_t length, size_t *column)
{
	static const char export_word[] = "export ";

	while (length > 0 && (*line == '\t' || *line == ' ')) {
		line++;
		length--;
	}
	if (length == 0 || strncmp(line, "//", 2) == 0 || strncmp(line, "import ", 7) == 0)
		return 0;
	if (strncmp(line, export_word, sizeof(export_word) - 1) == 0) {
		line += sizeof(export_word) - 1;
		length -= sizeof(export_word) - 1;
	}
	write_bytes(out, line, length, column);
	write_bytes(out, "\n", 1, column);
	return length + 1;
}

static size_t write_module(FILE *out, const char *text, size_t *column)
{
	size_t size = 0;

	while (*text) {
		const size_t length = strcspn(text, "\n");

		size += write_line(out, text, length, column);
		text += length + (text[length] == '\n');
	}
	return size;
}

static void write_assets(FILE *out, char **files, int count)
{
	for (int i = 0; i < count; i++) {
		size_t size = 0;
		size_t column = 0;
		char *data = read_file(files[i], &size);

		(void)fprintf(out, "static const unsigned char asset_%d[] = {\n", i);
		write_bytes(out, data, size, &column);
		(void)fprintf(out, "0};\n");
		free(data);
	}
}

static void write_bundle(FILE *out, char **files, int count)
{
	size_t column = 0;

	(void)fprintf(out, "static const unsigned char bundle[] = {\n");
	for (int i = 0; i < count; i++) {
		size_t size = 0;
		char *data = NULL;

		if (!ends_with(files[i], ".js"))
			continue;
		data = read_file(files[i], &size);
		(void)write_module(out, data, &column);
		free(data);
	}
	(void)fprintf(out, "0};\n");
}

static void write_table(FILE *out, char **files, int count)
{
	(void)fprintf(out, "static const struct fg_web_asset table[] = {\n");
	for (int i = 0; i < count; i++)
		(void)fprintf(out, "{\"%s\", \"%s\", asset_%d, sizeof(asset_%d) - 1},\n",
			      base_name(files[i]),
			      ends_with(files[i], ".js") ? "text/javascript; charset=utf-8"
							 : "text/css; charset=utf-8",
			      i, i);
	(void)fprintf(
		out, "{\"bundle.js\", \"text/javascript; charset=utf-8\", bundle, sizeof(bundle) - "
		     "1},\n};\n");
	(void)fprintf(out, "const struct fg_web_asset *fg_web_assets(size_t *count)\n{\n"
			   "*count = sizeof(table) / sizeof(table[0]);\nreturn table;\n}\n");
}

int main(int argc, char **argv)
{
	FILE *out = NULL;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: embed OUTPUT.c FILE...\n");
		return 2;
	}
	out = fopen(argv[1], "w");
	if (!out)
		fail("cannot write", argv[1]);
	(void)fprintf(out, "#include \"reporters/web/assets.h\"\n");
	write_assets(out, argv + 2, argc - 2);
	write_bundle(out, argv + 2, argc - 2);
	write_table(out, argv + 2, argc - 2);
	if (fclose(out) != 0)
		fail("cannot write", argv[1]);
	return 0;
}
