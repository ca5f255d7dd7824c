// SPDX-License-Identifier: Apache-2.0
#include "perfdb/client/libcurl.h"

#include "base/base.h"
#include "base/library.h"

#define NAME(name)   "curl_" #name,
#define LINKED(name) FG_LIBRARY_LINKED(curl_##name)

struct fg_curl fg_curl = {FG_CURL_CALLS(LINKED)};

static const char *const names[] = {FG_CURL_CALLS(NAME)};

static struct fg_library library =
	FG_LIBRARY(fg_curl, names, FG_CURL_FILE, FG_CURL_PACKAGE, "to talk to servers");

FG_LIBRARY_NOTE("servers", "Uploads, pull-request comments, webhooks", FG_CURL_FILE);

int fg_curl_open(struct fg_error *err)
{
	return fg_library_open(&library, err);
}
