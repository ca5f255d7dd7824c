// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int fg_source_open(const char *path, uint64_t max_bytes, struct fg_source *source,
		   struct fg_error *err)
{
	struct stat status;
	/* do not block if the file is a FIFO */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint64_t size;

	if (fd < 0)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "cannot open '%s'",
				      path);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		(void)close(fd);
		return fg_error_set(err, FG_EIO, "'%s' is not a regular file", path);
	}
	size = (uint64_t)status.st_size;
	if (size > max_bytes) {
		(void)close(fd);
		return fg_error_set(err, FG_ELIMIT, "'%s' has %llu bytes; the limit is %llu", path,
				    (unsigned long long)size, (unsigned long long)max_bytes);
	}
	*source = (struct fg_source){.fd = fd, .size = size, .stored = size};
	if (status.st_blocks > 0 && (uint64_t)status.st_blocks * 512 < size)
		source->stored = (uint64_t)status.st_blocks * 512;
	return FG_OK;
}

struct fg_source fg_source_memory(const void *data, size_t size)
{
	return (struct fg_source){.fd = -1, .memory = data, .size = size, .stored = size};
}

bool fg_source_read(const struct fg_source *source, uint64_t offset, void *to, size_t size)
{
	uint8_t *at = to;

	if (offset > source->size || size > source->size - offset)
		return false;
	if (source->memory) {
		memcpy(to, source->memory + offset, size);
		return true;
	}
	while (size > 0) {
		ssize_t got = pread(source->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

void fg_source_close(struct fg_source *source)
{
	if (source->fd >= 0 && !source->memory)
		(void)close(source->fd);
	*source = (struct fg_source){.fd = -1};
}
