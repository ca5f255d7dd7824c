// SPDX-License-Identifier: Apache-2.0
/* Counts the lines of a file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buffer[65536];
	const int fd = open(argv[argc - 1], O_RDONLY);
	ssize_t got = 0;
	long lines = 0;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
		const char *end = buffer + got;

		for (const char *at = buffer; (at = memchr(at, '\n', (size_t)(end - at))); at++)
			lines++;
	}
	return printf("%ld\n", lines) < 0;
}
