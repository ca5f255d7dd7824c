/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dedicated threads find out whether the database answers, so that no request waits. Inside
 * perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_HEALTH_H
#define FG_PERFDB_SERVER_HEALTH_H

#include "perfdb/server/sessions.h"

struct fg_health;

struct fg_health_options {
	struct fg_sessions *sessions;
	const char *folder; /* folder of the database; NULL: on another machine */
	/* Called again and again while the database does not answer. */
	void (*while_down)(void *context);
	void *context;
};

/* *health is set also on failure. */
int fg_health_start(const struct fg_health_options *options, struct fg_health **health,
		    struct fg_error *err) FG_NODISCARD;
void fg_health_stop(struct fg_health *health); /* NULL is fine */
bool fg_health_database_answers(const struct fg_health *health);
/* A run was stored, or the disk refused it. */
void fg_health_wrote(struct fg_health *health, bool is_good);
/* According to the file system, and unless a write failed within the last minute. */
bool fg_health_disk_has_room(const struct fg_health *health);

#endif
