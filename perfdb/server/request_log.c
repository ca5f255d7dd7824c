// SPDX-License-Identifier: Apache-2.0
/*
 * A disk that fills up may take half a line.  The other half is kept and written first, before any
 * other line, so that the log has whole lines only.
 */
#include "perfdb/server/request_log.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

struct fg_request_log {
	pthread_mutex_t lock;
	int fd;
	struct fg_strbuf rest; /* of a line that was begun */
	unsigned long long lost;
};

struct fg_request_log *fg_request_log_new(int fd)
{
	struct fg_request_log *log = fg_xcalloc(1, sizeof(*log));

	log->fd = fd;
	(void)pthread_mutex_init(&log->lock, NULL);
	return log;
}

void fg_request_log_free(struct fg_request_log *log)
{
	if (!log)
		return;
	fg_strbuf_release(&log->rest);
	(void)pthread_mutex_destroy(&log->lock);
	free(log);
}

bool fg_request_log_is_on(const struct fg_request_log *log)
{
	return log->fd >= 0;
}

/* How many bytes the file took. */
static size_t put(const struct fg_request_log *log, const char *data, size_t size)
{
	size_t written = 0;

	while (written < size) {
		const ssize_t n = write(log->fd, data + written, size - written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		written += (size_t)n;
	}
	return written;
}

static bool put_rest(struct fg_request_log *log)
{
	struct fg_strbuf *rest = &log->rest;
	const size_t written = put(log, rest->data, rest->length);

	memmove(rest->data, rest->data + written, rest->length - written);
	rest->length -= written;
	return rest->length == 0;
}

/* False: no byte of it was written. */
static bool put_line(struct fg_request_log *log, const char *line, size_t size)
{
	const size_t written = put(log, line, size);

	if (written > 0 && written < size)
		fg_strbuf_add(&log->rest, line + written, size - written);
	return written > 0;
}

static void tell_lost(struct fg_request_log *log)
{
	struct fg_strbuf line = {0};
	char time[FG_TIME_TEXT_SIZE];

	fg_time_format_utc(fg_clock_wall_ns(), time);
	fg_strbuf_printf(&line, "{\"time\":\"%s\",\"lost_lines\":%llu}\n", time, log->lost);
	if (put_line(log, line.data, line.length))
		log->lost = 0;
	fg_strbuf_release(&line);
}

void fg_request_log_write(struct fg_request_log *log, const char *line, size_t size)
{
	(void)pthread_mutex_lock(&log->lock);
	if (log->rest.length)
		(void)put_rest(log);
	if (!log->rest.length && log->lost)
		tell_lost(log);
	if (log->rest.length || log->lost || !put_line(log, line, size))
		log->lost++;
	(void)pthread_mutex_unlock(&log->lock);
}
