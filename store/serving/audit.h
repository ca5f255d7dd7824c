/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log: an append-only list of changes, decisions and refusals, each with its author. */
#ifndef FG_STORE_SERVING_AUDIT_H
#define FG_STORE_SERVING_AUDIT_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

struct fg_store;

struct fg_audit_entry {
	int64_t id;
	int64_t at_ns;
	const char *project; /* NULL: the entry is not about a single project */
	const char *who;
	const char *action;  /* "token.create", "run.remove" */
	const char *subject; /* id of the changed object; NULL: none */
	const char *detail;  /* may be NULL */
};

struct fg_audit_page {
	const char *project; /* NULL: all */
	int64_t after;       /* entries with a larger id */
	size_t limit;
};

typedef void fg_audit_visit(void *context, const struct fg_audit_entry *entry);

/* Adds an entry with the current time. Call it in the transaction of the action itself. */
int fg_store_audit_add(struct fg_store *store, const struct fg_audit_entry *entry,
		       struct fg_error *err) FG_NODISCARD;
/* Visits entries, oldest first. Strings live only during the call of `visit`. */
int fg_store_audit_list(struct fg_store *store, const struct fg_audit_page *page,
			fg_audit_visit *visit, void *context, struct fg_error *err) FG_NODISCARD;

/* Adds one line of JSON, as in the API. */
void fg_audit_line(const struct fg_audit_entry *entry, struct fg_strbuf *text);

#endif
