// SPDX-License-Identifier: Apache-2.0
/*
 * A small server of keys and values on a local socket, and the load for it: `server REQUESTS
 * SOCKET` listens, starts one client process that sends every line of the file REQUESTS, answers
 * them, and ends when the client does.
 *
 * A benchmark of a server must end and do the same work each time, so the program generates its own
 * load.  Each request is a unit of work for the profile.
 */
#include <fastgate/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LINE_SIZE = 256,
	SLOTS = 1 << 14,
};

struct entry {
	char key[32];
	char value[64];
};

static struct entry table[SLOTS];

struct request {
	char verb[8];
	char key[32];
	char value[64];
};

static int parse_request(const char *line, struct request *request)
{
	*request = (struct request){{0}, {0}, {0}};
	return sscanf(line, "%7s %31s %63s", request->verb, request->key, request->value) >= 2;
}

static struct entry *find_entry(const char *key)
{
	unsigned hash = 2166136261u;

	for (const char *at = key; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	for (unsigned i = 0; i < SLOTS; i++) {
		struct entry *entry = &table[(hash + i) % SLOTS];

		if (!*entry->key || strcmp(entry->key, key) == 0)
			return entry;
	}
	return NULL;
}

/* Returns the number of keys with this prefix: the slow kind of request. */
static unsigned count_keys(const char *start)
{
	const size_t length = strlen(start);
	unsigned count = 0;

	for (size_t i = 0; i < SLOTS; i++)
		count += *table[i].key && strncmp(table[i].key, start, length) == 0;
	return count;
}

static void render_answer(const struct request *request, const struct entry *entry, char *answer)
{
	snprintf(answer, LINE_SIZE, "{\"key\": \"%s\", \"value\": \"%s\"}\n", request->key,
		 entry ? entry->value : "");
}

static void serve_request(const char *line, char *answer)
{
	struct request request;
	struct entry *entry = NULL;

	if (!parse_request(line, &request)) {
		snprintf(answer, LINE_SIZE, "{\"error\": \"what?\"}\n");
		return;
	}
	if (strcmp(request.verb, "COUNT") == 0) {
		snprintf(answer, LINE_SIZE, "{\"count\": %u}\n", count_keys(request.key));
		return;
	}
	entry = find_entry(request.key);
	if (entry && strcmp(request.verb, "SET") == 0) {
		memcpy(entry->key, request.key, sizeof(entry->key));
		memcpy(entry->value, request.value, sizeof(entry->value));
	}
	render_answer(&request, entry, answer);
}

static int serve(FILE *from, FILE *to)
{
	char line[LINE_SIZE];
	char answer[LINE_SIZE];
	uint64_t number = 0;

	while (fgets(line, sizeof(line), from)) {
		fg_unit_begin("request", number++);
		serve_request(line, answer);
		fg_unit_end();
		if (fputs(answer, to) < 0 || fflush(to) != 0)
			return 1;
	}
	return number > 0 ? 0 : 1;
}

/* Sends the requests one by one and reads each answer. */
static int send_all(const char *requests, const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	FILE *lines = fopen(requests, "r");
	FILE *to = NULL;
	FILE *from = NULL;
	char line[LINE_SIZE];

	if (!lines || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		return 1;
	to = fdopen(fd, "w");
	from = fdopen(dup(fd), "r");
	while (fgets(line, sizeof(line), lines)) {
		if (fputs(line, to) < 0 || fflush(to) != 0 || !fgets(line, sizeof(line), from))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	int status = 1;
	int fd = -1;
	pid_t client = 0;

	if (argc != 3 || strlen(argv[2]) >= sizeof(address.sun_path))
		return fprintf(stderr, "usage: server REQUESTS SOCKET\n"), 2;
	strcpy(address.sun_path, argv[2]);
	unlink(argv[2]);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 1) != 0)
		return perror(argv[2]), 1;
	client = fork();
	if (client == 0)
		_exit(send_all(argv[1], &address));
	fd = accept(listener, NULL, NULL);
	if (fd >= 0)
		status = serve(fdopen(fd, "r"), fdopen(dup(fd), "w"));
	shutdown(fd, SHUT_RDWR);
	if (waitpid(client, &fd, 0) != client || fd != 0)
		status = 1;
	return status;
}
