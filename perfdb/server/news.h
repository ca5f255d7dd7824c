/* SPDX-License-Identifier: Apache-2.0 */
/* What an uploaded run has to tell by the project's alert rules.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_NEWS_H
#define FG_PERFDB_SERVER_NEWS_H

#include "base/arena.h"
#include "base/json.h"
#include "store/serving/alerts.h"

struct fg_stored_run;

struct fg_news {
	struct fg_alert_rule_list rules; /* of the run's project */
	struct fg_alert_finding *findings;
	struct fg_alert_finding *searches;
	struct fg_alert_news told; /* what goes into the database with the run */
	cJSON *report;             /* lends its texts to the findings */
	struct fg_arena arena;
};

/*
 * Fills everything but the rules, which must be there.  `start` is the public address of the
 * server, NULL or "": not known.  The texts are the run's, which must live as long.
 */
int fg_news_make(struct fg_news *news, const struct fg_stored_run *stored, const char *start,
		 struct fg_error *err) FG_NODISCARD;
void fg_news_release(struct fg_news *news);
/* The address of the page of a run; lives in the arena. */
const char *fg_news_url(struct fg_arena *arena, const char *start, const char *run);

#endif
