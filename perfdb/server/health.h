/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dedicated threads check whether the database answers, so that no request has to wait for it.
 * Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_HEALTH_H
#define FG_PERFDB_SERVER_HEALTH_H

#include "perfdb/server/sessions.h"

struct fg_health;

struct fg_health_options {
	struct fg_sessions *sessions;
	const char *folder; /* folder of the database; NULL if the database is on another machine */
	/* Called repeatedly while the database does not answer. */
	void (*while_down)(void *context);
	void *context;
};

/* *health is set even on failure. */
int fg_health_start(const struct fg_health_options *options, struct fg_health **health,
		    struct fg_error *err) FG_NODISCARD;
void fg_health_stop(struct fg_health *health); /* NULL is fine */
bool fg_health_database_answers(const struct fg_health *health);
/* Reports that a run was stored, or that the disk refused it. */
void fg_health_wrote(struct fg_health *health, bool is_good);
/*
 * Returns false if the file system lacks room, or if the last write failed less than a minute ago.
 */
bool fg_health_disk_has_room(const struct fg_health *health);

#endif
