// SPDX-License-Identifier: Apache-2.0
/*
 * How long a connection may take.  libmicrohttpd closes one that is silent; one that says a byte
 * now and then it keeps for ever.  So the headers of a request have to be there some time after the
 * connection was opened, or after the request before was answered; and all of a request, until its
 * answer was read, has to be over some time after that.
 *
 * A connection that is late is shut down, which wakes the thread that has it; that thread closes
 * it.  Until then its descriptor is nobody else's: libmicrohttpd says that a connection ends before
 * it closes it, and that waits for the lock.
 */
#include "perfdb/server/lines.h"

#include "base/clock.h"
#include "perfdb/server/request.h"

#include <pthread.h>
#include <sys/socket.h>

struct line {
	struct line *next;
	struct line **place; /* that points here */
	int fd;
	bool in_request;
	int64_t since_ns;
};

struct fg_connections {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread;
	bool stopping;
	struct line *first;
	int64_t headers_ns;
	int64_t request_ns;
	int64_t pause_ns;
};

static void cut_the_late(struct fg_connections *lines, int64_t now_ns)
{
	for (struct line *line = lines->first; line; line = line->next) {
		const int64_t limit_ns = line->in_request ? lines->request_ns : lines->headers_ns;

		if (now_ns - line->since_ns > limit_ns)
			(void)shutdown(line->fd, SHUT_RDWR);
	}
}

static void *watch(void *context)
{
	struct fg_connections *lines = context;

	(void)pthread_mutex_lock(&lines->lock);
	while (!lines->stopping) {
		const int64_t until_ns = fg_clock_monotonic_ns() + lines->pause_ns;
		const struct timespec until = {.tv_sec = (time_t)(until_ns / FG_NS_PER_S),
					       .tv_nsec = (long)(until_ns % FG_NS_PER_S)};

		(void)pthread_cond_timedwait(&lines->wake, &lines->lock, &until);
		cut_the_late(lines, fg_clock_monotonic_ns());
	}
	(void)pthread_mutex_unlock(&lines->lock);
	return NULL;
}

int fg_connections_start(int64_t headers_ns, int64_t request_ns, struct fg_connections **lines,
			 struct fg_error *err)
{
	struct fg_connections *l = fg_xcalloc(1, sizeof(*l));
	const int64_t shorter = headers_ns < request_ns ? headers_ns : request_ns;

	l->headers_ns = headers_ns;
	l->request_ns = request_ns;
	l->pause_ns = shorter / 4 < FG_NS_PER_S ? shorter / 4 : FG_NS_PER_S;
	(void)pthread_mutex_init(&l->lock, NULL);
	fg_init_wake(&l->wake);
	*lines = l;
	l->has_thread = pthread_create(&l->thread, NULL, watch, l) == 0;
	return l->has_thread ? FG_OK
			     : fg_error_set(err, FG_EIO,
					    "cannot start a thread that watches connections");
}

void fg_connections_stop(struct fg_connections *lines)
{
	if (!lines)
		return;
	(void)pthread_mutex_lock(&lines->lock);
	lines->stopping = true;
	(void)pthread_cond_broadcast(&lines->wake);
	(void)pthread_mutex_unlock(&lines->lock);
	if (lines->has_thread)
		(void)pthread_join(lines->thread, NULL);
	FG_ASSERT(!lines->first);
	(void)pthread_mutex_destroy(&lines->lock);
	(void)pthread_cond_destroy(&lines->wake);
	free(lines);
}

static void open_line(struct fg_connections *lines, struct MHD_Connection *connection,
		      void **of_line)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct line *line = NULL;

	if (!info)
		return;
	line = fg_xcalloc(1, sizeof(*line));
	line->fd = info->connect_fd;
	line->since_ns = fg_clock_monotonic_ns();
	(void)pthread_mutex_lock(&lines->lock);
	line->next = lines->first;
	line->place = &lines->first;
	if (line->next)
		line->next->place = &line->next;
	lines->first = line;
	(void)pthread_mutex_unlock(&lines->lock);
	*of_line = line;
}

static void close_line(struct fg_connections *lines, struct line *line)
{
	if (!line)
		return;
	(void)pthread_mutex_lock(&lines->lock);
	*line->place = line->next;
	if (line->next)
		line->next->place = line->place;
	(void)pthread_mutex_unlock(&lines->lock);
	free(line);
}

void fg_connections_notice(void *context, struct MHD_Connection *connection, void **of_line,
			   enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		open_line(context, connection, of_line);
	else
		close_line(context, *of_line);
}

void fg_connections_request(struct fg_connections *lines, struct MHD_Connection *connection,
			    bool begins)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct line *line = info ? info->socket_context : NULL;

	if (!line)
		return;
	(void)pthread_mutex_lock(&lines->lock);
	line->in_request = begins;
	line->since_ns = fg_clock_monotonic_ns();
	(void)pthread_mutex_unlock(&lines->lock);
}
