/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the trace file, which is created once per process image, mapped, and appended to from
 * handlers. Signal-safe, except where a comment says otherwise. A write that fails returns false.
 */
#ifndef FG_COLLECTOR_WRITER_H
#define FG_COLLECTOR_WRITER_H

#include "collector/sampler/state.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
# define MADV_POPULATE_WRITE 23
#endif

/*
 * Creates and maps the file. Returns 0 or a negative errno. Uses open(), mmap() and similar calls:
 * do not call it in a sandbox.
 */
int fg_file_open(void);
/* Abandons the file in this process without changing it. */
void fg_file_detach(void);
/*
 * Call when the program enters a sandbox: allocates room in advance, so that later writes make no
 * system calls.
 */
void fg_file_enter_sandbox(void);

/*
 * Makes room for a table of counters in the file. Returns its first row, all zero, or NULL. Readers
 * see the table once `rows` in its head is set.
 */
void *fg_file_table(enum fg_trace_table_kind kind, uint32_t stride, uint32_t rows);
static inline struct fg_trace_table *fg_table_head(void *rows)
{
	return (struct fg_trace_table *)(void *)((uint8_t *)rows - FG_TRACE_TABLE_ROWS +
						 sizeof(struct fg_trace_chunk));
}

/*
 * A thread builds one record at a time: fields are appended, then the record is written as a whole.
 */
void fg_record_begin(struct fg_thread *thread, enum fg_trace_record kind);
void fg_record_number(struct fg_thread *thread, uint64_t value);
void fg_record_text(struct fg_thread *thread, const void *text, size_t size);
/* Appends two strings as one; the first is cut if both together are too long. */
void fg_record_texts(struct fg_thread *thread, const char *first, const char *second);
/* A relative path is made absolute: the reader of the trace runs elsewhere. */
void fg_record_path(struct fg_thread *thread, const char *path);
bool fg_record_write(struct fg_thread *thread);
/* Writes a record whose only field is a string of any length up to FG_TRACE_TEXT_MAX. */
bool fg_text_write(struct fg_thread *thread, enum fg_trace_record kind, const char *text,
		   size_t size);
bool fg_note(struct fg_thread *thread, const char *text);

/* `now_ns` never precedes this thread's previous sample; parts of one sample have the same time. */
bool fg_sample_write(struct fg_thread *thread, uint64_t now_ns, uint8_t flags, uint32_t node,
		     uint64_t weight_ns);

enum {
	FG_NUMBER_SIZE = 20
};
/* Writes decimal digits without a NUL; returns their number. */
size_t fg_number_text(uint64_t value, char text[FG_NUMBER_SIZE]);

void fg_count_loss(enum fg_trace_loss cause, uint64_t count);
void fg_count(uint64_t *counter, uint64_t by);
void fg_maximum(uint64_t *counter, uint64_t value);

uint64_t fg_clock_ns(clockid_t clock);

#endif
