/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tokens worked lately: a client whose guesses are limited does not lock out the others at
 * its address.  Grants nothing by itself.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_GOOD_TOKENS_H
#define FG_PERFDB_SERVER_GOOD_TOKENS_H

#include "base/base.h"

struct fg_good_tokens;

struct fg_good_tokens *fg_good_tokens_new(void);
void fg_good_tokens_free(struct fg_good_tokens *tokens); /* NULL is fine */
void fg_good_tokens_add(struct fg_good_tokens *tokens, const char *header);
bool fg_good_tokens_have(const struct fg_good_tokens *tokens, const char *header);

#endif
