// SPDX-License-Identifier: Apache-2.0
/*
 * libmicrohttpd closes a silent connection, but a connection that sends a byte now and then stays
 * open forever. So there are two time limits: one for the headers of a request, counted from the
 * opening of the connection or from the last answer, and one from the headers until the client has
 * read the answer. A late connection is shut down, which wakes the thread that serves it, and that
 * thread closes it. The descriptor cannot be reused before the shutdown: libmicrohttpd calls
 * fg_connections_notice() before it closes a descriptor, and that call waits for our lock.
 */
#include "perfdb/server/connections.h"

#include "base/clock.h"
#include "perfdb/server/threads.h"

#include <sys/socket.h>

struct entry {
	struct entry *next;
	struct entry **place; /* the pointer that holds this entry's address */
	int fd;
	bool in_request;
	bool is_cut;
	int64_t since_ns;
};

struct fg_connections {
	struct fg_background watch;
	struct entry *first; /* newest first */
	size_t count;
	int64_t headers_ns;
	int64_t request_ns;
	size_t busy_from; /* from this number of connections on, idle connections are closed */
};

static void cut_late(struct fg_connections *connections, int64_t now_ns)
{
	for (struct entry *entry = connections->first; entry; entry = entry->next) {
		const int64_t limit_ns =
			entry->in_request ? connections->request_ns : connections->headers_ns;

		if (now_ns - entry->since_ns > limit_ns)
			(void)shutdown(entry->fd, SHUT_RDWR);
	}
}

/*
 * Near the limit, closes the connection that has been idle longest to make room for a new one. A
 * connection with a request in progress stays open. So a client that opens many connections and
 * sends nothing soon loses its own connections.
 */
static void make_room(struct fg_connections *connections)
{
	struct entry *oldest = NULL;

	if (connections->count < connections->busy_from)
		return;
	for (struct entry *entry = connections->first; entry; entry = entry->next) {
		if (!entry->in_request && !entry->is_cut &&
		    (!oldest || entry->since_ns < oldest->since_ns))
			oldest = entry;
	}
	if (!oldest)
		return;
	oldest->is_cut = true;
	(void)shutdown(oldest->fd, SHUT_RDWR);
}

static bool watch(void *context)
{
	struct fg_connections *connections = context;

	(void)pthread_mutex_lock(&connections->watch.lock);
	cut_late(connections, fg_clock_monotonic_ns());
	(void)pthread_mutex_unlock(&connections->watch.lock);
	return false;
}

int fg_connections_start(int64_t headers_ns, int64_t request_ns, size_t busy_from,
			 struct fg_connections **connections, struct fg_error *err)
{
	struct fg_connections *l = fg_xcalloc(1, sizeof(*l));
	const int64_t shorter = headers_ns < request_ns ? headers_ns : request_ns;

	l->headers_ns = headers_ns;
	l->request_ns = request_ns;
	l->busy_from = busy_from;
	l->watch = (struct fg_background){
		.name = "connections",
		.work = watch,
		.context = l,
		.pause_ns = shorter / 4 < FG_NS_PER_S ? shorter / 4 : FG_NS_PER_S,
	};
	*connections = l;
	return fg_background_start(&l->watch, err);
}

void fg_connections_stop(struct fg_connections *connections)
{
	if (!connections)
		return;
	fg_background_stop(&connections->watch);
	FG_ASSERT(!connections->first);
	free(connections);
}

static void add_entry(struct fg_connections *connections, struct MHD_Connection *connection,
		      void **slot)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct entry *entry = NULL;

	if (!info)
		return;
	entry = fg_xcalloc(1, sizeof(*entry));
	entry->fd = info->connect_fd;
	entry->since_ns = fg_clock_monotonic_ns();
	(void)pthread_mutex_lock(&connections->watch.lock);
	make_room(connections);
	connections->count++;
	entry->next = connections->first;
	entry->place = &connections->first;
	if (entry->next)
		entry->next->place = &entry->next;
	connections->first = entry;
	(void)pthread_mutex_unlock(&connections->watch.lock);
	*slot = entry;
}

static void remove_entry(struct fg_connections *connections, struct entry *entry)
{
	if (!entry)
		return;
	(void)pthread_mutex_lock(&connections->watch.lock);
	connections->count--;
	*entry->place = entry->next;
	if (entry->next)
		entry->next->place = entry->place;
	(void)pthread_mutex_unlock(&connections->watch.lock);
	free(entry);
}

void fg_connections_notice(void *context, struct MHD_Connection *connection, void **slot,
			   enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add_entry(context, connection, slot);
	else
		remove_entry(context, *slot);
}

void fg_connections_request(struct fg_connections *connections, struct MHD_Connection *connection,
			    bool begins)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct entry *entry = info ? info->socket_context : NULL;

	if (!entry)
		return;
	(void)pthread_mutex_lock(&connections->watch.lock);
	entry->in_request = begins;
	entry->since_ns = fg_clock_monotonic_ns();
	(void)pthread_mutex_unlock(&connections->watch.lock);
}

size_t fg_connections_count(struct fg_connections *connections)
{
	size_t count = 0;

	(void)pthread_mutex_lock(&connections->watch.lock);
	count = connections->count;
	(void)pthread_mutex_unlock(&connections->watch.lock);
	return count;
}
