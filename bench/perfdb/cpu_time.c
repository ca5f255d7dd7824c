// SPDX-License-Identifier: Apache-2.0
#include "bench/perfdb/cpu_time.h"

#include "base/clock.h"
#include "base/fs.h"

#include <stdlib.h>
#include <unistd.h>

/* Fields of /proc/PID/stat that follow the name; the first is the state. */
enum {
	PARENT = 1,
	ENDED_USER = 13, /* time of terminated children, in ticks */
	ENDED_SYSTEM = 14,
	FIELDS = 15,
	TEXT_MAX = 1 << 20
};

static char *read_file(pid_t pid, const char *name)
{
	char path[64];
	char *text = NULL;
	size_t size = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fg_fs_read(path, TEXT_MAX, &text, &size, NULL) == FG_OK ? text : NULL;
}

/* Returns false if there is no such process. */
static bool read_stat(pid_t pid, long long fields[FIELDS])
{
	char *text = read_file(pid, "stat");
	char *at = text ? strrchr(text, ')') : NULL;

	if (at)
		at += strlen(") S");
	for (int i = PARENT; at && i < FIELDS; i++)
		fields[i] = strtoll(at, &at, 10);
	free(text);
	return at;
}

static int64_t running_ns(pid_t pid)
{
	char *text = read_file(pid, "schedstat");
	const int64_t ns = text ? strtoll(text, NULL, 10) : 0;

	free(text);
	return ns;
}

int64_t fg_bench_database_cpu_ns(pid_t first)
{
	long long fields[FIELDS] = {0};
	char **names = NULL;
	size_t count = 0;
	int64_t ns = 0;

	if (first == 0 || !read_stat(first, fields) ||
	    fg_fs_list("/proc", &names, &count, NULL) != FG_OK)
		return 0;
	ns = running_ns(first) +
	     (fields[ENDED_USER] + fields[ENDED_SYSTEM]) * (FG_NS_PER_S / sysconf(_SC_CLK_TCK));
	for (size_t i = 0; i < count; i++) {
		const pid_t pid = (pid_t)strtol(names[i], NULL, 10);

		if (pid > 0 && read_stat(pid, fields) && fields[PARENT] == first)
			ns += running_ns(pid);
	}
	fg_fs_list_free(names, count);
	return ns;
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT ...", in ticks. */
int64_t fg_bench_idle_ns(void)
{
	enum {
		IDLE = 4,
		IOWAIT = 5
	};
	char *text = NULL;
	char *at = NULL;
	size_t size = 0;
	int64_t ticks = 0;

	if (fg_fs_read("/proc/stat", TEXT_MAX, &text, &size, NULL) != FG_OK)
		return 0;
	at = text + strlen("cpu");
	for (int i = 1; i <= IOWAIT; i++) {
		const long long field = strtoll(at, &at, 10);

		ticks += i >= IDLE ? field : 0;
	}
	free(text);
	return ticks * (FG_NS_PER_S / sysconf(_SC_CLK_TCK));
}

#ifdef FG_WITH_POSTGRES
# include "store/db.h"
# include "store/libpq.h"

static pid_t ask_pid(PGconn *connection)
{
	PGresult *result = fg_pq.sendQuery(connection, "SELECT pg_backend_pid()")
				   ? fg_pq.getResult(connection)
				   : NULL;
	const pid_t pid = result && fg_pq.ntuples(result) == 1
				  ? (pid_t)strtol(fg_pq.getvalue(result, 0, 0), NULL, 10)
				  : 0;

	fg_pq.clear(result);
	return pid;
}

pid_t fg_bench_database_process(const char *database)
{
	const char *const names[] = {"dbname", NULL};
	const char *const values[] = {database, NULL};
	PGconn *connection = fg_db_is_url(database) && fg_pq_open(NULL) == FG_OK
				     ? fg_pq.connectdbParams(names, values, 1)
				     : NULL;
	const pid_t pid = connection ? ask_pid(connection) : 0;
	char *name = pid ? read_file(pid, "comm") : NULL;
	long long fields[FIELDS] = {0};

	if (name && strncmp(name, "postgres", strlen("postgres")) == 0)
		(void)read_stat(pid, fields);
	free(name);
	if (connection)
		fg_pq.finish(connection);
	return (pid_t)fields[PARENT];
}
#else
pid_t fg_bench_database_process(const char *database)
{
	(void)database;
	return 0;
}
#endif
