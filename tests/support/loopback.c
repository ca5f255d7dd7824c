// SPDX-License-Identifier: Apache-2.0
#include "tests/support/loopback.h"

#include "tests/support/fg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>

enum {
	WAITING = 64,
	ANSWER_SECONDS = 20
};

static struct sockaddr_in address_of(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons(port)};
}

int fg_loopback_listen(char url[FG_LOOPBACK_URL_SIZE])
{
	struct sockaddr_in address = address_of(0);
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(fd, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_return_code(listen(fd, WAITING), 0);
	assert_return_code(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	(void)snprintf(url, FG_LOOPBACK_URL_SIZE, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return fd;
}

int fg_loopback_connect_from(const char *address, uint16_t port)
{
	const struct sockaddr_in to = address_of(port);
	struct sockaddr_in from = address_of(0);
	const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(fd, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(inet_pton(AF_INET, address, &from.sin_addr), 1);
	assert_return_code(bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		fail_msg("nobody answers at port %d", port);
	return fd;
}

int fg_loopback_connect(uint16_t port)
{
	return fg_loopback_connect_from("127.0.0.1", port);
}
