/* SPDX-License-Identifier: Apache-2.0 */
/* The entry that libFuzzer and the replay call: any bytes, never a crash, a leak, or a long wait.  Always returns 0. */
#ifndef FG_TESTS_FUZZ_FUZZ_H
#define FG_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
