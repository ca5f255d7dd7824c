/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers recently seen tokens in a fixed table of keyed hashes, so that no secret is stored and
 * memory does not grow with the number of tokens. A forgotten token is looked up again. Private to
 * perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_RECENT_TOKENS_H
#define FG_PERFDB_SERVER_RECENT_TOKENS_H

#include "base/base.h"

struct fg_recent_tokens *fg_recent_tokens_new(void);
void fg_recent_tokens_free(struct fg_recent_tokens *tokens); /* NULL is fine */
void fg_recent_tokens_add(struct fg_recent_tokens *tokens, const char *text);
bool fg_recent_tokens_have(const struct fg_recent_tokens *tokens, const char *text);

#endif
