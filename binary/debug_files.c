// SPDX-License-Identifier: Apache-2.0
#include "binary/debug_files.h"

#include "base/byte_source.h"
#include "base/fs.h"
#include "base/log.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_DEBUG_BYTES (UINT64_C(64) << 30)

/*
 * Takes ownership of `path`; returns it if the file belongs to the binary's build, otherwise NULL.
 */
static char *if_same_build(const struct fg_elf *elf, char *path)
{
	struct fg_elf found;
	bool same;

	if (!fg_fs_exists(path) || fg_elf_read(path, &found, NULL) != FG_OK) {
		free(path);
		return NULL;
	}
	same = found.build_id_size == elf->build_id_size &&
	       memcmp(found.build_id, elf->build_id, elf->build_id_size) == 0;
	fg_elf_release(&found);
	if (same)
		return path;
	free(path);
	return NULL;
}

static char *by_build_id(const struct fg_elf *elf, const char *root)
{
	char text[FG_BUILD_ID_TEXT];

	if (elf->build_id_size < 2)
		return NULL;
	fg_elf_build_id_text(elf, text);
	return if_same_build(elf, fg_xasprintf("%s/.build-id/%.2s/%s.debug", root, text, text + 2));
}

/*
 * A file named by .gnu_debuglink may lack a build-id. It is identified by its checksum, which was
 * compared when the file was found.
 */
char *fg_debug_file_check(const struct fg_elf *elf, const char *path)
{
	struct fg_elf found;
	bool other;

	if (fg_elf_read(path, &found, NULL) != FG_OK)
		return NULL;
	other = elf->build_id_size > 0 && found.build_id_size > 0 &&
		(found.build_id_size != elf->build_id_size ||
		 memcmp(found.build_id, elf->build_id, elf->build_id_size) != 0);
	fg_elf_release(&found);
	return other ? NULL : fg_xstrdup(path);
}

/* The checksum of .gnu_debuglink is zlib's crc32 of the whole file. */
static bool has_checksum(const char *path, uint32_t wanted)
{
	enum {
		BLOCK = 1 << 20
	};
	struct fg_source source;
	uLong crc = crc32(0, NULL, 0);
	uint8_t *block;
	bool good = true;

	if (fg_source_open(path, MAX_DEBUG_BYTES, &source, NULL) != FG_OK)
		return false;
	block = fg_xmalloc(BLOCK);
	for (uint64_t at = 0; good && at < source.size; at += BLOCK) {
		uint64_t left = source.size - at;
		size_t size = left < BLOCK ? (size_t)left : BLOCK;

		good = fg_source_read(&source, at, block, size);
		crc = crc32(crc, block, (uInt)size);
	}
	free(block);
	fg_source_close(&source);
	return good && crc == wanted;
}

static char *by_link(const struct fg_elf *elf, const char *binary, const char *root)
{
	char *folder;
	char *places[3];
	char *found = NULL;

	if (!elf->debuglink[0])
		return NULL;
	folder = fg_fs_parent(binary);
	places[0] = fg_fs_join(folder, elf->debuglink);
	places[1] = fg_xasprintf("%s/.debug/%s", folder, elf->debuglink);
	places[2] = fg_xasprintf("%s%s/%s", root, folder, elf->debuglink);
	for (size_t i = 0; i < FG_ARRAY_SIZE(places); i++) {
		bool itself = strcmp(places[i], binary) == 0;

		if (!found && !itself && has_checksum(places[i], elf->debuglink_crc))
			found = places[i];
		else
			free(places[i]);
	}
	free(folder);
	return found;
}

#ifdef FG_PORTABLE
/* A static program cannot open libdebuginfod. */
static char *by_debuginfod(const struct fg_elf *elf)
{
	if (elf->build_id_size > 0 && getenv("DEBUGINFOD_URLS"))
		fg_log(FG_LOG_PROFILE, 1,
		       "debuginfod was requested, but the portable fastgate does not support it: "
		       "use a dynamically linked fastgate");
	return NULL;
}
#else
/*
 * libdebuginfod loads an HTTP library, so it is opened only on demand. Its own cache and
 * $DEBUGINFOD_URLS decide what is downloaded.
 */
static char *by_debuginfod(const struct fg_elf *elf)
{
	static void *library;
	void *(*begin)(void);
	int (*find)(void *, const unsigned char *, int, char **);
	void (*end)(void *);
	void *client;
	char *path = NULL;
	int fd;

	if (elf->build_id_size == 0 || !getenv("DEBUGINFOD_URLS"))
		return NULL;
	if (!library)
		library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fg_log(FG_LOG_PROFILE, 1,
		       "debuginfod was requested, but libdebuginfod.so.1 is not installed");
		return NULL;
	}
	/* POSIX's way to get a function pointer from dlsym() */
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&end = dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (!client)
		return NULL;
	fd = find(client, elf->build_id, (int)elf->build_id_size, &path);
	end(client);
	if (fd < 0)
		return NULL;
	(void)close(fd);
	return if_same_build(elf, path);
}
#endif

char *fg_debug_file_find(const struct fg_elf *elf, const char *binary, const char *debug_root,
			 bool debuginfod)
{
	char *path = by_build_id(elf, debug_root);

	if (!path)
		path = by_link(elf, binary, debug_root);
	if (!path && debuginfod)
		path = by_debuginfod(elf);
	return path;
}

const void *fg_debug_own_vdso(size_t *size)
{
	enum {
		MAX_PAGES = 4
	};
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	const void *image;
	Elf64_Ehdr header;

	if (address == 0)
		return NULL;
	image = (const void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
	memcpy(&header, image, sizeof(header));
	/* the section table comes last in the image */
	*size = (size_t)header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	return *size <= (size_t)MAX_PAGES * (size_t)sysconf(_SC_PAGESIZE) ? image : NULL;
}
