// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts the functions that take locks, to count the waits and their time. Built only into the
 * counting library.
 *
 * Each call first tries the lock. If it is not free, the real call waits for it, and the wait is
 * counted when the lock is acquired or the call times out.
 */
#include "collector/counting/count_probe.h"
#include "collector/sampler/writer.h"

#include <pthread.h>
#include <threads.h>

/* clang-format off */
#define REALS(X) \
	X(pthread_mutex_lock) X(pthread_mutex_trylock) \
	X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) \
	X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) \
	X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock) \
	X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) \
	X(mtx_lock) X(mtx_trylock) X(mtx_timedlock)
/* clang-format on */

static struct {
	REALS(FG_REAL_MEMBER)
} reals;

enum {
	WAITS,
	WAIT_TIME,
};

static struct fg_counted counted = {
	.names = {[WAITS] = "locks.waits", [WAIT_TIME] = "locks.wait_time"}};

static void count(const ucontext_t *context, uint64_t begin_ns)
{
	const struct fg_counts seen = {
		.values = {
			[WAITS] = 1,
			[WAIT_TIME] = fg_clock_ns(CLOCK_MONOTONIC) - begin_ns,
		}};

	fg_counts_record(FG_COUNTER_LOCKS, context, &seen);
}

/* A robust lock whose owner died is also acquired. C11's thrd_success is 0 as well. */
static bool is_taken(int status)
{
	return status == 0 || status == EOWNERDEAD;
}

_Static_assert(thrd_success == 0, "is_taken() must also work for C11's mtx_lock()");

/* If the attempt fails because of an error, the real call fails as well, and is not counted. */
#define LOCKS(name, attempt, late, parameters, arguments, failed) \
 FG_EXPORT int name parameters                                    \
 {                                                                \
  uint64_t begin_ns = 0;                                          \
  int status = 0;                                                 \
                                                                  \
  FG_NEED_REAL(name, failed);                                     \
  FG_NEED_REAL(attempt, failed);                                  \
  if (!fg_is_counting(FG_COUNTER_LOCKS))                          \
   return reals.name arguments;                                   \
  status = reals.attempt(lock);                                   \
  if (is_taken(status))                                           \
   return status;                                                 \
  begin_ns = fg_clock_ns(CLOCK_MONOTONIC);                        \
  status = reals.name arguments;                                  \
  if (is_taken(status) || status == (late)) {                     \
   FG_HERE(context);                                              \
   count(&context, begin_ns);                                     \
  }                                                               \
  return status;                                                  \
 }

/* clang-format off */
#define UNTIL    const struct timespec *restrict until
#define CLOCKED  clockid_t clock, const struct timespec *restrict until
LOCKS(pthread_mutex_lock, pthread_mutex_trylock, ETIMEDOUT, (pthread_mutex_t *lock), (lock), ENOSYS)
LOCKS(pthread_mutex_timedlock, pthread_mutex_trylock, ETIMEDOUT,
	(pthread_mutex_t *restrict lock, UNTIL), (lock, until), ENOSYS)
LOCKS(pthread_mutex_clocklock, pthread_mutex_trylock, ETIMEDOUT,
	(pthread_mutex_t *restrict lock, CLOCKED), (lock, clock, until), ENOSYS)
LOCKS(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, ETIMEDOUT,
	(pthread_rwlock_t *lock), (lock), ENOSYS)
LOCKS(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, ETIMEDOUT,
	(pthread_rwlock_t *restrict lock, UNTIL), (lock, until), ENOSYS)
LOCKS(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, ETIMEDOUT,
	(pthread_rwlock_t *restrict lock, CLOCKED), (lock, clock, until), ENOSYS)
LOCKS(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, ETIMEDOUT,
	(pthread_rwlock_t *lock), (lock), ENOSYS)
LOCKS(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, ETIMEDOUT,
	(pthread_rwlock_t *restrict lock, UNTIL), (lock, until), ENOSYS)
LOCKS(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, ETIMEDOUT,
	(pthread_rwlock_t *restrict lock, CLOCKED), (lock, clock, until), ENOSYS)
LOCKS(mtx_lock, mtx_trylock, thrd_timedout, (mtx_t *lock), (lock), thrd_error)
LOCKS(mtx_timedlock, mtx_trylock, thrd_timedout,
	(mtx_t *restrict lock, UNTIL), (lock, until), thrd_error)
/* clang-format on */

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	FG_REALS_LOOK_UP(REALS);
	fg_counted[FG_COUNTER_LOCKS] = &counted;
}
