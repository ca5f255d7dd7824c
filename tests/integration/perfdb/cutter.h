/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay between client and server that cuts connections before, during or after a request or its
 * answer.
 */
#ifndef FG_TESTS_CUTTER_H
#define FG_TESTS_CUTTER_H

#include "base/random.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/loopback.h"

#include <pthread.h>
#include <stdatomic.h>

struct fg_cutter {
	char url[FG_LOOPBACK_URL_SIZE];
	unsigned cuts; /* read after fg_cutter_stop() */
	const struct fg_test_server *server;
	unsigned percent;
	int listener;
	pthread_t thread;
	atomic_bool stop;
	struct fg_random random;
};

/*
 * Cuts this many connections in a hundred; every run cuts the same connections at the same places.
 */
void fg_cutter_start(struct fg_cutter *cutter, const struct fg_test_server *server,
		     unsigned percent);
void fg_cutter_stop(struct fg_cutter *cutter);

#endif
