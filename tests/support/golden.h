/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected output, kept in tests/golden/ and reviewed like code.  With FASTGATE_REGENERATE_GOLDEN=1
 * the comparison writes the file instead; the diff in version control then shows what changed.
 */
#ifndef FG_TESTS_SUPPORT_GOLDEN_H
#define FG_TESTS_SUPPORT_GOLDEN_H

#include "base/strbuf.h"

/* `name` is relative to tests/golden.  Fails the running test with the first line that differs. */
void fg_golden_check(const char *name, const struct fg_strbuf *text);

#endif
