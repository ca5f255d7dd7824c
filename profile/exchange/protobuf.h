/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the little of the protocol buffer wire format that a pprof profile needs: varints, and
 * fields with a length in front. Each call appends to a text buffer and omits zero values, as the
 * format asks. A nested message is written into its own buffer first.
 */
#ifndef FG_EXCHANGE_PROTOBUF_H
#define FG_EXCHANGE_PROTOBUF_H

#include "base/strbuf.h"

void fg_protobuf_add_uint(struct fg_strbuf *out, uint32_t field, uint64_t value);
void fg_protobuf_add_int(struct fg_strbuf *out, uint32_t field, int64_t value);
void fg_protobuf_add_bytes(struct fg_strbuf *out, uint32_t field, const void *data, size_t size);
/* A repeated integer field in its packed form; nothing when `count` is 0. */
void fg_protobuf_add_packed(struct fg_strbuf *out, uint32_t field, const uint64_t *values,
			    size_t count);

#endif
