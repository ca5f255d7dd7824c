/* SPDX-License-Identifier: Apache-2.0 */
/* Extends trace/trace_writer.h for tests: a plain module, and damage. */
#ifndef FG_TESTS_SUPPORT_TRACE_WRITER_H
#define FG_TESTS_SUPPORT_TRACE_WRITER_H

#include "trace/trace_writer.h"

void fg_trace_writer_module(struct fg_trace_writer *w, uint64_t id, const char *path,
			    const uint8_t *build_id, size_t build_id_size);
/* Writes two numbers, then two texts, each shorter than 128. */
void fg_trace_writer_texts(struct fg_trace_writer *w, uint8_t kind, const uint64_t numbers[2],
			   const char *first, const char *second);
/* Adds a page that was allocated and never written. */
void fg_trace_writer_gap(struct fg_trace_writer *w);
/* Seals the header again after its bytes were changed. */
void fg_trace_writer_seal(struct fg_trace_writer *w);

#endif
