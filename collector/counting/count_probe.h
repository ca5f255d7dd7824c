/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for probes: they find the real functions and the place of a call. */
#ifndef FG_COLLECTOR_COUNT_PROBE_H
#define FG_COLLECTOR_COUNT_PROBE_H

#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/counting/counts.h"
#include "collector/process/symbols.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name and its type */
/*
 * The members of a struct `reals`, which FG_REALS_LOOK_UP() sets to the next functions of these
 * names.
 */
#define FG_REAL_MEMBER(name) __typeof__(&name) name;
#define FG_REAL_NAME(name)   #name,
#define FG_REALS_LOOK_UP(REALS)                                                             \
 do {                                                                                       \
  static const char *const names[] = {REALS(FG_REAL_NAME)};                                 \
  _Static_assert(FG_ARRAY_SIZE(names) <= FG_SYMBOLS_MAX, "one lookup must find all names"); \
  fg_symbols_next(names, (void **)(void *)&reals, FG_ARRAY_SIZE(names));                    \
 } while (0)
/* Returns `failed` if this libc lacks the function. Looks it up if that has not been done yet. */
#define FG_NEED_REAL(name, failed)                                                            \
 do {                                                                                         \
  if (FG_UNLIKELY(!reals.name)) {                                                             \
   reals.name = __extension__(__typeof__(&name)) fg_symbol_find(FG_SYMBOL_NEXT, NULL, #name); \
   if (!reals.name) {                                                                         \
    errno = ENOSYS;                                                                           \
    return failed;                                                                            \
   }                                                                                          \
  }                                                                                           \
 } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Captures the registers. Use this in the function that the program called: its caller is then one
 * frame away.
 */
#define FG_HERE(context) \
 ucontext_t context;     \
 fg_arch_capture(&(context))

#endif
