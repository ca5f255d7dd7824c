// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/links.h"

#include "perfdb/server/request.h"
#include "store/serving/overview.h"

int fg_links_read(struct fg_request *rq, const struct fg_overview_row *row,
		  const char *links[FG_WEB_LINK_COUNT], struct fg_error *err)
{
	for (enum fg_web_link link = 0; link < FG_WEB_LINK_COUNT; link++) {
		links[link] = NULL;
		if (row)
			FG_TRY(fg_store_candidate_fact(rq->store, row->run, fg_web_link_fact(link),
						       &rq->arena, &links[link], err));
	}
	return FG_OK;
}

void fg_links_write(const char *const links[FG_WEB_LINK_COUNT], struct fg_json_writer *w)
{
	fg_json_begin_object(w, "links");
	for (enum fg_web_link link = 0; link < FG_WEB_LINK_COUNT; link++) {
		if (links[link])
			fg_json_text(w, fg_web_link_name(link), links[link]);
	}
	fg_json_end(w);
}
