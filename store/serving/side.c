// SPDX-License-Identifier: Apache-2.0
#include "store/serving/side.h"

#include "model/run.h"
#include "store/db.h"
#include "store/session.h"

int fg_store_find_series(struct fg_store *store, const char *run, const char *benchmark,
			 int64_t *series, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SERIES_OF);
	fg_query_text(&q, run);
	fg_query_text(&q, benchmark);
	status = fg_query_value(&q, series, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "run '%s' has no benchmark '%s'", run,
				      benchmark);
	return status;
}
