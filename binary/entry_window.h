/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions that a jump at a function's entry covers. */
#ifndef FG_CODE_ENTRY_WINDOW_H
#define FG_CODE_ENTRY_WINDOW_H

#include "collector/calls/entry_plan.h"

#include <stddef.h>

/*
 * Decodes them at `entry->address`, of which `size` bytes are given, and fills the entry: which
 * bytes are covered, and what does the same elsewhere.  On a refusal only that is set.
 */
enum fg_entry_refusal fg_entry_window(const uint8_t *bytes, size_t size,
				      struct fg_plan_entry *entry);

#endif
