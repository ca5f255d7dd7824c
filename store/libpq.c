// SPDX-License-Identifier: Apache-2.0
#include "store/libpq.h"

#include "base/base.h"
#include "base/library.h"

#define NAME(name)   "PQ" #name,
#define LINKED(name) FG_LIBRARY_LINKED(PQ##name)

struct fg_pq fg_pq = {FG_PQ_CALLS(LINKED)};

static const char *const names[] = {FG_PQ_CALLS(NAME)};

static struct fg_library library =
	FG_LIBRARY(fg_pq, names, FG_PQ_FILE, FG_PQ_PACKAGE, "for a store in PostgreSQL");

FG_LIBRARY_NOTE("postgresql", "Stores in PostgreSQL", FG_PQ_FILE);

int fg_pq_open(struct fg_error *err)
{
	return fg_library_open(&library, err);
}
