// SPDX-License-Identifier: Apache-2.0
#include "bench/perfdb/sender.h"

#include "perfdb/protocol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static int failed(const char *what, struct fg_error *err)
{
	return fg_error_set(err, FG_ENET, "%s: %s", what, strerror(errno));
}

int fg_bench_sender_open(struct fg_bench_sender *sender, uint16_t port, struct fg_error *err)
{
	const struct sockaddr_in server = {.sin_family = AF_INET,
					   .sin_port = htons(port),
					   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	const int yes = 1;

	sender->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sender->socket < 0)
		return failed("socket", err);
	(void)setsockopt(sender->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(sender->socket, (const struct sockaddr *)&server, sizeof(server)) != 0)
		return failed("connect", err);
	return FG_OK;
}

static int send_all(int socket, struct iovec *parts, struct fg_error *err)
{
	while (parts[0].iov_len + parts[1].iov_len > 0) {
		const ssize_t sent = writev(socket, parts, 2);
		size_t left = sent > 0 ? (size_t)sent : 0;

		if (sent < 0 && errno != EINTR)
			return failed("send", err);
		for (int i = 0; i < 2; i++) {
			const size_t done = fg_min_size(left, parts[i].iov_len);

			parts[i].iov_base = (char *)parts[i].iov_base + done;
			parts[i].iov_len -= done;
			left -= done;
		}
	}
	return FG_OK;
}

/* Returns the length of the answer; 0: not known yet. */
static size_t answer_size(const char *answer)
{
	static const char name[] = "\r\nContent-Length: ";
	const char *length = strstr(answer, name);
	const char *end = strstr(answer, "\r\n\r\n");

	if (!length || !end)
		return 0;
	return (size_t)(end - answer) + strlen("\r\n\r\n") +
	       (size_t)strtoull(length + strlen(name), NULL, 10);
}

static int receive(struct fg_bench_sender *sender, struct fg_error *err)
{
	size_t size = 0;
	size_t wanted = 0;

	do {
		const ssize_t got = read(sender->socket, sender->answer + size,
					 sizeof(sender->answer) - 1 - size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed("receive", err);
		size += (size_t)got;
		sender->answer[size] = '\0';
		wanted = answer_size(sender->answer);
		if (got == 0)
			return fg_error_set(err, FG_ENET,
					    "the server's answer is cut short or too long");
	} while (wanted == 0 || size < wanted);
	return FG_OK;
}

int fg_bench_sender_upload(struct fg_bench_sender *sender, const struct fg_strbuf *body,
			   int *status, struct fg_error *err)
{
	char head[256];
	const int length =
		snprintf(head, sizeof(head),
			 "POST " FG_WIRE_RUNS " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
			 "Authorization: Bearer " FG_BENCH_SECRET "\r\n"
			 "Content-Type: " FG_WIRE_MEDIA_TYPE "\r\nContent-Length: %zu\r\n\r\n",
			 body->length);
	struct iovec parts[2] = {{head, (size_t)length}, {body->data, body->length}};
	int done = send_all(sender->socket, parts, err);

	if (done == FG_OK)
		done = receive(sender, err);
	if (done == FG_OK)
		*status = (int)strtol(sender->answer + strcspn(sender->answer, " "), NULL, 10);
	return done;
}

void fg_bench_sender_close(struct fg_bench_sender *sender)
{
	(void)close(sender->socket);
}
