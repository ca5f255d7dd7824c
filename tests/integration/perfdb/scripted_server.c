// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/perfdb/scripted_server.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "tests/support/fg_test.h"
#include "tests/support/loopback.h"

#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	REQUEST_MAX_BYTES = 1 << 20
};

static size_t body_size(const char *head)
{
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
		static const char name[] = "content-length:";

		if (strncasecmp(line + 2, name, strlen(name)) == 0)
			return (size_t)strtoul(line + 2 + strlen(name), NULL, 10);
	}
	return 0;
}

static char *read_request(int fd)
{
	struct fg_strbuf text = {0};
	size_t wanted = REQUEST_MAX_BYTES;

	while (text.length < wanted) {
		char block[8192];
		const ssize_t got = read(fd, block, sizeof(block));
		const char *end = NULL;

		if (got <= 0)
			break;
		fg_strbuf_add(&text, block, (size_t)got);
		end = strstr(text.data, "\r\n\r\n");
		if (end && wanted == REQUEST_MAX_BYTES)
			wanted = (size_t)(end - text.data) + 4 + body_size(text.data);
	}
	return fg_strbuf_detach(&text);
}

static void answer(int fd, const struct fg_script_reply *reply)
{
	struct fg_strbuf text = {0};
	const char *body = reply->body ? reply->body : "";

	if (reply->status == 0)
		return;
	fg_strbuf_printf(
		&text,
		"HTTP/1.1 %d Scripted\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%s",
		reply->status, strlen(body), reply->headers ? reply->headers : "", body);
	if (fg_fs_write_all(fd, text.data, text.length, NULL) != FG_OK)
		(void)shutdown(fd, SHUT_RDWR);
	fg_strbuf_release(&text);
}

static void *serve(void *context)
{
	struct fg_script_server *server = context;

	for (;;) {
		const int fd = accept(server->listener, NULL, NULL);
		size_t number = server->request_count;

		if (fd < 0)
			return NULL;
		if (number < FG_SCRIPT_MAX_REQUESTS) {
			server->requests[server->request_count++] = read_request(fd);
			if (number >= server->reply_count)
				number = server->reply_count - 1;
			answer(fd, &server->replies[number]);
		}
		(void)close(fd);
	}
}

void fg_script_start(struct fg_script_server *server, const struct fg_script_reply *replies,
		     size_t reply_count)
{
	*server = (struct fg_script_server){.replies = replies, .reply_count = reply_count};
	server->listener = fg_loopback_listen(server->url);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void fg_script_stop(struct fg_script_server *server)
{
	(void)shutdown(server->listener, SHUT_RDWR);
	assert_int_equal(pthread_join(server->thread, NULL), 0);
	(void)close(server->listener);
}

void fg_script_release(struct fg_script_server *server)
{
	for (size_t i = 0; i < server->request_count; i++)
		free(server->requests[i]);
	*server = (struct fg_script_server){0};
}
