/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h needs these headers before it; clang-format would sort them after it. */
#ifndef FG_TESTS_SUPPORT_FG_TEST_H
#define FG_TESTS_SUPPORT_FG_TEST_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
