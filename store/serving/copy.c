// SPDX-License-Identifier: Apache-2.0
#include "store/db.h"
#include "store/names.h"
#include "store/serving/upkeep.h"
#include "store/serving/uploads.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"

int fg_store_copy(struct fg_store *from, struct fg_store *to, const char *id, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	struct fg_upload_state state = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_store_load(from, id, &run, err));
	FG_TRY_OUT(fg_store_upload_state(from, id, &state, err));
	status = fg_store_save_upload(to, &run, state.digest, err);
out:
	fg_upload_state_release(&state);
	fg_stored_run_release(&run);
	return status;
}

/* The type of a column determines the type of the parameter. */
enum column {
	TEXT,
	NUMBER,
	PROJECT
};

struct table {
	enum fg_sql read;
	enum fg_sql write;
	size_t count;
	enum column columns[10];
};

static const struct table tables[] = {
	{.read = FG_SQL_TOKEN_ROWS,
	 .write = FG_SQL_TOKEN_PUT,
	 .count = 8,
	 .columns = {TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER, NUMBER}},
	{.read = FG_SQL_ROLE_ROWS,
	 .write = FG_SQL_ROLE_PUT,
	 .count = 5,
	 .columns = {NUMBER, TEXT, TEXT, TEXT, NUMBER}},
	{.read = FG_SQL_LIMITS_LIST,
	 .write = FG_SQL_LIMITS_PUT,
	 .count = 5,
	 .columns = {TEXT, NUMBER, NUMBER, NUMBER, NUMBER}},
	{.read = FG_SQL_WEBHOOK_ROWS,
	 .write = FG_SQL_WEBHOOK_PUT,
	 .count = 3,
	 .columns = {TEXT, TEXT, TEXT}},
	{.read = FG_SQL_AUDIT_ROWS,
	 .write = FG_SQL_AUDIT_PUT,
	 .count = 6,
	 .columns = {NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT}},
	{.read = FG_SQL_PROOF_CARD_ROWS,
	 .write = FG_SQL_PROOF_CARD_PUT,
	 .count = 4,
	 .columns = {PROJECT, TEXT, NUMBER, TEXT}},
	{.read = FG_SQL_ANNOTATION_ROWS,
	 .write = FG_SQL_ANNOTATION_PUT,
	 .count = 8,
	 .columns = {PROJECT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER}},
};

static int copy_row(struct fg_store *to, const struct table *table, const struct fg_query *row,
		    struct fg_error *err)
{
	struct fg_query q;
	int64_t project = 0;

	if (table->columns[0] == PROJECT)
		FG_TRY(fg_store_project(to, fg_column_text(row, 0), &project, err));
	fg_query_begin(&q, to->db, table->write);
	for (size_t i = 0; i < table->count; i++) {
		const struct fg_bind bind = table->columns[i] == TEXT
						    ? FG_BIND(fg_column_text(row, (int)i))
						    : FG_BIND(table->columns[i] == PROJECT
								      ? project
								      : fg_column_int(row, (int)i));

		fg_query_bind(&q, &bind);
	}
	return fg_query_run(&q, err);
}

int fg_store_copy_access(struct fg_store *from, struct fg_store *to, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(fg_store_begin(to, err));
	for (size_t t = 0; t < FG_ARRAY_SIZE(tables) && status == FG_OK; t++) {
		struct fg_query q;

		fg_query_begin(&q, from->db, tables[t].read);
		while ((status = fg_query_step(&q, err)) > 0) {
			status = copy_row(to, &tables[t], &q, err);
			if (status != FG_OK)
				break;
		}
		fg_query_end(&q);
	}
	return fg_store_end(to, status, err);
}
