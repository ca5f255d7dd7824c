/* SPDX-License-Identifier: Apache-2.0 */
/* Address templates that are stored with a run. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_API_LINKS_H
#define FG_PERFDB_SERVER_API_LINKS_H

#include "base/json_write.h"
#include "model/links.h"
#include "store/serving/overview.h"

struct fg_request;

/* The links of this run, in the request's arena; none if `run` is NULL. */
int fg_links_read(struct fg_request *rq, const char *run, const char *links[FG_WEB_LINK_COUNT],
		  struct fg_error *err) FG_NODISCARD;
/* Writes the member "links". */
void fg_links_write(const char *const links[FG_WEB_LINK_COUNT], struct fg_json_writer *w);
/* The newest run of any benchmark, or NULL. */
const char *fg_links_newest(const struct fg_overview *overview);

#endif
