/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler attributes. The only header of base/ that code inside the measured program may include:
 * it declares nothing.
 */
#ifndef FG_BASE_ATTRS_H
#define FG_BASE_ATTRS_H

#define FG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define FG_NODISCARD         __attribute__((warn_unused_result))
#define FG_NORETURN          __attribute__((noreturn))
#define FG_EXPORT            __attribute__((visibility("default")))
#define FG_LIKELY(x)         __builtin_expect(!!(x), 1)
#define FG_UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define FG_ARRAY_SIZE(a)     (sizeof(a) / sizeof((a)[0]))

#endif
