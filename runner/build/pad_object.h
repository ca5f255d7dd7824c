/* SPDX-License-Identifier: Apache-2.0 */
/* An object file of bytes that are never executed: linked first, it shifts the rest of .text. */
#ifndef FG_RUNNER_PAD_OBJECT_H
#define FG_RUNNER_PAD_OBJECT_H

#include "base/base.h"
#include "base/error.h"

/* The object's only symbol; with `-u` and this symbol the linker does not drop the unused bytes. */
#define FG_PAD_SYMBOL "fastgate_layout_pad"

int fg_pad_object_write(const char *path, size_t pad_bytes, struct fg_error *err) FG_NODISCARD;

#endif
