// SPDX-License-Identifier: Apache-2.0
#include "runner/build/link_record.h"

#include "base/fs.h"
#include "base/text.h"

#include <unistd.h>

enum {
	NOTE_MAX_BYTES = 16 << 20,
	NOTES_MAX = 4096,
	HEAD_FIELDS = 4, /* fields before the arguments: folder, linker, two variables */
};

/* Names under which compilers look for a linker; linkers that are not installed are skipped. */
static const char *const linkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"};

/*
 * A record holds the folder, the linker, two variables and the arguments, each followed by a NUL.
 * It is complete or absent, and failing to write it never fails the build.
 */
static const char script[] =
	"#!/bin/sh\n"
	"# Written by fastgate: notes how a program is linked, then links it.\n"
	"own=${0%/*}\n"
	"name=${0##*/}\n"
	"real=\n"
	"IFS=:\n"
	"for folder in ${COMPILER_PATH-} $PATH; do\n"
	"\tfolder=${folder%/}\n"
	"\t[ \"$folder\" != \"$own\" ] && [ -x \"$folder/$name\" ] || continue\n"
	"\treal=$folder/$name\n"
	"\tbreak\n"
	"done\n"
	"unset IFS\n"
	"note() {\n"
	"\tout=a.out\n"
	"\tprevious=\n"
	"\tfor word; do\n"
	"\t\t[ \"$previous\" = -o ] && out=$word\n"
	"\t\tprevious=$word\n"
	"\tdone\n"
	"\tkey=$(printf '%s' \"$PWD/$out\" | cksum | tr -d ' ')\n"
	"\tnote=${own%/*}/links/$key\n"
	"\trm -rf \"$note\" \"$note.objects\"\n"
	"\tcount=0\n"
	"\tfor word; do\n"
	"\t\tshift\n"
	"\t\tcase $word in\n"
	"\t\t@* | /tmp/*.o | \"${TMPDIR:-/tmp}\"/*.o)\n"
	"\t\t\tcount=$((count + 1))\n"
	"\t\t\tkept=$note.objects/$count.o\n"
	"\t\t\tmkdir -p \"$note.objects\" && cp \"${word#@}\" \"$kept\" || return\n"
	"\t\t\tcase $word in @*) kept=@$kept ;; esac\n"
	"\t\t\tword=$kept\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\t\tset -- \"$@\" \"$word\"\n"
	"\tdone\n"
	"\tprintf '%s\\0' \"$PWD\" \"$real\" \"${COLLECT_GCC-}\" \"${COLLECT_GCC_OPTIONS-}\" "
	"\"$@\" >\"$note.$$\" && mv \"$note.$$\" \"$note\"\n"
	"}\n"
	"case \" $* \" in *' -o '*) (note \"$@\") >/dev/null 2>&1 ;; esac\n"
	"exec \"$real\" \"$@\"\n";

int fg_link_record_begin(const char *folder, char **variable, struct fg_error *err)
{
	const char *inherited = getenv("COMPILER_PATH");
	char *scripts = fg_fs_join(folder, "linker");
	char *notes = fg_fs_join(folder, "links");
	int status = fg_fs_make_folders(scripts, 0755, err);

	if (status == FG_OK)
		status = fg_fs_make_folders(notes, 0755, err);
	for (size_t i = 0; i < FG_ARRAY_SIZE(linkers) && status == FG_OK; i++) {
		char *installed = fg_fs_find_program(linkers[i]);
		char *path = fg_fs_join(scripts, linkers[i]);

		if (installed)
			status = fg_fs_write_atomic(path, script, strlen(script), 0755, err);
		free(installed);
		free(path);
	}
	if (status == FG_OK)
		*variable = fg_xasprintf("COMPILER_PATH=%s%s%s", scripts,
					 inherited && *inherited ? ":" : "",
					 inherited ? inherited : "");
	free(notes);
	free(scripts);
	return status;
}

/* ---- reading ---- */

static void release_link(struct fg_link *link)
{
	free(link->text);
	free(link->words);
	free(link->plant_text);
	*link = (struct fg_link){0};
}

static void find_outputs(struct fg_link *link)
{
	static const char soname[] = "-soname=";

	for (size_t i = 0; i < link->word_count; i++) {
		const char *word = link->words[i];
		const char *next = i + 1 < link->word_count ? link->words[i + 1] : NULL;

		if (strcmp(word, "-o") == 0)
			link->output = next;
		else if (strcmp(word, "-soname") == 0 || strcmp(word, "-h") == 0)
			link->soname = next;
		else if (fg_text_starts_with(word, soname))
			link->soname = word + strlen(soname);
	}
}

static bool read_link(const char *path, struct fg_link *link)
{
	char **heads[HEAD_FIELDS] = {&link->folder, &link->linker, &link->compiler,
				     &link->compiler_options};
	size_t capacity = 0;
	size_t field = 0;
	size_t size = 0;

	if (fg_fs_read_regular(path, NOTE_MAX_BYTES, &link->text, &size, NULL) != FG_OK)
		return false;
	for (char *at = link->text; at < link->text + size; at += strlen(at) + 1, field++) {
		if (field < HEAD_FIELDS) {
			*heads[field] = at;
			continue;
		}
		link->words = fg_grow(link->words, &capacity, link->word_count + 2,
				      sizeof(link->words[0]));
		link->words[link->word_count++] = at;
		link->words[link->word_count] = NULL;
	}
	find_outputs(link);
	return link->output != NULL;
}

static void take_plant(const char *folder, struct fg_link *link)
{
	char *output = fg_link_output_path(link);

	(void)fg_planted_read(folder, output, &link->planted, &link->plant_text);
	free(output);
}

int fg_links_read(const char *folder, struct fg_links *links, struct fg_error *err)
{
	char *notes = fg_fs_join(folder, "links");
	struct fg_fs_file *files = NULL;
	const size_t count = fg_fs_newest(notes, &files);

	*links = (struct fg_links){.items = fg_xcalloc(count + 1, sizeof(links->items[0]))};
	for (size_t i = 0; i < count && i < NOTES_MAX; i++) {
		struct fg_link *link = &links->items[links->count];

		if (read_link(files[i].path, link)) {
			take_plant(folder, link);
			links->count++;
		} else {
			release_link(link);
		}
	}
	fg_fs_files_free(files, count);
	free(notes);
	if (links->count)
		return FG_OK;
	fg_links_release(links);
	return fg_error_set(
		err, FG_ENOENT,
		"no link was seen while the program was built (the linker is not ld, or the "
		"build comes from elsewhere)");
}

void fg_links_release(struct fg_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		release_link(&links->items[i]);
	free(links->items);
	*links = (struct fg_links){0};
}

char *fg_link_output_path(const struct fg_link *link)
{
	return fg_fs_join(link->folder, link->output);
}

bool fg_link_makes(const struct fg_link *link, const char *name)
{
	return strcmp(fg_fs_base_name(link->output), name) == 0 ||
	       (link->soname && strcmp(link->soname, name) == 0);
}
