// SPDX-License-Identifier: Apache-2.0
/*
 * Every 100 ms a handler compares the kernel's number of threads with the number of slots in use.
 * If they differ, there is an unknown thread, or one that took its leave has not quite exited: then
 * the list of threads is read.
 *
 * The comparison holds only while no thread has died unnoticed. Threads of pthread_create() take
 * their leave; others, and those that exit by a raw system call, do not, so a few slots are checked
 * at every look. A kernel that always reported the same number could agree with us only while there
 * are few threads: then the list is short, and is read now and then regardless.
 *
 * No handler does more than one step: look, read a piece of the list, or take in one unknown
 * thread. Reading the whole list takes a microsecond or more per thread.
 */
#include "collector/process/proc_stat.h"
#include "collector/process/threads.h"
#include "collector/sampler/writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	EVERY_NS = 100000000,
	ASK_AFTER = 8,    /* slots at a look */
	LIST_ANYWAY = 64, /* looks */
	LIST_BYTES = 512, /* of the list in a step; 24 to 32 for a thread */
	ENTRY_MIN = 24,
	LISTED_MAX = LIST_BYTES / ENTRY_MIN,
	LINKS_OF_FOLDER = 2, /* of an empty one; each thread is one more */
};

static const char task_folder[] = "/proc/self/task";

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

struct listed {
	pid_t tids[LISTED_MAX];
	int64_t behind[LISTED_MAX]; /* where the list goes on */
	unsigned count;
};

/* ---- a look ---- */

/*
 * If the id was released and reused in between, it now belongs to another slot, or to this one with
 * its new owner's mark.
 */
static void retire(uint32_t slot, pid_t tid)
{
	struct fg_thread *thread = atomic_load(&fg_g.threads[slot]);

	if (!atomic_compare_exchange_strong(&fg_g.tids[slot], &tid, -tid))
		return;
	fg_thread_stop(thread);
	thread->written = false;
	thread->kind = 0;
	fg_thread_free(thread);
}

/* Has the thread of one of the next slots died? One burial per handler is enough. */
static void ask_after_some(const struct fg_thread *thread, struct fg_search *search)
{
	const uint32_t high = atomic_load(&fg_g.thread_high);
	unsigned asked = 0;

	for (uint32_t i = 0; i < high && asked < ASK_AFTER; i++) {
		const uint32_t slot = search->slot < high ? search->slot : 0;
		const pid_t tid = atomic_load(&fg_g.tids[slot]);

		search->slot = slot + 1;
		if (tid <= 0 || slot == thread->index)
			continue;
		asked++;
		if (syscall(SYS_tgkill, fg_g.pid, tid, 0) != 0 && errno == ESRCH) {
			retire(slot, tid);
			return;
		}
	}
}

/*
 * How many threads the kernel should count. A main thread that has ended stays in its list until
 * the others end.
 */
static uint32_t threads_known(void)
{
	const uint32_t high = atomic_load(&fg_g.thread_high);
	uint32_t count = 0;
	bool has_main = false;

	for (uint32_t i = 0; i < high; i++) {
		const pid_t tid = atomic_load_explicit(&fg_g.tids[i], memory_order_relaxed);

		count += tid > 0;
		has_main |= tid == fg_g.pid;
	}
	return count + !has_main;
}

static bool kernel_counts(uint32_t known)
{
	struct statx folder;

	memset(&folder, 0, sizeof(folder));
	return syscall(SYS_statx, AT_FDCWD, task_folder, 0, STATX_NLINK, &folder) == 0 &&
	       folder.stx_nlink == LINKS_OF_FOLDER + known;
}

static void look(const struct fg_thread *thread, struct fg_search *search)
{
	ask_after_some(thread, search);
	const uint32_t known = threads_known();
	const bool anyway = ++search->looks % LIST_ANYWAY == 0 && known <= LISTED_MAX;

	if (!anyway && kernel_counts(known))
		return;
	search->position = 0;
	search->stranger = 0;
	atomic_store(&search->listing, true);
}

/* ---- the list ---- */

static pid_t tid_of(const char *name)
{
	pid_t tid = 0;

	for (const char *at = name; *at >= '0' && *at <= '9'; at++)
		tid = tid * 10 + (*at - '0');
	return tid;
}

