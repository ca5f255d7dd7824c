/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recently seen texts: a fixed table of their keyed hashes, so that no secret is kept and any
 * number of them costs no more memory. A forgotten text is looked up again. Inside perfdb/server/
 * only.
 */
#ifndef FG_PERFDB_SERVER_REMEMBERED_H
#define FG_PERFDB_SERVER_REMEMBERED_H

#include "base/base.h"

struct fg_remembered;

struct fg_remembered *fg_remembered_new(void);
void fg_remembered_free(struct fg_remembered *remembered); /* NULL is fine */
void fg_remembered_add(struct fg_remembered *remembered, const char *text);
bool fg_remembered_have(const struct fg_remembered *remembered, const char *text);

#endif
