/* SPDX-License-Identifier: Apache-2.0 */
/* Address templates that are stored with a run. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_API_LINKS_H
#define FG_PERFDB_SERVER_API_LINKS_H

#include "base/error.h"
#include "base/json_write.h"
#include "model/links.h"

struct fg_overview_row;
struct fg_request;

/* Reads the links of the benchmark's run into the request's arena; no links if `row` is NULL. */
int fg_links_read(struct fg_request *rq, const struct fg_overview_row *row,
		  const char *links[FG_WEB_LINK_COUNT], struct fg_error *err) FG_NODISCARD;
/* Writes the member "links". */
void fg_links_write(const char *const links[FG_WEB_LINK_COUNT], struct fg_json_writer *w);

#endif
