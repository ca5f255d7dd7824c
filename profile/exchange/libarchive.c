// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/libarchive.h"

#include "base/base.h"
#include "base/library.h"

#define NAME(name) "archive_" #name,

struct fg_libarchive fg_libarchive;

static const char *const names[] = {FG_LIBARCHIVE_CALLS(NAME)};

static struct fg_library library = FG_LIBRARY(fg_libarchive, names, FG_LIBARCHIVE_FILE,
					      FG_LIBARCHIVE_PACKAGE, "for archives of traces");

FG_LIBRARY_NOTE("archives", "Archives of traces", FG_LIBARCHIVE_FILE);

int fg_libarchive_open(struct fg_error *err)
{
	return fg_library_open(&library, err);
}
