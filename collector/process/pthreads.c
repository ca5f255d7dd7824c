// SPDX-License-Identifier: Apache-2.0
#include "collector/process/pthreads.h"

#include "collector/process/real.h"
#include "collector/process/threads.h"
#include "collector/sampler/handler.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/regions.h"
#include "collector/sampler/signals.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <threads.h>

enum {
	/*
	 * maximum distance from a frame to libc's descriptor: static thread-local storage lies
	 * between them
	 */
	DESCRIPTOR_NEAR = 1 << 20,
	STACK_SMALL = 64 * 1024, /* smaller stacks get extra room for our handler */
	STACK_MORE = 16 * 1024,
};

static pthread_key_t end_key;
static bool has_key;

/*
 * Destructors of thread-specific data run in no fixed order, in up to four rounds.  Ours registers
 * itself again until the last round, so that the destructors of the program are still sampled.
 */
static void on_thread_end(void *rounds)
{
	FG_REAL(pthread_setspecific);
	const uintptr_t round = (uintptr_t)rounds;
	struct fg_thread *thread = fg_self;

	if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
		(void)real_pthread_setspecific(end_key, (const void *)(round + 1));
		return;
	}
	if (!fg_alive() || !thread)
		return;
	atomic_store(&thread->busy, 1);
	fg_take_last_hits(thread);
	fg_regions_finish(thread);
	fg_thread_detach(thread, false);
	fg_thread_leave(thread);
	fg_self = NULL;
	fg_thread_free(thread);
}

void fg_pthreads_init(void)
{
	FG_REAL(pthread_key_create);
	has_key = real_pthread_key_create(&end_key, on_thread_end) == 0;
}

void fg_pthreads_watch_end(void)
{
	FG_REAL(pthread_setspecific);
	if (has_key)
		(void)real_pthread_setspecific(end_key, (const void *)1);
}

/*
 * Returns the end of the readable stack: libc's first frames lie above our frame, and its
 * descriptor of the thread lies above these frames, in the same mapping. Without libc's frames no
 * stack would be complete, and no stack could be reused.
 */
static uintptr_t top_of_stack(uintptr_t here)
{
	const uintptr_t descriptor = (uintptr_t)pthread_self();

	if (descriptor > here && descriptor - here < DESCRIPTOR_NEAR)
		here = descriptor;
	return here & ~(uintptr_t)(FG_WORD - 1);
}

static void *run_thread(void *argument)
{
	struct fg_thread *thread = argument;
	void *(*const begin)(void *) = thread->birth.begin;
	void *const begin_argument = thread->birth.argument;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	thread->stack_high = top_of_stack(here);
	thread->stack_low = here > thread->birth.stack_size ? here - thread->birth.stack_size : 0;
	thread->birth.handle = pthread_self();
	fg_signal_inherit(thread->birth.blocked);
	fg_self = thread;
	fg_signal_begin();
	fg_thread_attach(thread, FG_THREAD_PTHREAD);
	fg_pthreads_watch_end();
	return begin(begin_argument);
}

static size_t stack_size_of(const pthread_attr_t *attr)
{
	FG_REAL(pthread_attr_getstacksize);
	FG_REAL(pthread_getattr_default_np);
	pthread_attr_t standard;
	size_t size = 0;

	if (attr)
		return real_pthread_attr_getstacksize(attr, &size) == 0 ? size : 0;
	if (real_pthread_getattr_default_np(&standard) != 0)
		return 0;
	(void)real_pthread_attr_getstacksize(&standard, &size);
	(void)pthread_attr_destroy(&standard);
	return size;
}

static struct fg_thread *prepare(void *(*begin)(void *), void *argument, size_t stack_size)
{
	struct fg_thread *thread = fg_alive() && !fg_g.sandboxed ? fg_thread_new() : NULL;

	if (!thread) {
		fg_count_loss(FG_LOSS_NO_CLOCK, fg_alive());
		return NULL;
	}
	thread->kind = FG_THREAD_PTHREAD;
	thread->birth.begin = begin;
	thread->birth.argument = argument;
	thread->birth.blocked = fg_signal_hold();
	/*
	 * The thread's own frames lie a little below the top: subtract the system's part and a
	 * guard.
	 */
	const size_t left_out = 7 * (size_t)FG_TRACE_ALIGN + fg_page;

