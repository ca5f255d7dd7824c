// SPDX-License-Identifier: Apache-2.0
/*
 * Serves pages, scripts and the API's description, found by name in two built-in tables. No file is
 * ever read, whatever the path.
 */
#include "reporters/web/assets.h"

#include "base/hash.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/pages.h"

#include <microhttpd.h>

const struct fg_page *fg_page_find(const char *name)
{
	for (size_t i = 0; i < fg_page_count; i++) {
		if (strcmp(fg_pages[i].name, name) == 0)
			return &fg_pages[i];
	}
	return NULL;
}

static void give(struct fg_request *rq, const char *type, const void *data, size_t size)
{
	char hex[FG_SHA256_HEX_SIZE];

	fg_sha256_hex(data, size, hex);
	hex[16] = '\0';
	rq->answer.type = type;
	rq->answer.asset = data;
	rq->answer.asset_size = size;
	rq->answer.asset_tag = fg_arena_printf(&rq->arena, "\"%s\"", hex);
	/* The browser has this version already. */
	if (fg_request_header(rq, MHD_HTTP_HEADER_IF_NONE_MATCH) &&
	    strcmp(fg_request_header(rq, MHD_HTTP_HEADER_IF_NONE_MATCH), rq->answer.asset_tag) ==
		    0) {
		rq->answer.status = 304;
		rq->answer.asset_size = 0;
	}
}

static int give_page(struct fg_request *rq, const char *name, struct fg_error *err)
{
	const struct fg_page *page = fg_page_find(name);

	if (!page)
		return fg_error_set(err, FG_ENOENT, "this build has no %s", name);
	give(rq, page->media_type, page->data, page->size);
	return FG_OK;
}

int fg_handle_openapi(struct fg_request *rq, struct fg_error *err)
{
	return give_page(rq, "openapi.json", err);
}

/* Browsers request this address on their own if a page names no icon. */
int fg_handle_icon(struct fg_request *rq, struct fg_error *err)
{
	return give_page(rq, "icon.svg", err);
}

/*
 * Answers with a page that sets the cookie and loads "/", an address without the key. Browsers
 * send a strict cookie only with requests that come from a page of the same site.
 */
static void show_entry(struct fg_request *rq)
{
	rq->answer.type = "text/html; charset=utf-8";
	fg_strbuf_add_text(&rq->answer.text,
			   "<!doctype html><html lang=\"en\"><title>perfdb</title>"
			   "<link rel=\"icon\" href=\"/favicon.ico\">"
			   "<meta http-equiv=\"refresh\" content=\"0;url=/\">"
			   "<a href=\"/\">perfdb</a></html>\n");
}

int fg_handle_asset(struct fg_request *rq, struct fg_error *err)
{
	const char *name = strcmp(rq->path, "/") == 0 ? "index.html" : rq->tail;
	const struct fg_page *page = fg_page_find(name);
	const struct fg_web_asset *asset = page ? NULL : fg_web_asset_find(name);

	if (rq->answer.cookie)
		show_entry(rq);
	else if (page)
		give(rq, page->media_type, page->data, page->size);
	else if (asset)
		give(rq, asset->media_type, asset->data, asset->size);
	else
		return fg_error_set(err, FG_ENOENT, "there is nothing at this address");
	return FG_OK;
}
