/* SPDX-License-Identifier: Apache-2.0 */
/* What an uploaded run has to tell by the project's alert rules.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_NEWS_H
#define FG_PERFDB_SERVER_NEWS_H

#include "base/arena.h"
#include "store/serving/alerts.h"

struct fg_arrival;

struct fg_news {
	struct fg_alert_rule_list rules; /* of the run's project */
	struct fg_alert_finding *findings;
	struct fg_alert_finding *searches;
	struct fg_alert_news told; /* what goes into the database with the run */
	struct fg_arena arena;
};

/*
 * Fills everything but the rules, which must be there.  `start` is the public address of the
 * server, NULL or "": not known.  The texts are the arrival's, which must live as long.
 */
void fg_news_make(struct fg_news *news, const struct fg_arrival *arrival, const char *start);
void fg_news_release(struct fg_news *news);
/* The address of the page of a run; lives in the arena. */
const char *fg_news_url(struct fg_arena *arena, const char *start, const char *run);

#endif