	thread->birth.stack_size = stack_size > left_out ? stack_size - left_out : 0;
	return thread;
}

/* Before glibc 2.34, a library that is loaded later may bring in libpthread. */
static void refresh_pthreads(void)
{
	if (FG_LIKELY(fg_real_exists(FG_REAL_pthread_create)))
		return;
	fg_reals_find();
	if (fg_alive() && !has_key && !fg_g.sandboxed) {
		fg_pthreads_init();
		fg_pthreads_watch_end();
	}
}

FG_EXPORT int pthread_create(pthread_t *restrict handle, const pthread_attr_t *restrict attr,
			     void *(*begin)(void *), void *restrict argument)
{
	refresh_pthreads();
	FG_REAL(pthread_create);
	FG_REAL(pthread_attr_getstack);
	FG_REAL(pthread_attr_setstacksize);
	const size_t stack_size = fg_alive() ? stack_size_of(attr) : 0;
	struct fg_thread *thread = prepare(begin, argument, stack_size);
	void *stack_address = NULL;
	size_t given_size = 0;

	if (!thread)
		return real_pthread_create(handle, attr, begin, argument);
	/*
	 * A small stack that libc will allocate can be made larger; the attribute is restored
	 * afterwards.
	 */
	pthread_attr_t *mutable_attr = (pthread_attr_t *)(uintptr_t)attr;
	bool enlarge = attr && stack_size && stack_size < STACK_SMALL &&
		       !(real_pthread_attr_getstack(attr, &stack_address, &given_size) == 0 &&
			 stack_address) &&
		       real_pthread_attr_setstacksize(mutable_attr, stack_size + STACK_MORE) == 0;
	int status = real_pthread_create(handle, attr, run_thread, thread);

	fg_signal_release();
	if (enlarge)
		(void)real_pthread_attr_setstacksize(mutable_attr, stack_size);
	if (status != 0)
		fg_thread_free(thread);
	return status;
}

/* ---- names ---- */

static void name_thread(struct fg_thread *named, const char *name)
{
	struct fg_thread *thread = fg_self;

	if (!thread || !fg_thread_enter(thread))
		return;
	if (fg_ensure_file(thread)) {
		fg_thread_announce(thread);
		fg_thread_name_write(thread, named, name);
	}
	fg_thread_leave(thread);
}

void fg_pthreads_renamed(void)
{
	char name[FG_NAME_SIZE];

	if (!fg_alive() || !fg_self)
		return;
	fg_thread_name_get(name);
	name_thread(fg_self, name);
}

/* A thread that has not started yet is not found; it records its name when it starts. */
FG_EXPORT int pthread_setname_np(pthread_t handle, const char *name)
{
	FG_REAL(pthread_setname_np);
	const int status = real_pthread_setname_np(handle, name);

	if (status != 0 || !fg_alive())
		return status;
	if (handle == pthread_self()) {
		fg_pthreads_renamed();
		return status;
	}
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		if (thread && atomic_load(&thread->taken) && thread->kind == FG_THREAD_PTHREAD &&
		    thread->birth.handle == handle)
			name_thread(thread, name);
	}
	return status;
}

/* Calls the start function of a C11 thread. It returns an int, which fits into a pointer. */
static void *run_c11(void *argument)
{
	struct fg_thread *thread = fg_self;
	thrd_start_t begin = (thrd_start_t)(uintptr_t)thread->birth.c11_begin;

	return (void *)(intptr_t)begin(argument);
}

FG_EXPORT int thrd_create(thrd_t *handle, thrd_start_t begin, void *argument)
{
	refresh_pthreads();
	FG_REAL(thrd_create);
	FG_REAL(pthread_create);
	const size_t stack_size = fg_alive() ? stack_size_of(NULL) : 0;
	struct fg_thread *thread = prepare(run_c11, argument, stack_size);

	if (!thread)
		return real_thrd_create(handle, begin, argument);
	thread->birth.c11_begin = (uintptr_t)begin;
	int status = real_pthread_create(handle, NULL, run_thread, thread);

	fg_signal_release();
	if (status == 0)
		return thrd_success;
	fg_thread_free(thread);
	return status == ENOMEM || status == EAGAIN ? thrd_nomem : thrd_error;
}
