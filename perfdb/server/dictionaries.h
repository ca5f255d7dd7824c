/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dictionaries whose rows the database knows, kept in memory for the next run that refers to them.
 * Whatever take() and put() return is the caller's until give_back().  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_DICTIONARIES_H
#define FG_PERFDB_SERVER_DICTIONARIES_H

#include "base/base.h"

struct fg_dictionary;
struct fg_dictionaries;

struct fg_dictionaries *fg_dictionaries_new(void);
void fg_dictionaries_free(struct fg_dictionaries *dictionaries); /* NULL is fine */
/* NULL: not in memory. */
const struct fg_dictionary *fg_dictionaries_take(struct fg_dictionaries *dictionaries,
						 const char *hash);
/*
 * The next one of this program (the caller's hash of it) is opened beside this one, whose ids need
 * not be known yet.
 */
void fg_dictionaries_opened(struct fg_dictionaries *dictionaries, struct fg_dictionary *dictionary,
			    uint64_t program);
/* The last one opened for a program, with its texts, to be freed; or NULL. */
struct fg_dictionary *fg_dictionaries_newest(struct fg_dictionaries *dictionaries,
					     uint64_t program);
/*
 * Keeps a new one; if an equal one is there already, frees it and returns that.  `is_stored`: the
 * database has it.
 */
const struct fg_dictionary *fg_dictionaries_put(struct fg_dictionaries *dictionaries,
						struct fg_dictionary *dictionary, bool is_stored);
/*
 * True: it is in memory and not in the database, and it is up to the caller to store it; nobody
 * else is told so, unless the caller gives it up.
 */
bool fg_dictionaries_claim(struct fg_dictionaries *dictionaries, const char *hash);
void fg_dictionaries_give_up(struct fg_dictionaries *dictionaries, const char *hash);
void fg_dictionaries_give_back(struct fg_dictionaries *dictionaries,
			       const struct fg_dictionary *dictionary); /* NULL is fine */

#endif
