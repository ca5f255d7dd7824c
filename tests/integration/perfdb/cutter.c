// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/perfdb/cutter.h"

#include "tests/support/fg_test.h"
#include "tests/support/loopback.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SEED = 42,
	PASS_MAX_BYTES = 60000,
	PIECE_BYTES = 4096,
	QUIET_MS = 5000,
	LOOK_MS = 20
};

static void send_at_once(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Passes on one piece, from whichever side sends; returns its size, or 0 at the end. */
static size_t pass_piece(const int sides[2], size_t most)
{
	struct pollfd fds[2] = {{sides[0], POLLIN, 0}, {sides[1], POLLIN, 0}};
	char piece[PIECE_BYTES];
	ssize_t n = 0;
	int from = 0;

	if (poll(fds, 2, QUIET_MS) <= 0)
		return 0;
	from = fds[0].revents ? 0 : 1;
	n = recv(sides[from], piece, sizeof(piece) < most ? sizeof(piece) : most, 0);
	if (n <= 0 || send(sides[1 - from], piece, (size_t)n, MSG_NOSIGNAL) != n)
		return 0;
	return (size_t)n;
}

static void pass(struct fg_cutter *c, int client)
{
	const int sides[2] = {client, fg_test_connect(c->server)};
	const bool cut = fg_random_below(&c->random, 100) < c->percent;
	size_t left = cut ? (size_t)fg_random_below(&c->random, PASS_MAX_BYTES) : SIZE_MAX;
	size_t passed = 1;

	send_at_once(sides[0]);
	send_at_once(sides[1]);
	while (left > 0 && passed > 0) {
		passed = pass_piece(sides, left);
		left -= passed;
	}
	c->cuts += cut && left == 0;
	(void)close(sides[1]);
}

static void *relay(void *context)
{
	struct fg_cutter *c = context;

	while (!atomic_load(&c->stop)) {
		struct pollfd waiting = {c->listener, POLLIN, 0};
		int client = -1;

		if (poll(&waiting, 1, LOOK_MS) <= 0)
			continue;
		client = accept(c->listener, NULL, NULL);
		if (client < 0)
			continue;
		pass(c, client);
		(void)close(client);
	}
	return NULL;
}

void fg_cutter_start(struct fg_cutter *cutter, const struct fg_test_server *server,
		     unsigned percent)
{
	*cutter = (struct fg_cutter){.server = server, .percent = percent};
	fg_random_seed(&cutter->random, SEED);
	cutter->listener = fg_loopback_listen(cutter->url);
	assert_int_equal(pthread_create(&cutter->thread, NULL, relay, cutter), 0);
}

void fg_cutter_stop(struct fg_cutter *cutter)
{
	atomic_store(&cutter->stop, true);
	(void)pthread_join(cutter->thread, NULL);
	(void)close(cutter->listener);
}
