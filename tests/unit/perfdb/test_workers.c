// SPDX-License-Identifier: Apache-2.0
/* Which thread is woken for a job, and that no job is left when some wait for room. */
#include "perfdb/server/workers.h"
#include "tests/support/fg_test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	THREADS = 8,
	IN_TURN = 2000,
	AT_ONCE = 400
};

static struct fg_workers *workers;
static sem_t done;
static pthread_t seen[THREADS];
static int jobs_of[THREADS];
static int seen_count;
static atomic_int running;
static atomic_int most;

static struct fg_workers *start(void)
{
	struct fg_workers *started = NULL;
	struct fg_error err = {0};

	assert_int_equal(fg_workers_start(THREADS, &started, &err), FG_OK);
	assert_int_equal(sem_init(&done, 0, 0), 0);
	return started;
}

static void stop(void)
{
	fg_workers_stop(workers);
	fg_workers_free(workers);
	(void)sem_destroy(&done);
}

static void wait_for_one(void)
{
	while (sem_wait(&done) != 0) {
	}
}

static bool note_thread(struct fg_job *job)
{
	int i = 0;

	(void)job;
	while (i < seen_count && !pthread_equal(seen[i], pthread_self()))
		i++;
	if (i == seen_count)
		seen[seen_count++] = pthread_self();
	jobs_of[i]++;
	(void)sem_post(&done);
	return true;
}

static int by_count(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* In turn, all threads would do the same; how many of them are awake at once is for the system. */
static void test_the_last_that_worked_works_again(void **state)
{
	struct fg_job job = {.kind = FG_JOB_QUESTION, .run = note_thread};
	int others = 0;

	(void)state;
	workers = start();
	for (int i = 0; i < IN_TURN; i++) {
		fg_workers_give(workers, &job);
		wait_for_one();
	}
	stop();
	qsort(jobs_of, THREADS, sizeof(jobs_of[0]), by_count);
	for (int i = THREADS / 2; i < THREADS; i++)
		others += jobs_of[i];
	assert_true(others < IN_TURN / 4);
}

/* An upload comes twice, as if something had been written between. */
static bool upload(struct fg_job *job)
{
	const bool is_first = job->kind == FG_JOB_UPLOAD;
	const int now = atomic_fetch_add(&running, 1) + 1;
	int before = atomic_load(&most);

	while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {
	}
	atomic_fetch_sub(&running, 1);
	if (is_first) {
		job->kind = FG_JOB_WRITTEN;
		fg_workers_give(workers, job);
		return false;
	}
	(void)sem_post(&done);
	return true;
}

static bool answer(struct fg_job *job)
{
	(void)job;
	(void)sem_post(&done);
	return true;
}

static void test_what_waits_for_room_is_done(void **state)
{
	static struct fg_job jobs[AT_ONCE];

	(void)state;
	workers = start();
	for (int i = 0; i < AT_ONCE; i++) {
		jobs[i] = i % 4 ? (struct fg_job){.kind = FG_JOB_UPLOAD, .run = upload}
				: (struct fg_job){.kind = FG_JOB_QUESTION, .run = answer};
		fg_workers_give(workers, &jobs[i]);
	}
	for (int i = 0; i < AT_ONCE; i++)
		wait_for_one();
	stop();
	assert_true(atomic_load(&most) <= sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_that_worked_works_again),
		cmocka_unit_test(test_what_waits_for_room_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
