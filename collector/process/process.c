// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's life in one process image: from before main (even before the constructors of
 * every other library, because the object is linked with -z initfirst), through forks, to exit or
 * exec.
 *
 * A child of fork gets clocks at once, so that no time goes unsampled, but gets a file only with
 * its first sample: most children exec before that and would leave an empty file.
 */
#include "collector/process/process.h"

#include "collector/counting/count_hooks.h"
#include "collector/process/environment.h"
#include "collector/process/pthreads.h"
#include "collector/process/real.h"
#include "collector/process/threads.h"
#include "collector/python/python.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/crc32c.h"
#include "collector/sampler/handler.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/regions.h"
#include "collector/sampler/sampling.h"
#include "collector/sampler/signals.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
# define MADV_WIPEONFORK 18
#endif

/* ---- start ---- */

static int make_alive_page(void)
{
	void *at = mmap(NULL, FG_TRACE_ALIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		return -ENOMEM;
	if (madvise(at, FG_TRACE_ALIGN, MADV_WIPEONFORK) != 0) {
		(void)munmap(at, FG_TRACE_ALIGN);
		return -ENOSYS;
	}
	fg_g.alive = at;
	return 0;
}

/*
 * Finds the stack of the main thread: its end does not move, and the part in use is mapped without
 * gaps.
 */
static void find_main_stack(struct fg_thread *thread)
{
	struct rlimit limit = {RLIM_INFINITY, 0};
	const uintptr_t most = (uintptr_t)64 << 20;
	const uintptr_t high = (uintptr_t)getauxval(AT_RANDOM) & ~(uintptr_t)(FG_WORD - 1);
	uintptr_t size = most;

	(void)getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur < size)
		size = (uintptr_t)limit.rlim_cur;
	thread->stack_high = high;
	thread->stack_low = high > size ? high - size : 0;
}

/* Without a seal, another process could truncate the file: an access would kill the program. */
static bool is_sealed(int fd)
{
	const int seals = (int)syscall(SYS_fcntl, fd, F_GET_SEALS);

	return seals > 0 && seals & F_SEAL_SHRINK && lseek(fd, 0, SEEK_END) >= FG_CONTROL_PAGE_SIZE;
}

static const struct fg_control_page *map_control(void)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, fg_g.options.control,
				    O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct fg_control_page *page = NULL;
	void *at = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (is_sealed(fd))
		at = mmap(NULL, FG_CONTROL_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		page = at;
	(void)syscall(SYS_close, fd);
	return page && page->magic == FG_CONTROL_MAGIC ? page : NULL;
}

static void find_control(void)
{
	if (!fg_g.options.control[0])
		return;
	fg_g.control = map_control();
	fg_g.control_missing = !fg_g.control;
	if (fg_g.control)
		atomic_store(&fg_g.control_dumps,
			     __atomic_load_n(&fg_g.control->dumps, __ATOMIC_RELAXED));
}

static void read_program(void)
{
	long size = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", fg_g.program,
			    sizeof(fg_g.program) - 1);

	fg_g.program[size > 0 ? size : 0] = '\0';
	if (syscall(SYS_getcwd, fg_g.folder, sizeof(fg_g.folder)) < 0 || fg_g.folder[0] != '/')
		fg_g.folder[0] = '\0';
}

/*
 * Should this process be recorded? In a set-user-id program the caller's environment must not
 * choose where to write.
 */
static bool concerns_us(void)
{
	return !getauxval(AT_SECURE) && fg_g.options.output[0] &&
	       (!fg_g.options.only_parent || fg_g.options.only_parent == (uint64_t)getppid());
}

static void before_fork(void)
{
	if (fg_alive() && fg_self)
		fg_g.forking = fg_self;
}

static void after_fork_in_child(void);

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name */
extern void *__dso_handle __attribute__((visibility("hidden")));

/* glibc's libc.so exports only __register_atfork(), and musl only pthread_atfork(). */
static void watch_forks(void)
{
	int (*watch)(void (*)(void), void (*)(void), void (*)(void), void *) = NULL;
	void *found = fg_real(FG_REAL___register_atfork);
	FG_REAL(pthread_atfork);

	if (!fg_real_exists(FG_REAL___register_atfork)) {
		(void)real_pthread_atfork(before_fork, NULL, after_fork_in_child);
		return;
	}
	memcpy(&watch, &found, sizeof(watch));
	(void)watch(before_fork, NULL, after_fork_in_child, &__dso_handle);
}

static int reserve_memory(void)
{
	int status = make_alive_page();

	if (status == 0)
		status = fg_modules_init();
	if (status == 0)
		status = fg_paths_init();
	return status;
}

static uintptr_t random_cookie(void)
{
	uintptr_t cookie = (uintptr_t)fg_clock_ns(CLOCK_MONOTONIC);
	const uint8_t *random = (const uint8_t *)getauxval(AT_RANDOM);

	if (random)
		memcpy(&cookie, random + FG_WORD, sizeof(cookie));
	return cookie & ~(uintptr_t)(4 * FG_THREADS_MAX - 1);
}

static void begin_main_thread(struct fg_thread *thread)
{
	fg_self = thread;
	thread->birth.handle = pthread_self();
	find_main_stack(thread);
	fg_signal_install(fg_on_signal);
	fg_signal_begin();
	fg_thread_attach(thread, FG_THREAD_MAIN);
	fg_pthreads_watch_end();
}

