// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted archives, uncompressed, so that a changed byte changes the tar file. An accepted
 * archive is also read as a profile, which may fail but must not crash. No folder may remain.
 */
#include "profile/exchange/archive.h"

#include "base/fs.h"
#include "profile/trace_profile.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static void use(const struct fg_archive *archive)
{
	const struct fg_symbolizer_options options = {.archive = &archive->symbols,
						      .cache_folder = archive->folder};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	struct fg_profile profile;

	if (fg_profile_read_traces(archive->traces, symbolizer, &profile, NULL) == FG_OK)
		fg_profile_release(&profile);
	fg_symbolizer_free(symbolizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("archive", MFD_CLOEXEC);
	struct fg_archive archive;
	struct fg_error err = {0};
	char path[64];
	char *folder = NULL;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && fg_fs_write_all(fd, data, size, NULL) == FG_OK) {
		if (fg_archive_open(path, "/tmp", NULL, &archive, &err) == FG_OK) {
			folder = fg_xstrdup(archive.folder);
			use(&archive);
			fg_archive_close(&archive);
			FG_ASSERT(!fg_fs_exists(folder));
			free(folder);
		} else {
			FG_ASSERT(err.message[0] != '\0');
		}
	}
	(void)close(fd);
	return 0;
}
