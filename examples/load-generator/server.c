// SPDX-License-Identifier: Apache-2.0
/*
 * server: answers each line on a TCP connection with its checksum, until it is terminated. It
 * listens on a port of the loopback address that the system chooses, and prints it.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned checksum(const char *text, size_t length)
{
	unsigned sum = ~0u;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)text[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static void serve(int connection)
{
	char line[4096];
	char answer[16];
	ssize_t size = 0;

	/* The load generator waits for each answer, so a line arrives whole. */
	while ((size = read(connection, line, sizeof(line))) > 0) {
		const int length =
			snprintf(answer, sizeof(answer), "%08x\n", checksum(line, (size_t)size));

		if (write(connection, answer, (size_t)length) != length)
			break;
	}
	close(connection);
}

int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	const int yes = 1;

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(listener, 8) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		perror("server");
		return 1;
	}
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;) {
		const int connection = accept(listener, NULL, NULL);

		if (connection < 0)
			continue;
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		serve(connection);
	}
}
