// SPDX-License-Identifier: Apache-2.0
#include "base/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DEFAULT_LIMIT_BYTES = 1 << 20,
	PIPE_BYTES = 1 << 20, /* size of a pipe: the default maximum for unprivileged processes */
	READ_BYTES = 1 << 18,
	/* unread bytes of a growing file at which its middle is released */
	FILE_HELD_BYTES = 64 << 20,
	COPIED_BYTES_MAX = 64 << 20,
};

static int open_file(struct fg_capture *capture, int *write_fd, struct fg_error *err)
{
	*write_fd = memfd_create("output", MFD_CLOEXEC);
	if (*write_fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot create an in-memory file");
	capture->fd = fcntl(*write_fd, F_DUPFD_CLOEXEC, 0);
	return capture->fd < 0 ? fg_error_errno(err, FG_EIO, "cannot create an in-memory file")
			       : FG_OK;
}

static int open_pipe(struct fg_capture *capture, int *write_fd, struct fg_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return fg_error_errno(err, FG_EIO, "cannot create a pipe");
	capture->fd = ends[0];
	*write_fd = ends[1];
	(void)fcntl(capture->fd, F_SETFL, O_NONBLOCK);
	/*
	 * A program that prints a lot must not wait for us. The kernel refuses a large pipe beyond
	 * the user's quota.
	 */
	(void)fcntl(capture->fd, F_SETPIPE_SZ, PIPE_BYTES);
	return FG_OK;
}

int fg_capture_open(struct fg_capture *capture, bool in_file, size_t limit_bytes, int *write_fd,
		    struct fg_error *err)
{
	const size_t limit = limit_bytes ? limit_bytes : DEFAULT_LIMIT_BYTES;

	*capture = (struct fg_capture){.fd = -1, .in_file = in_file};
	fg_strbuf_set_limit(&capture->head, limit / 2 + 1);
	return in_file ? open_file(capture, write_fd, err) : open_pipe(capture, write_fd, err);
}

static void write_copy(struct fg_capture *capture, const char *data, size_t size)
{
	size = fg_min_size(size, COPIED_BYTES_MAX - capture->copied);
	if (capture->copy_fd && size && write(capture->copy_fd, data, size) != (ssize_t)size)
		capture->copy_fd = 0; /* the disk may be full: stop copying */
	capture->copied += size;
}

static ssize_t read_next(struct fg_capture *capture, char *data, size_t size)
{
	ssize_t got = 0;

	if (!capture->in_file) {
		got = read(capture->fd, data, size);
		if (got > 0)
			write_copy(capture, data, (size_t)got);
		return got;
	}
	/* Both descriptors of the file share one position, and the program moves it. */
	got = pread(capture->fd, data, size, (off_t)capture->file_read);
	capture->file_read += got > 0 ? (uint64_t)got : 0;
	return got;
}

static void make_ring(struct fg_capture *capture)
{
	if (!capture->ring)
		capture->ring = fg_xcalloc(capture->head.limit, 1);
}

/*
 * Keeps the beginning; everything after it goes through a ring of the same size, which keeps the
 * end. Output is read straight into the ring: a program that writes megabytes must not wait for us.
 */
static ssize_t read_some(struct fg_capture *capture)
{
	static char buffer[READ_BYTES]; /* static: only one thread waits for programs */
	const size_t half = capture->head.limit;
	ssize_t got = 0;

	if (capture->head.length < half) {
		got = read_next(capture, buffer,
				fg_min_size(sizeof(buffer), half - capture->head.length));
		if (got > 0)
			fg_strbuf_add(&capture->head, buffer, (size_t)got);
		return got;
	}
	make_ring(capture);
	got = read_next(capture, capture->ring + capture->ring_bytes % half,
			half - capture->ring_bytes % half);
	capture->ring_bytes += got > 0 ? (size_t)got : 0;
	return got;
}

static uint64_t file_size(const struct fg_capture *capture)
{
	struct stat about;

	return fstat(capture->fd, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* Reads up to the offset `size`, and skips the middle. */
static void read_file(struct fg_capture *capture, uint64_t size)
{
	const size_t half = capture->head.limit;

	while (capture->head.length < half && read_some(capture) > 0)
		;
	if (size > half && size - half > capture->file_read) {
		make_ring(capture);
		capture->ring_bytes += (size_t)(size - half - capture->file_read);
		capture->file_read = size - half;
	}
	while (capture->file_read < size && read_some(capture) > 0)
		;
}

/* Keeps endless output from filling memory between two calls. */
static void trim_file(struct fg_capture *capture)
{
	const uint64_t size = file_size(capture);

	if (size < capture->file_read || size - capture->file_read < FILE_HELD_BYTES)
		return;
	read_file(capture, size);
	(void)fallocate(capture->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			(off_t)capture->file_read);
}

static void close_reader(struct fg_capture *capture)
{
	if (capture->fd >= 0)
		(void)close(capture->fd);
	capture->fd = -1;
}

void fg_capture_read(struct fg_capture *capture)
{
	if (capture->fd >= 0 && capture->in_file) {
		trim_file(capture);
		return;
	}
	while (capture->fd >= 0) {
		const ssize_t got = read_some(capture);

		if (got > 0 || (got < 0 && errno == EINTR))
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		close_reader(capture); /* end of the stream */
	}
}

int fg_capture_poll_fd(const struct fg_capture *capture)
{
	return capture->in_file ? -1 : capture->fd;
}

struct fg_captured fg_capture_take(struct fg_capture *capture)
{
	const size_t half = capture->head.limit;
	struct fg_captured taken = {0};
	size_t ring_size = 0;
	size_t begin = 0;

	if (capture->fd >= 0 && capture->in_file)
		read_file(capture, file_size(capture));
	taken.printed = capture->head.length + capture->ring_bytes;
	ring_size = fg_min_size(capture->ring_bytes, half);
	begin = ring_size > 0 && ring_size == half ? capture->ring_bytes % half : 0;
	taken.cut = capture->ring_bytes > ring_size;
	fg_strbuf_set_limit(&capture->head, 0);
	if (taken.cut)
		fg_strbuf_printf(&capture->head, "\n[... %zu bytes left out ...]\n",
				 capture->ring_bytes - ring_size);
	if (ring_size) {
		fg_strbuf_add(&capture->head, capture->ring + begin, ring_size - begin);
		fg_strbuf_add(&capture->head, capture->ring, begin);
	}
	taken.size = capture->head.length;
	taken.text = fg_strbuf_detach(&capture->head);
	free(capture->ring);
	capture->ring = NULL;
	return taken;
}

void fg_capture_release(struct fg_capture *capture)
{
	close_reader(capture);
	fg_strbuf_release(&capture->head);
	free(capture->ring);
	*capture = (struct fg_capture){.fd = -1};
}
