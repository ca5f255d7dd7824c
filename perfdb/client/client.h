/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends runs to a perfdb server. No run is lost or stored twice.
 *
 * A run first becomes a file in the spool, synced and renamed into place; only then is the network
 * used. fg_push_spool() sends the files, oldest first, and removes each when the server has
 * confirmed that the run is stored durably. If anything goes wrong before that (a broken
 * connection, a server that is down, a killed process), the file stays for the next attempt. The
 * server identifies runs by id, so sending a run twice does no harm.
 *
 * 	confirmed  200 or 201, naming the run   the file is removed
 * 	           and its digest
 * 	later      408, 425, 429, 5xx, no       tries again: waits twice as long each time (half of
 * 	           connection                   the wait is random), longer if Retry-After says so
 * 	not here   401, 403, 404, 3xx, another  stops: the server would refuse every other run
 * 	           200 or 201
 * 	never      any other 4xx                the file becomes NAME.rejected; sends the next file
 */
#ifndef FG_PERFDB_CLIENT_CLIENT_H
#define FG_PERFDB_CLIENT_CLIENT_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

/* Writes the run's file in the spool, replacing an existing one. */
int fg_spool_add(const char *folder, const char *id, const void *data, size_t size,
		 struct fg_error *err) FG_NODISCARD;

struct fg_spool_status {
	size_t waiting;
	size_t rejected;
	uint64_t waiting_bytes;
};

/* A missing folder counts as an empty spool. */
int fg_spool_status(const char *folder, struct fg_spool_status *status, struct fg_error *err)
	FG_NODISCARD;

struct fg_push_options {
	const char *url;                          /* "https://perfdb.example.org" */
	const char *token;                        /* may be NULL; never appears in a message */
	const char *ca_file;                      /* NULL: the system's certificates */
	unsigned attempts;                        /* maximum number of attempts per run; 0: 5 */
	int64_t first_wait_ns;                    /* wait before the second attempt; 0: 500 ms */
	int64_t longest_wait_ns;                  /* maximum wait; also caps Retry-After; 0: 30 s */
	int64_t timeout_ns;                       /* time limit per request; 0: 60 s */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	/*
	 * Called after each file with the result in `what`, and before each wait with the reason.
	 * May be NULL.
	 */
	void (*on_progress)(void *context, const char *file, const char *what);
	void *context;
};

struct fg_push_result {
	size_t sent;
	size_t known;    /* already on the server */
	size_t rejected; /* refused permanently */
	size_t waiting;  /* still in the spool */
	size_t retries;
	uint64_t bytes; /* total size of the bodies sent */
};

/*
 * Returns FG_OK if no run is waiting or rejected, FG_EINTERRUPTED after an interrupt, FG_EINVAL if
 * the options name no server, and FG_ENET with the first reason if a run was not confirmed. Fills
 * `result` in each case.
 */
int fg_push_spool(const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err) FG_NODISCARD;

#endif
