// SPDX-License-Identifier: Apache-2.0
/*
 * Confirmed uploads are on the disk: the test's own fdatasync() intercepts writes of the database's
 * log.
 */
#include "store/db.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	QUESTIONS = 50, /* each takes longer than answering an upload */
	COPIES = 2,
	SEVERAL = 4
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Protected by `lock`. */
static struct {
	bool is_slow; /* writes of the log wait until this is false */
	bool fails;   /* writes of the log fail after the wait */
	unsigned waiting;
} disk;

static bool is_log(int fd)
{
	char entry[32];
	char target[512] = "";
	ssize_t length = 0;

	(void)snprintf(entry, sizeof(entry), "/proc/self/fd/%d", fd);
	length = readlink(entry, target, sizeof(target) - 1);
	return length > 4 && strcmp(target + length - 4, "-wal") == 0;
}

/* Replaces libc's function for the server and for SQLite. */
__attribute__((visibility("default"))) int fdatasync(int fildes)
{
	bool fails = false;

	if (!is_log(fildes))
		return (int)syscall(SYS_fdatasync, fildes);
	(void)pthread_mutex_lock(&lock);
	disk.waiting++;
	(void)pthread_cond_broadcast(&changed);
	while (disk.is_slow)
		(void)pthread_cond_wait(&changed, &lock);
	disk.waiting--;
	fails = disk.fails;
	(void)pthread_mutex_unlock(&lock);
	if (!fails)
		return (int)syscall(SYS_fdatasync, fildes);
	errno = EIO;
	return -1;
}

static void set_disk(bool is_slow, bool fails)
{
	(void)pthread_mutex_lock(&lock);
	disk.is_slow = is_slow;
	disk.fails = fails;
	(void)pthread_cond_broadcast(&changed);
	(void)pthread_mutex_unlock(&lock);
}

struct upload {
	const struct fg_test_server *server;
	pthread_t thread;
	atomic_int status; /* 0: not answered */
};

static void *send_run(void *context)
{
	struct upload *u = context;

	atomic_store(&u->status, fg_test_upload(u->server, 1, NULL));
	return NULL;
}

static void start(struct upload *u, const struct fg_test_server *s)
{
	*u = (struct upload){.server = s};
	assert_int_equal(pthread_create(&u->thread, NULL, send_run, u), 0);
}

static int end(struct upload *u)
{
	(void)pthread_join(u->thread, NULL);
	return atomic_load(&u->status);
}

static bool is_anybody_waiting(void)
{
	bool is_waiting = false;

	(void)pthread_mutex_lock(&lock);
	is_waiting = disk.waiting > 0;
	(void)pthread_mutex_unlock(&lock);
	return is_waiting;
}

static void not_answered(const struct upload *u)
{
	const int status = atomic_load(&u->status);

	if (status) {
		set_disk(false, false); /* so that the server can stop */
		fail_msg("answered %d before it is on the disk", status);
	}
	(void)sched_yield();
}

/* Waits until the run is written but its log is not yet on the disk. */
static void await_commit(const struct upload *u)
{
	while (!is_anybody_waiting())
		not_answered(u);
}

/* A second upload of a pending run is not confirmed either. */
FG_SERVER_TEST(nothing_is_confirmed_before_it_is_on_the_disk)
{
	struct fg_test_server *s = *state;
	static struct upload uploads[COPIES]; /* static: the threads outlive a failed test */

	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	set_disk(true, false);
	start(&uploads[0], s);
	await_commit(&uploads[0]);
	start(&uploads[1], s);
	for (int i = 0; i < QUESTIONS; i++)
		assert_int_equal(fg_test_ask(s, "GET", "/api/v1/projects", NULL, NULL), 200);
	for (int i = 0; i < COPIES; i++)
		not_answered(&uploads[i]);
	set_disk(false, false);
	assert_int_equal(end(&uploads[0]), 201);
	assert_int_equal(end(&uploads[1]), 200);
	assert_int_equal(fg_test_run_count(s), 2);
}

/* Rejected runs are missing; runs confirmed later are stored. */
FG_SERVER_TEST(a_disk_that_fails_confirms_nothing)
{
	struct fg_test_server *s = *state;

	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	set_disk(false, true);
	assert_in_range(fg_test_upload(s, 1, NULL), 500, 599);
	assert_int_equal(fg_test_run_count(s), 1);
	assert_int_equal(fg_test_ask(s, "GET", "/readyz", NULL, NULL), 503);
	set_disk(false, false);
	assert_int_equal(fg_test_upload(s, 3, NULL), 201);
	assert_int_equal(fg_test_ask(s, "GET", "/readyz", NULL, NULL), 200);
	fg_test_server_restart(s);
	assert_int_equal(fg_test_upload(s, 3, NULL), 200);
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_run_count(s), 3);
}

/* The database has no log, like a copy made by VACUUM INTO. */
FG_SERVER_TEST(a_database_without_a_log_takes_runs)
{
	struct fg_test_server *s = *state;
	struct fg_db *db = NULL;

	fg_server_stop(s->server);
	assert_int_equal(fg_db_open(s->database, 0, &db, NULL), FG_OK);
	assert_int_equal(fg_db_script(db, "PRAGMA journal_mode = DELETE", NULL), FG_OK);
	fg_db_close(db);
	s->server = NULL;
	fg_test_server_restart(s);
	for (unsigned seed = 1; seed <= SEVERAL; seed++)
		assert_int_equal(fg_test_upload(s, seed, NULL), 201);
	assert_int_equal(fg_test_run_count(s), SEVERAL);
}