static void start(char **environment)
{
	const uint64_t begin_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const uint64_t begin_cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct fg_thread *thread;

	fg_collector_options_parse(environment, &fg_g.options);
	if (!concerns_us())
		return;
	fg_page = getauxval(AT_PAGESZ);
	fg_environment_keep(environment);
	fg_reals_find();
	fg_crc32c_init();
	fg_g.pid = getpid();
	fg_g.start_ns = begin_ns;
	/*
	 * An exec does not reset the kernel's totals: keep the totals of earlier images, to
	 * subtract them.
	 */
	fg_process_used(&fg_g.begin);
	fg_g.cookie = random_cookie();
	atomic_store(&fg_g.phases, fg_g.cookie * UINT64_C(0x9e3779b97f4a7c15));
	atomic_store(&fg_g.lowest_fd, UINT32_MAX);
	atomic_store(&fg_g.sampling, !fg_g.options.paused && !fg_g.options.has_units);
	read_program();
	fg_thread_name_get(fg_g.name);
	find_control();
	fg_clocks_choose();
	if (reserve_memory() != 0 || fg_file_open() != 0)
		return;
	thread = fg_thread_new();
	if (!thread)
		return;
	atomic_store(fg_g.alive, 1);
	fg_trace_introduce(thread);
	fg_modules_scan(thread);
	fg_pthreads_init();
	watch_forks();
	begin_main_thread(thread);
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	__atomic_store_n(&header->startup_ns, fg_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns,
			 __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void on_load(int argc, char **argv, char **environment)
{
	const int saved_errno = errno;

	(void)argc;
	(void)argv;
	start(fg_environment_at_start(environment));
	errno = saved_errno;
}

/* ---- fork ---- */

static void after_fork_in_child(void)
{
	struct fg_thread *parent = fg_g.forking;
	struct fg_thread *thread;
	const int saved_errno = errno;

	/*
	 * The collector stays off in the child of a sandboxed process: the filter might not even
	 * let it close its descriptors.
	 */
	if (!parent || !fg_g.alive || fg_alive() || fg_g.sandboxed)
		return;
	fg_file_detach();
	fg_signals_forked();
	fg_threads_forget();
	fg_paths_clear();
	fg_python_codes_clear();
	if (fg_count_hooks)
		fg_count_hooks->forked();
	fg_g.pid = getpid();
	fg_g.start_ns = fg_clock_ns(CLOCK_MONOTONIC);
	fg_g.begin = (struct fg_process_use){0};
	atomic_store(&fg_g.owed_ns, 0);
	fg_g.rate = (struct fg_rate){.costs = fg_g.rate.costs};
	fg_g.lazy = true;
	atomic_store(&fg_g.opening, 0);
	if (!concerns_us())
		return;
	thread = fg_thread_new();
	if (!thread)
		return;
	/* the new thread may have taken the parent's slot */
	static struct fg_thread forked;
	const uintptr_t low = parent->stack_low;
	const uintptr_t high = parent->stack_high;

	forked = *parent;

	atomic_store(fg_g.alive, 1);
	fg_self = thread;
	thread->birth.handle = pthread_self();
	thread->stack_low = low;
	thread->stack_high = high;
	fg_signal_begin();
	fg_thread_attach(thread, FG_THREAD_MAIN);
	fg_regions_inherit(thread, &forked);
	fg_pthreads_watch_end();
	errno = saved_errno;
}

/* ---- the end ---- */

static void write_totals(enum fg_trace_end how)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	struct fg_process_use use = fg_g.begin;

	if (!header)
		return;
	fg_process_used(&use);
	header->end_monotonic_ns = fg_clock_ns(CLOCK_MONOTONIC);
	header->end_user_ns = use.user_ns - fg_g.begin.user_ns;
	header->end_system_ns = use.system_ns - fg_g.begin.system_ns;
	header->end_switches = use.switches - fg_g.begin.switches;
	__atomic_store_n(&header->end, how, __ATOMIC_RELEASE);
}

/* In a sandbox the totals are not written: reading them could kill the program. */
void fg_process_end(enum fg_trace_end how)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || fg_g.sandboxed || !thread ||
	    fg_tid(thread) != (pid_t)syscall(SYS_gettid))
		return;
	atomic_store(&thread->busy, 1);
	fg_take_last_hits(thread);
	fg_regions_finish(thread);
	fg_thread_detach(thread, true);
	write_totals(how);
	fg_thread_leave(thread);
}

void fg_process_resume(void)
{
	struct fg_thread *thread = fg_self;
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (!fg_alive() || fg_g.sandboxed || !thread ||
	    fg_tid(thread) != (pid_t)syscall(SYS_gettid))
		return;
	if (header)
		__atomic_store_n(&header->end, FG_END_UNKNOWN, __ATOMIC_RELEASE);
	fg_signal_hide();
	fg_thread_attach(thread, (enum fg_thread_kind)thread->kind);
}

/* Records libraries that were loaded and never sampled. */
static void scan_once_more(struct fg_thread *thread)
{
	atomic_store(&thread->busy, 1);
	if (atomic_load(&fg_g.header))
		fg_modules_scan(thread);
	if (fg_g.sandboxed)
		fg_regions_finish(thread);
	fg_thread_leave(thread);
}

/*
 * If the main thread ended first, the process exits from its last thread, whose slot may be free
 * already; a thread without a slot may also exit. Such a thread gets a slot to write from, but no
 * clocks.
 */
static void end_without_thread(void)
{
	struct fg_thread *thread = fg_g.sandboxed || fg_g.pid != getpid() ? NULL : fg_thread_new();

	if (!thread)
		return;
	scan_once_more(thread);
	if (fg_count_hooks && fg_thread_enter(thread)) {
		fg_count_hooks->thread_end(thread, true);
		fg_thread_leave(thread);
	}
	write_totals(FG_END_EXIT);
}

__attribute__((destructor)) static void on_unload(void)
{
	if (!fg_alive())
		return;
	if (!fg_self) {
		end_without_thread();
		return;
	}
	scan_once_more(fg_self);
	fg_process_end(FG_END_EXIT);
}
