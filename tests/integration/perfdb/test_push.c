// SPDX-License-Identifier: Apache-2.0
/* The client against a real server, and against lines that break. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "perfdb/client/client.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static int setup(void **state)
{
	struct fg_test_server *s = fg_xcalloc(1, sizeof(*s));

	fg_test_server_start(s, NULL);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	fg_test_server_stop(*state);
	free(*state);
	return 0;
}

static struct fg_push_options options_for(const char *url)
{
	return (struct fg_push_options){.url = url,
					.attempts = 3,
					.first_wait_ns = FG_NS_PER_MS,
					.longest_wait_ns = FG_NS_PER_MS};
}

static void spool(const struct fg_test_server *s, unsigned seed)
{
	struct fg_strbuf parcel = {0};
	struct fg_error err = {0};

	fg_test_parcel(seed, true, &parcel);
	if (fg_spool_add(fg_scratch_path(&s->scratch, "spool"), fg_test_run_id(seed), parcel.data,
			 parcel.length, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_strbuf_release(&parcel);
}

static void spooled_runs_arrive_and_leave_the_spool(void **state)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for(s->url);
	struct fg_push_result result = {0};
	struct fg_spool_status left = {0};
	struct fg_error err = {0};

	for (unsigned seed = 1; seed <= 5; seed++)
		spool(s, seed);
	if (fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(result.sent, 5);
	assert_int_equal(fg_spool_status(fg_scratch_path(&s->scratch, "spool"), &left, &err),
			 FG_OK);
	assert_int_equal(left.waiting, 0);
	assert_int_equal(fg_test_run_count(s), 5);
	spool(s, 3);
	assert_int_equal(
		fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err),
		FG_OK);
	assert_int_equal(result.known, 1);
	assert_int_equal(fg_test_run_count(s), 5);
}

static void server_that_is_down_leaves_runs_waiting(void **state)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for("http://127.0.0.1:1");
	struct fg_push_result result = {0};
	struct fg_error err = {0};

	spool(s, 1);
	spool(s, 2);
	assert_int_equal(
		fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err),
		FG_ENET);
	assert_int_equal(result.waiting, 2);
	assert_int_equal(result.retries, 2);
	assert_non_null(strstr(err.message, "127.0.0.1:1"));
}

static void damaged_file_is_set_aside_and_does_not_block_the_others(void **state)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for(s->url);
	struct fg_push_result result = {0};
	struct fg_spool_status left = {0};
	struct fg_error err = {0};

	spool(s, 1);
	spool(s, 2);
	fg_scratch_write_text(&s->scratch, "spool/0198f000-0000-7000-8000-000000000001.fgrun",
			      "torn");
	assert_int_equal(
		fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err),
		FG_ENET);
	assert_int_equal(result.sent, 1);
	assert_int_equal(result.rejected, 1);
	assert_int_equal(fg_spool_status(fg_scratch_path(&s->scratch, "spool"), &left, &err),
			 FG_OK);
	assert_int_equal(left.rejected, 1);
}

static void token_stays_secret_and_does_not_travel_in_clear(void **state)
{
	struct fg_test_server *s = *state;
	/* The second looks like this machine, and is anybody's. */
	static const char *const urls[] = {"http://perfdb.example.org", "http://127.example.org"};
	struct fg_push_options options = options_for(NULL);
	struct fg_push_result result = {0};
	struct fg_error err = {0};

	spool(s, 1);
	options.token = "fgt_secret";
	for (size_t i = 0; i < FG_ARRAY_SIZE(urls); i++) {
		options.url = urls[i];
		assert_int_equal(fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options,
					       &result, &err),
				 FG_EINVAL);
		assert_non_null(strstr(err.message, "https"));
		assert_null(strstr(err.message, "secret"));
	}
	options.url = s->url;
	{
		char token[69];

		fg_test_token(s, NULL, 3, INT64_MAX, token);
		assert_int_equal(fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options,
					       &result, &err),
				 FG_ENET);
		assert_non_null(strstr(err.message, "401"));
		assert_null(strstr(err.message, "secret"));
		assert_int_equal(result.waiting, 1);
		options.token = token;
		assert_int_equal(fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options,
					       &result, &err),
				 FG_OK);
		assert_int_equal(result.sent, 1);
	}
}

