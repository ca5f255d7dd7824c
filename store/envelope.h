/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope of a bundle: a run without its values as JSON, and back.  Used inside store/ only.
 */
#ifndef FG_STORE_ENVELOPE_H
#define FG_STORE_ENVELOPE_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "store/store.h"

#define FG_ENVELOPE_SCHEMA "fastgate-run/1"

void fg_envelope_write(const struct fg_stored_run *stored, struct fg_strbuf *text);
int fg_envelope_read(const char *text, size_t size, size_t max, struct fg_stored_run *stored,
		     struct fg_error *err) FG_NODISCARD;

#endif
