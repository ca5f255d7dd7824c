/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's memory, shared by its files.
 *
 * `fg_g` and tables of fixed size are static. Other memory comes from mmap: at start-up, when a
 * thread begins, and when a table grows. The trace file's mapping is not inherited by fork, and
 * `*fg_g.alive` lies on a page that fork wipes: in a child with its own memory, the collector is
 * off until its fork handler has switched it on again. A raw system call runs no fork handler, so
 * the collector stays off in its child.
 *
 * A `struct fg_thread` belongs to its thread, in normal context or in its handler. `busy` keeps the
 * two apart: a handler that finds it set takes no sample and leaves its weight to the next sample.
 * The two never wait for each other.
 */
#ifndef FG_COLLECTOR_STATE_H
#define FG_COLLECTOR_STATE_H

#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/python/cpython_read.h"
#include "collector/sampler/account.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/rate.h"
#include "collector/unwind/readable.h"
#include "collector/unwind/rules.h"
#include "trace/trace_format.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	FG_THREADS_MAX = 4096,
	FG_FDS_MAX = 65536,
	FG_CHECKS_PER_FRAME = 2, /* maximum number of checks per frame */
	FG_TRAIL_ROOM = 1024,    /* frames that a kept stack may grow by before it is moved */
	FG_TRAIL_FRAMES = FG_TRAIL_ROOM + (int)FG_TRACE_FRAMES_MAX,
	FG_REGION_DEPTH_MAX = 64,
	FG_REGIONS_MAX = 4096,
	FG_NAMES_MAX = 4096, /* highest number of a name */
	FG_OUTPUT_MAX = 3072,
	FG_RECORD_HEAD = 8,
	FG_NAME_SIZE = 16,     /* size of a thread's name in the kernel */
	FG_RECORD_ROOM = 4608, /* bytes of a record: room for a path and a few numbers */
};

/* A mapped object. The members that are not atomic are written before `start` and never again. */
struct fg_module {
	_Atomic uintptr_t start;
	uintptr_t end;
	uintptr_t bias;
	uintptr_t code_start; /* range of its executable segments */
	uintptr_t code_end;
	struct fg_tables tables;
	uint32_t flags;
	uint32_t path_hash;
	uint8_t build_id[20];
	uint8_t build_id_size;
	_Atomic uint8_t live;
	_Atomic bool stays;       /* loaded with the program: it is never unloaded */
	_Atomic uint32_t seen;    /* number of the last scan of our own index that found it */
	const char *_Atomic path; /* borrowed from the loader; valid while the module is live */
};

/* A word of the stack, other than a return address, on which the walk depended, and its value. */
struct fg_check {
	uintptr_t address;
	uintptr_t value;
};

/* A thread's memory for reading its own Python frames. */
struct fg_python_look {
	struct fg_pages pages;
	struct fg_python_reader reader;
	uint32_t new_codes;
	char text[FG_PYTHON_NAME_MAX + FG_PYTHON_FILE_MAX]; /* scratch */
	struct fg_python_stack stack;
};

/* A frame after a walk. Its checks begin at `first_check`, and cover the step to its caller. */
struct fg_walk_frame {
	struct fg_regs regs;
	uint32_t id;   /* frame id in the trace */
	uint32_t node; /* number of the call path down to here */
	uint32_t first_check;
	bool exact;
	/*
	 * its checks and its caller's pc cover everything on which the step to the caller depended
	 */
	bool checked;
	bool uses_bp;     /* the step used the frame pointer, or may have */
	bool restores_bp; /* its first check is its caller's frame pointer */
};

/* The frames of a stack, leaf first, with room in front for further calls. */
struct fg_trail {
	/* the last frame is a sentinel with an unreachable sp */
	struct fg_walk_frame frames[FG_TRAIL_FRAMES + 1];
	struct fg_check checks[FG_CHECKS_PER_FRAME * (FG_TRAIL_FRAMES + 1)];
};