/* A relay between client and server that cuts lines: before, while or after the request passes. */
struct relay {
	const struct fg_test_server *server;
	int listener;
	char url[64];
	pthread_t thread;
	atomic_bool stop;
	struct fg_random random;
	unsigned cut_percent;
	unsigned cuts;
};

static void pass(struct relay *r, int client)
{
	const int server = fg_test_connect(r->server);
	const bool cut = fg_random_below(&r->random, 100) < r->cut_percent;
	/* Bytes that may pass before the line breaks. */
	const int at_once = 1;
	size_t left = cut ? (size_t)fg_random_below(&r->random, 60000) : SIZE_MAX;

	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
	(void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
	while (left > 0) {
		struct pollfd fds[2] = {
			{client, POLLIN, 0},
                        {server, POLLIN, 0}
                };
		char piece[4096];
		ssize_t n = 0;
		int i = 0;

		if (poll(fds, 2, 5000) <= 0)
			break;
		i = fds[0].revents ? 0 : 1;
		n = recv(fds[i].fd, piece, sizeof(piece) < left ? sizeof(piece) : left, 0);
		if (n <= 0 || send(fds[1 - i].fd, piece, (size_t)n, MSG_NOSIGNAL) != n)
			break;
		left -= (size_t)n;
	}
	r->cuts += cut && left == 0;
	(void)close(server);
}

static void *relay_lines(void *context)
{
	struct relay *r = context;

	while (!atomic_load(&r->stop)) {
		struct pollfd waiting = {r->listener, POLLIN, 0};
		int client = -1;

		if (poll(&waiting, 1, 20) <= 0)
			continue;
		client = accept(r->listener, NULL, NULL);
		if (client < 0)
			continue;
		pass(r, client);
		(void)close(client);
	}
	return NULL;
}

static void start_relay(struct relay *r, const struct fg_test_server *server, unsigned cut_percent)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);

	*r = (struct relay){.server = server, .cut_percent = cut_percent};
	fg_random_seed(&r->random, 42);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(r->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(r->listener, 64), 0);
	assert_int_equal(getsockname(r->listener, (struct sockaddr *)&address, &size), 0);
	(void)snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&r->thread, NULL, relay_lines, r), 0);
}

static void stop_relay(struct relay *r)
{
	atomic_store(&r->stop, true);
	(void)pthread_join(r->thread, NULL);
	(void)close(r->listener);
}

static void cut_lines_lose_nothing_and_double_nothing(void **state)
{
	enum {
		RUNS = 60
	};
	struct fg_test_server *s = *state;
	struct relay relay;
	struct fg_push_options options;
	struct fg_push_result result = {0};
	struct fg_error err = {0};
	size_t confirmed = 0;
	unsigned rounds = 0;

	start_relay(&relay, s, 100);
	options = options_for(relay.url);
	options.timeout_ns = 10 * FG_NS_PER_S;
	for (unsigned seed = 1; seed <= RUNS; seed++)
		spool(s, seed);
	do {
		/* A failed push is what this is about: it goes on. */
		if (fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err) !=
		    FG_OK)
			rounds++;
		confirmed += result.sent + result.known;
	} while (result.waiting && rounds < 200);
	stop_relay(&relay);
	assert_int_equal(result.waiting, 0);
	assert_int_equal(result.rejected, 0);
	assert_int_equal(confirmed, RUNS);
	assert_true(relay.cuts > 0);
	assert_int_equal(fg_test_run_count(s), RUNS);
}

static void bad_addresses_are_explained(void **state)
{
	static const char *const urls[] = {"", "perfdb", "ftp://x", "file:///etc/passwd"};
	struct fg_test_server *s = *state;
	struct fg_push_result result = {0};
	struct fg_error err = {0};

	spool(s, 1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(urls); i++) {
		const struct fg_push_options options = options_for(urls[i]);

		assert_int_equal(fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options,
					       &result, &err),
				 FG_EINVAL);
	}
	assert_int_equal(fg_push_spool(fg_scratch_path(&s->scratch, "nowhere"),
				       &(struct fg_push_options){0}, &result, &err),
			 FG_OK);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(spooled_runs_arrive_and_leave_the_spool),
		CASE(server_that_is_down_leaves_runs_waiting),
		CASE(damaged_file_is_set_aside_and_does_not_block_the_others),
		CASE(token_stays_secret_and_does_not_travel_in_clear),
		CASE(cut_lines_lose_nothing_and_double_nothing),
		CASE(bad_addresses_are_explained),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
