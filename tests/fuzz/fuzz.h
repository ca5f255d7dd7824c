/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry point for libFuzzer and the replay. No input may cause a crash, a leak or a long wait.
 * Always returns 0.
 */
#ifndef FG_TESTS_FUZZ_FUZZ_H
#define FG_TESTS_FUZZ_FUZZ_H

#include "base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the bytes as a NUL-terminated string. The caller frees it. */
static inline char *fg_fuzz_text(const uint8_t *data, size_t size)
{
	char *text = fg_xmalloc(size + 1);

	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