struct fg_region_times {
	uint64_t entered;
	uint64_t ns;
};

enum {
	FG_KERNEL_HITS_MAX = 32,
	FG_COPY_FRAMES = 256, /* maximum number of frames in a copy of a stack's innermost part */
	FG_REGION_STEPS = 32,
};

/* One sample of a thread by the kernel's perf event. */
struct fg_kernel_hit {
	uint64_t time_ns;
	uint32_t path;
	uint32_t region;
};

/* Hits without a weight yet, oldest first. */
struct fg_kernel_hits {
	struct fg_kernel_hit hit[FG_KERNEL_HITS_MAX];
	uint32_t count;
};

/* A thread's large buffers, such as its previous stack, its new stack, and totals of regions. */
struct fg_walk_memory {
	struct fg_trail trails[2];
	struct fg_region_times times[FG_REGIONS_MAX + 1];
	/* frame ids, a ring: the outer end of a stack that is too deep */
	uint32_t edge[FG_TRACE_FRAMES_EDGE];
	struct fg_python_look python;      /* Python frames of the sample being taken */
	uint32_t copy_ids[FG_COPY_FRAMES]; /* frames of collector/unwind/walk_copy.c */
	struct fg_kernel_hits hits;
};

struct fg_chunk_writer {
	struct fg_trace_chunk *chunk;
	uint32_t used;
	uint32_t crc;
	uint64_t last_time_ns;
};

/* The clocks of a thread: collector/process/threads.c and the handler. */
struct fg_thread_clocks {
	bool attached;
	bool unsettled;         /* perf still has its shorter first period */
	uint32_t unmeasured;    /* samples since the last measured sample */
	uint64_t period_ns;     /* current sampling period */
	uint64_t due_cpu_ns;    /* CPU time at which perf's period ends; 0: unknown */
	uint64_t restart_ns;    /* CPU time that the last restart took */
	uint64_t late_ns;       /* delay of the sample being measured */
	uint64_t sample_cpu_ns; /* CPU time at the handler of the sample being measured */
	bool tick_fast;
	uint8_t tick_idle;
	int perf_fd;
	int timer; /* timer of the clocks other than perf */
	int tick_timer;
	uint64_t random;
	uint64_t carried_ns; /* weight of samples that could not be taken */
	uint64_t slowed_ns;  /* CPU time up to which the slowdown has been added */
	uint64_t last_ns;    /* time of the last sample: CPU time (jitter) or elapsed time (wall) */
	void *kernel_ring;   /* ring of collector/sampler/kernel.c; NULL: none */
	uint64_t kernel_since_ns; /* CPU time up to which the event's interrupts are counted */
	uint64_t kernel_period_ns;
	uint64_t kernel_seen; /* position in the ring up to which records were read */
	/* system time that records found at places whose call path is unknown */
	uint64_t kernel_unknown_ns;
	uint32_t kernel_ring_bytes;
	bool kernel_stacks;         /* records in the ring contain the program's stack */
	uint8_t samples_since_look; /* user samples since the last check for system time */
	bool kernel_refused;
};

/* A change of the thread's region. */
struct fg_region_step {
	uint64_t time_ns;
	uint32_t before; /* the previous region */
};

/* The thread's regions and unit of work: collector/sampler/regions.c. */
struct fg_thread_regions {
	uint32_t current;
	uint32_t steps; /* number of steps; the last FG_REGION_STEPS are kept in a ring */
	struct fg_region_step step[FG_REGION_STEPS];
	uint32_t written; /* the current region according to the trace */
	uint32_t depth;
	uint32_t outer[FG_REGION_DEPTH_MAX];
	uint64_t begin_ns[FG_REGION_DEPTH_MAX];
	uint32_t unit_name;
	uint64_t unit_number;
	bool unit_written; /* the unit began while samples were taken */
};

