// SPDX-License-Identifier: Apache-2.0
#include "store/serving/audit.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "store/db.h"
#include "store/session.h"

int fg_store_audit_add(struct fg_store *store, const struct fg_audit_entry *entry,
		       struct fg_error *err)
{
	return FG_QUERY_DO(store->db, err, FG_SQL_AUDIT_ADD, FG_BIND(fg_clock_wall_ns()),
			   FG_BIND(entry->project), FG_BIND(entry->who), FG_BIND(entry->action),
			   FG_BIND(entry->subject), FG_BIND(entry->detail));
}

int fg_store_audit_list(struct fg_store *store, const struct fg_audit_page *page,
			fg_audit_visit *visit, void *context, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_AUDIT_LIST, FG_BIND(page->project),
		      FG_BIND(page->after), FG_BIND((int64_t)page->limit));
	while ((status = fg_query_step(&q, err)) > 0) {
		const struct fg_audit_entry entry = {
			.id = fg_column_int(&q, 0),
			.at_ns = fg_column_int(&q, 1),
			.project = fg_column_text(&q, 2),
			.who = fg_column_text(&q, 3),
			.action = fg_column_text(&q, 4),
			.subject = fg_column_text(&q, 5),
			.detail = fg_column_text(&q, 6),
		};

		visit(context, &entry);
	}
	fg_query_end(&q);
	return status;
}

void fg_audit_line(const struct fg_audit_entry *entry, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "id", entry->id);
	fg_json_time(&w, "at", entry->at_ns);
	fg_json_text(&w, "project", entry->project);
	fg_json_text(&w, "who", entry->who);
	fg_json_text(&w, "action", entry->action);
	fg_json_text(&w, "subject", entry->subject);
	fg_json_text(&w, "detail", entry->detail);
	fg_json_end(&w);
	fg_strbuf_add_text(text, "\n");
}
