// SPDX-License-Identifier: Apache-2.0
/* No job is lost when some wait for room or arrive late; uploads never occupy all threads. */
#include "perfdb/server/workers.h"
#include "tests/support/fg_test.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
	THREADS = 8,
	AT_ONCE = 400
};

static struct fg_workers *workers;
static sem_t done;
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

static void upload(struct fg_job *job)
{
	const int now = atomic_fetch_add(&running, 1) + 1;
	int before = atomic_load(&most);

	while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {
	}
	atomic_fetch_sub(&running, 1);
	(void)job;
	(void)sem_post(&done);
}

static void answer(struct fg_job *job)
{
	(void)job;
	(void)sem_post(&done);
}

FG_TEST(test_jobs_waiting_for_room_are_done)
{
	static struct fg_job jobs[AT_ONCE];

	workers = start();
	for (int i = 0; i < AT_ONCE; i++) {
		jobs[i] = i % 4 ? (struct fg_job){.kind = FG_JOB_UPLOAD, .run = upload}
				: (struct fg_job){.kind = FG_JOB_QUESTION, .run = answer};
		fg_workers_give(workers, &jobs[i]);
	}
	for (int i = 0; i < AT_ONCE; i++)
		wait_for_one();
	stop();
	assert_true(atomic_load(&most) <= THREADS * 3 / 4);
	assert_true(atomic_load(&most) <= 2 * sysconf(_SC_NPROCESSORS_ONLN));
}

static atomic_int refused;

static void refuse(struct fg_job *job)
{
	(void)job;
	atomic_fetch_add(&refused, 1);
}

FG_TEST(test_a_job_given_after_the_stop_is_refused)
{
	struct fg_job late = {.kind = FG_JOB_QUESTION, .run = answer, .refuse = refuse};

	workers = start();
	fg_workers_stop(workers);
	assert_false(fg_workers_hold(workers));
	fg_workers_give(workers, &late);
	assert_int_equal(atomic_load(&refused), 1);
	fg_workers_free(workers);
	(void)sem_destroy(&done);
}