/* The timeout of a restarted system call: collector/sampler/restart.c. */
struct fg_thread_restart {
	int64_t timeout[2];
	uint64_t until_ns;
	/* stack pointer of a call that the next handler of our signal may have to end */
	uintptr_t undecided_sp;
};

/* The stack of the last walk: collector/unwind/walk.c. */
struct fg_thread_kept {
	uint32_t trail; /* index of the trail that holds the stack */
	uint32_t count; /* number of frames */
	uint32_t end;   /* one past the outermost frame */
	uint32_t checks_end;
	uint32_t checked_from; /* all frames from here on are checked */
	uint32_t epoch;
	bool complete;
	bool mixed; /* the stack's paths may have Python frames */
};

/* The record being put together: collector/sampler/writer.c. */
struct fg_thread_record {
	uint32_t size;
	uint8_t kind;
	uint8_t bytes[FG_RECORD_HEAD + FG_RECORD_ROOM];
};

/* Arguments of pthread_create(): see collector/process/pthreads.c. */
struct fg_thread_birth {
	pthread_t handle;
	bool blocked; /* in the creator's view, our signal is blocked */
	void *(*begin)(void *);
	void *argument;
	uintptr_t c11_begin;
	size_t stack_size;
};

struct fg_thread {
	_Atomic uint32_t taken;
	uint32_t index; /* index in fg_g.threads */
	uint32_t id;    /* number in the trace */
	uint32_t kind;
	uint32_t clock;
	_Atomic uint8_t busy;
	/* Set while the thread counts a call: fg_thread_count_begin(). */
	_Atomic uint8_t counting;
	/* The program has unblocked our signal in this thread, or waits for it. */
	_Atomic bool takes_signal;
	/* The program has sent our signal to this thread, which has not taken it yet. */
	_Atomic bool is_sent_signal;
	bool written;            /* FG_RECORD_THREAD_BEGIN is in the trace */
	char name[FG_NAME_SIZE]; /* name according to the trace */
	uintptr_t stack_low;
	uintptr_t stack_high;
	uint64_t begin_ns;
	struct fg_times begin;
	uint64_t user_ns; /* weights assigned so far */
	uint64_t system_ns;
	uint32_t last_path; /* path of the last sample with a stack */
	struct fg_account account;
	struct fg_thread_clocks clocks;
	struct fg_thread_regions regions;
	struct fg_thread_restart restart;
	struct fg_thread_kept kept;
	struct fg_thread_birth birth;
	struct fg_chunk_writer writer;
	struct fg_thread_record record;
	struct fg_walk_memory *stack;
};

static inline bool fg_thread_is_counting(const struct fg_thread *thread)
{
	return atomic_load_explicit(&thread->counting, memory_order_acquire) != 0;
}

/* Returns false if the thread is already inside the collector. */
static inline bool fg_thread_enter(struct fg_thread *thread)
{
	uint8_t nobody = 0;

	return !fg_thread_is_counting(thread) &&
	       atomic_compare_exchange_strong(&thread->busy, &nobody, 1);
}

static inline void fg_thread_leave(struct fg_thread *thread)
{
	atomic_store(&thread->busy, 0);
}

/* CPU time and context switches of a process. */
struct fg_process_use {
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t switches; /* context switches, voluntary or not */
};

struct fg_options {
	char output[FG_OUTPUT_MAX];
	char control[FG_OUTPUT_MAX];
	uint64_t period_ns;
	/* overhead target in millionths of CPU time, which the period adapts to; 0: fixed period */
	uint64_t budget;
	uint64_t slowdown;    /* FG_ENV_SLOWDOWN, in millionths of the CPU time; 0: none */
	uint32_t clock;       /* enum fg_trace_clock at which the ladder starts */
	bool no_kernel;       /* do not sample the kernel, even if that is allowed */
	uint64_t only_parent; /* FG_ENV_ONLY; 0: any */
	uint64_t delay_ns;
	uint64_t duration_ns;
	uint64_t unit_first;
	uint64_t unit_last;
	bool has_units;
	bool paused;
	bool own_index; /* use our own index of loaded objects, even if the loader has one */
	bool no_python; /* leave the frames of Python functions out */
	uint64_t max_bytes;
	uint32_t counters;            /* bits of enum fg_counter */
	uint64_t dump_signal;         /* signal that requests a dump; 0: none */
	const char *invalid_variable; /* a variable with an invalid value */
};

