// SPDX-License-Identifier: Apache-2.0
#include "store/db.h"
#include "store/names.h"
#include "store/series_values.h"
#include "store/session.h"

static const char *library_of(const struct fg_profile_function *function)
{
	return function->library ? function->library : "";
}

static void add_function(struct fg_rows *rows, int64_t id, const struct fg_interned *all, size_t i)
{
	const struct fg_profile_function *f = (const struct fg_profile_function *)all->items + i;

	FG_ROWS_ADD(rows, FG_BIND(id), FG_BIND(fg_digest_blob(all->digests[i])), FG_BIND(f->name),
		    FG_BIND(library_of(f)), FG_BIND(f->linkage), FG_BIND(f->file), FG_BIND(f->line),
		    FG_BIND(f->inlined));
}

int fg_store_intern(struct fg_store *store, const struct fg_profile_function *functions,
		    size_t count, int64_t *ids, struct fg_error *err)
{
	const struct fg_interned all = {
		.find = FG_SQL_FUNCTION_FIND,
		.last = FG_SQL_FUNCTION_LAST,
		.add = FG_SQL_FUNCTION_ADD,
		.known = &store->functions_known,
		.digests = fg_xcalloc(count, FG_DIGEST_SIZE),
		.items = functions,
		.count = count,
		.add_row = add_function,
	};
	int status = FG_OK;

	for (size_t i = 0; i < count; i++)
		fg_digest(functions[i].name, library_of(&functions[i]), NULL, all.digests[i]);
	status = fg_store_intern_all(store, &all, ids, err);
	free(all.digests);
	return status;
}
