/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing text. `struct fg_strbuf text = {0};` is empty; `data` is NULL until something is added
 * and always NUL-terminated afterwards. With a limit (fg_strbuf_set_limit) everything beyond the
 * limit is dropped and `cut` is set: for text whose length an outsider controls.
 */
#ifndef FG_BASE_STRBUF_H
#define FG_BASE_STRBUF_H

#include "base/arena.h"

#include <stdarg.h>

struct fg_strbuf {
	char *data;
	size_t length;
	size_t capacity;
	size_t limit; /* 0: none */
	bool cut;
};

void fg_strbuf_set_limit(struct fg_strbuf *text, size_t limit_bytes);
void fg_strbuf_add(struct fg_strbuf *text, const void *data, size_t length);
void fg_strbuf_add_text(struct fg_strbuf *text, const char *more);
void fg_strbuf_add_char(struct fg_strbuf *text, char c);
void fg_strbuf_add_repeated(struct fg_strbuf *text, char c, size_t count);
void fg_strbuf_printf(struct fg_strbuf *text, const char *format, ...) FG_PRINTF(2, 3);
void fg_strbuf_vprintf(struct fg_strbuf *text, const char *format, va_list ap) FG_PRINTF(2, 0);
/* Returns "" if the buffer is empty, never NULL. Borrowed until the next change. */
const char *fg_strbuf_text(const struct fg_strbuf *text);
/* Hands the text over to the caller, who frees it. The buffer is empty afterwards. Never NULL. */
char *fg_strbuf_detach(struct fg_strbuf *text);
char *fg_strbuf_keep(struct fg_strbuf *text, struct fg_arena *arena); /* moved into the arena */
void fg_strbuf_clear(struct fg_strbuf *text);   /* empty, memory and limit kept */
void fg_strbuf_release(struct fg_strbuf *text); /* empty, memory freed, limit kept */

#endif