struct fg_global {
	_Atomic uint32_t *alive;
	bool lazy; /* the file is created with the first sample, as in a child of fork */
	/* the program has entered a sandbox: handlers make no system calls from then on */
	bool sandboxed;
	_Atomic uint8_t opening;
	struct fg_options options;
	char program[FG_OUTPUT_MAX]; /* target of /proc/self/exe */
	char folder[FG_OUTPUT_MAX];  /* folder in which the program was started; empty: unknown */
	char name[FG_NAME_SIZE];     /* default name of threads */
	struct fg_trace_header *_Atomic header;
	uint8_t *file;
	uint64_t capacity;
	uint64_t populated;         /* every page of the file below this is populated */
	_Atomic uint64_t period_ns; /* sampling period; perf clocks adopt it at their next sample */
	struct fg_rate rate;
	uint64_t tick_ns;
	uint64_t start_ns;
	struct fg_process_use begin; /* resources that the process had used when this image began */
	uint32_t clock_user;
	uint32_t clock_system;
	uint32_t perf_errno;
	bool ticks_interrupt; /* an old kernel raises ticks inside system calls */
	/* reason (errno) why the kernel's functions cannot be seen; 0: they can be seen */
	_Atomic uint32_t kernel_errno;
	/* advances by the golden ratio with each thread, to spread first periods evenly */
	_Atomic uint64_t phases;
	_Atomic int64_t owed_ns;         /* system time owed by threads that have ended */
	_Atomic uint64_t system_seen_ns; /* time when a thread was last found in the kernel */
	pid_t pid;
	uintptr_t cookie;
	struct fg_thread *forking;
	_Atomic uint8_t sampling;
	_Atomic uint32_t switches; /* number of times that sampling was turned on or off */
	_Atomic uint32_t next_sequence;
	_Atomic uint32_t next_thread;
	_Atomic uint32_t module_count;
	_Atomic uint32_t epoch; /* counts modules that are gone */
	_Atomic bool any_gone;
	_Atomic uint32_t unloading; /* running calls of dlclose() */
	/* a thread reads the tables of other threads: collector/process/threads.h */
	_Atomic bool visiting;
	const struct fg_control_page *control; /* NULL: not controlled from outside */
	bool control_missing;                  /* the named page could not be mapped */
	/* number of dumps that the page has requested so far */
	_Atomic uint32_t control_dumps;
	struct fg_module *modules;
	struct fg_thread *_Atomic threads[FG_THREADS_MAX];
	_Atomic pid_t tids[FG_THREADS_MAX];        /* thread number per slot; 0: none */
	_Atomic uint32_t thread_high;              /* all used slots are below this */
	_Atomic uint16_t thread_of_fd[FG_FDS_MAX]; /* thread's index + 1 */
	_Atomic uint32_t lowest_fd;
};

/* Everything not marked FG_EXPORT is hidden by the build. */
extern struct fg_global fg_g;
extern _Thread_local struct fg_thread *fg_self __attribute__((tls_model("initial-exec")));

/* Returns the number of the thread that the slot belongs to, or 0. */
static inline pid_t fg_tid(const struct fg_thread *thread)
{
	return atomic_load_explicit(&fg_g.tids[thread->index], memory_order_relaxed);
}

static inline bool fg_alive(void)
{
	return fg_g.alive && atomic_load_explicit(fg_g.alive, memory_order_acquire) != 0;
}

/* ---- options.c ---- */

void fg_collector_options_parse(char *const *environment, struct fg_options *options);

#endif
