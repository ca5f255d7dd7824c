/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private folder for one test, removed afterwards (kept, and named, if FASTGATE_KEEP_TMP is set).
 * Any error fails the running test.
 */
#ifndef FG_TESTS_SUPPORT_SCRATCH_H
#define FG_TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

struct fg_scratch {
	char path[4096];
};

void fg_scratch_init(struct fg_scratch *scratch);
void fg_scratch_release(struct fg_scratch *scratch);
/*
 * Returns a path below the folder, in a static buffer that the eighth call after this one reuses.
 */
const char *fg_scratch_path(const struct fg_scratch *scratch, const char *name);
void fg_scratch_write(const struct fg_scratch *scratch, const char *name, const void *data,
		      size_t size);
void fg_scratch_write_text(const struct fg_scratch *scratch, const char *name, const char *text);
/* Returns the whole file with a final NUL. The caller frees it. */
char *fg_scratch_read(const struct fg_scratch *scratch, const char *name, size_t *size);

/*
 * Runs a program in this folder and returns its trimmed output; failure fails the test. The caller
 * frees it.
 */
char *fg_scratch_run(char *const *argv, const char *folder);

#endif