/* The next piece; returns false at the end. `room` is the kernel's output buffer. */
static bool read_list(struct fg_search *search, char *room, struct listed *listed)
{
	const int fd =
		(int)syscall(SYS_openat, AT_FDCWD, task_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long size = 0;

	listed->count = 0;
	if (fd < 0)
		return false;
	if (search->position == 0 || lseek(fd, (off_t)search->position, SEEK_SET) >= 0)
		size = syscall(SYS_getdents64, fd, room, LIST_BYTES);
	(void)syscall(SYS_close, fd);
	for (long at = 0; at < size && listed->count < LISTED_MAX;) {
		const struct linux_dirent64 *entry =
			(const struct linux_dirent64 *)(const void *)(room + at);

		listed->tids[listed->count] = tid_of(entry->d_name);
		listed->behind[listed->count++] = entry->d_off;
		at += entry->d_reclen;
	}
	return size > 0;
}

/*
 * Includes threads that have left their slot but not yet the process. A new thread that has not
 * announced its id might be any of them.
 */
static void strike_known(struct listed *listed)
{
	const uint32_t high = atomic_load(&fg_g.thread_high);

	for (uint32_t i = 0; i < high; i++) {
		pid_t tid = atomic_load_explicit(&fg_g.tids[i], memory_order_relaxed);

		if (tid == FG_TID_PENDING) {
			memset(listed->tids, 0, sizeof(listed->tids));
			return;
		}
		tid = tid < 0 ? -tid : tid;
		for (unsigned k = 0; k < listed->count; k++)
			if (listed->tids[k] == tid)
				listed->tids[k] = 0;
	}
}

static void list_some(struct fg_thread *thread, struct fg_search *search)
{
	struct listed listed;

	if (!read_list(search, (char *)thread->record.bytes, &listed)) {
		atomic_store(&search->listing, false);
		return;
	}
	strike_known(&listed);
	for (unsigned i = 0; i < listed.count; i++) {
		search->position = (uint64_t)listed.behind[i];
		if (listed.tids[i] > 0 && listed.tids[i] != fg_g.pid) {
			search->stranger = listed.tids[i];
			return;
		}
	}
}

/* ---- strangers ---- */

/*
 * A thread that has taken its leave stays in the list until the kernel is done with it, even after
 * it was joined.
 */
static bool is_leaving(pid_t tid)
{
	enum {
		EXITING = 0x4 /* PF_EXITING */
	};
	char path[sizeof(task_folder) + 32];
	char *at = path + sizeof(task_folder);

	memcpy(path, task_folder, sizeof(task_folder));
	at[-1] = '/';
	at += fg_number_text((uint64_t)tid, at);
	memcpy(at, "/stat", sizeof("/stat"));
	return fg_stat_field(path, FG_STAT_FLAGS) & EXITING;
}

static void take_in(struct fg_search *search)
{
	const pid_t tid = search->stranger;
	struct listed still = {.tids = {tid}, .count = 1};

	search->stranger = 0;
	strike_known(&still);
	if (still.tids[0] == 0 || is_leaving(tid))
		return;
	struct fg_thread *thread = fg_thread_new();

	if (!thread) {
		atomic_store(&search->listing, false); /* nor is there room for others */
		return;
	}
	fg_lose(FG_LOSS_LATE_THREAD, 1);
	fg_thread_attach(thread, FG_THREAD_RAW, tid);
}

void fg_threads_discover(struct fg_thread *thread)
{
	struct fg_search *search = &fg_g.search;
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const uint64_t last_ns = atomic_load_explicit(&search->last_ns, memory_order_relaxed);
	const bool due = (int64_t)(now_ns - last_ns) >= EVERY_NS;
	uint8_t nobody = 0;

	if ((!due && !atomic_load_explicit(&search->listing, memory_order_relaxed)) ||
	    fg_g.sandboxed || fg_g.pid == 0 || atomic_load(&thread->busy) ||
	    fg_thread_is_counting(thread) ||
	    !atomic_compare_exchange_strong(&search->busy, &nobody, 1))
		return;
	if (search->stranger) {
		take_in(search);
	} else if (atomic_load(&search->listing)) {
		list_some(thread, search);
	} else {
		atomic_store_explicit(&search->last_ns, now_ns, memory_order_relaxed);
		look(thread, search);
	}
	atomic_store(&search->busy, 0);
}
