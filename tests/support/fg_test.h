/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka needs four headers before it, in no sorted order; tests include this file instead. */
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
