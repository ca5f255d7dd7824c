// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/waiting.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ARGUMENTS = 6,
	NAMED_PEERS = 3,
	NAMED_FDS = 3,
	POLL_FDS_MAX = 64,
	OWNER_OFFSET = 8, /* of glibc's and musl's mutexes: __owner, behind __lock and __count */
	LOCK_CONTENDED = 2,
	PATH_MAX_BYTES = 256,
	FD_NAME_BYTES = 128,
};

struct call {
	const struct fg_waiter *waiter;
	uint64_t arguments[ARGUMENTS];
	struct fg_waiting *waiting;
};

/* ---- files ---- */

static void fd_path(pid_t pid, int fd, char path[64])
{
	(void)snprintf(path, 64, "/proc/%d/fd/%d", (int)pid, fd);
}

/* "pipe:[123]", "socket:[4]", "/dev/tty" */
static void add_fd(struct fg_strbuf *text, pid_t pid, int fd)
{
	char path[64];
	char name[FD_NAME_BYTES + 1];
	ssize_t length = 0;

	fd_path(pid, fd, path);
	length = readlink(path, name, FD_NAME_BYTES);
	if (length > 0)
		fg_text_add_clean(text, name, (size_t)length, FD_NAME_BYTES);
	else
		fg_strbuf_printf(text, "file descriptor %d", fd);
}

/* How a process has opened a descriptor: O_RDONLY, O_WRONLY or O_RDWR; negative: not known. */
static int access_mode(pid_t pid, const char *fd)
{
	char path[64];
	char text[256];
	const char *line = NULL;
	ssize_t got = 0;
	int file = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.12s", (int)pid, fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	got = read(file, text, sizeof(text) - 1);
	(void)close(file);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, "flags:");
	return line ? (int)(strtol(line + strlen("flags:"), NULL, 8) & O_ACCMODE) : -1;
}

struct pipe_end {
	dev_t device;
	ino_t inode;
	bool writing; /* this end is looked for */
};

static bool holds_end(pid_t pid, const struct pipe_end *end)
{
	char folder[32];
	const struct dirent *entry = NULL;
	DIR *entries = NULL;
	bool found = false;

	(void)snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	entries = opendir(folder);
	while (entries && !found && (entry = readdir(entries)) != NULL) {
		struct stat info;
		int mode = -1;

		if (entry->d_name[0] == '.' || fstatat(dirfd(entries), entry->d_name, &info, 0) ||
		    info.st_ino != end->inode || info.st_dev != end->device)
			continue;
		mode = access_mode(pid, entry->d_name);
		found = mode == O_RDWR || mode == (end->writing ? O_WRONLY : O_RDONLY);
	}
	if (entries)
		(void)closedir(entries);
	return found;
}

static void add_process(struct fg_strbuf *text, pid_t pid)
{
	struct fg_thread_state state;

	fg_thread_read_state(pid, pid, &state);
	fg_text_add_clean(text, state.name, strlen(state.name), sizeof(state.name));
	fg_strbuf_printf(text, " (%d)%s", (int)pid,
			 state.state == 'Z'   ? ", which has ended"
			 : state.state == 'T' ? ", which is stopped"
					      : "");
}

/* Who has the other end of the pipe; processes of other users are not seen. */
static void add_peers(struct fg_strbuf *text, pid_t self, const struct pipe_end *end)
{
	const char *does = end->writing ? "write" : "read";
	DIR *entries = opendir("/proc");
	const struct dirent *entry = NULL;
	unsigned peers = 0;
	bool own = false;

	while (entries && (entry = readdir(entries)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || !holds_end(pid, end))
			continue;
		if (pid == self) {
			own = true;
			continue;
		}
		if (peers++ < NAMED_PEERS) {
			fg_strbuf_add_text(text, peers == 1 ? ", which could be " : ", ");
			if (peers == 1)
				fg_strbuf_printf(text, "%s by ", end->writing ? "written" : "read");
			add_process(text, pid);
		}
	}
	if (entries)
		(void)closedir(entries);
	if (peers > NAMED_PEERS)
		fg_strbuf_printf(text, " and %u more", peers - NAMED_PEERS);
	if (!peers)
		fg_strbuf_printf(text, own ? ", nobody else %ss" : ", nobody %ss", does);
}

static void add_file(const struct call *call, int fd, bool reads)
{
	const pid_t pid = call->waiter->pid;
	struct fg_strbuf *text = &call->waiting->what;
	struct stat info;
	char path[64];

	add_fd(text, pid, fd);
	fd_path(pid, fd, path);
	if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode))
		add_peers(text, pid,
			  &(struct pipe_end){
				  .device = info.st_dev, .inode = info.st_ino, .writing = reads});
}

static void reads_file(const struct call *call)
{
	add_file(call, (int)call->arguments[0], true);
}

static void writes_file(const struct call *call)
{
	add_file(call, (int)call->arguments[0], false);
}

static void uses_file(const struct call *call)
{
	add_fd(&call->waiting->what, call->waiter->pid, (int)call->arguments[0]);
}

static void opens_file(const struct call *call)
{
	char path[PATH_MAX_BYTES];
	size_t length = 0;

	while (length < sizeof(path) - 1 &&
	       fg_memory_read(call->waiter->memory, call->arguments[1] + length, &path[length],
			      1) &&
	       path[length])
		length++;
	fg_text_add_clean(&call->waiting->what, path, length, sizeof(path));
}

static void polls_files(const struct call *call)
{
	const uint64_t count = call->arguments[1];
	struct fg_strbuf *text = &call->waiting->what;
	struct pollfd fds[POLL_FDS_MAX];

	if (count == 0 || count > POLL_FDS_MAX ||
	    !fg_memory_read(call->waiter->memory, call->arguments[0], fds, count * sizeof(fds[0])))
		return;
	for (size_t i = 0; i < count && i < NAMED_FDS; i++) {
		if (text->length)
			fg_strbuf_add_text(text, ", ");
		add_fd(text, call->waiter->pid, fds[i].fd);
	}
	if (count > NAMED_FDS)
		fg_strbuf_printf(text, " and %u more", (unsigned)(count - NAMED_FDS));
}

/* ---- threads and children ---- */

static void held_by(const struct call *call, const char *what, pid_t holder)
{
	if (!fg_pids_contain(call->waiter->threads, holder)) {
		fg_strbuf_add_text(&call->waiting->what, what);
		return;
	}
	call->waiting->holder = holder;
	fg_strbuf_printf(&call->waiting->what, "%s that thread %d holds", what, (int)holder);
}

/*
 * A futex is a word; what it stands for shows in the value that the thread expects there: the
 * number of the thread that it joins, or "locked and contended", whose owner both C libraries keep
 * beside the word.
 */
static void waits_at_futex(const struct call *call)
{
	const uint64_t address = call->arguments[0];
	const int operation = (int)call->arguments[1] & FUTEX_CMD_MASK;
	const uint32_t expected = (uint32_t)call->arguments[2];
	struct fg_memory *memory = call->waiter->memory;
	uint32_t word = 0;
	int32_t owner = 0;

	if (!fg_memory_read(memory, address, &word, sizeof(word)))
		return;
	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) {
		held_by(call, "a lock", (pid_t)(word & FUTEX_TID_MASK));
		return;
	}
	if (word == expected && fg_pids_contain(call->waiter->threads, (pid_t)expected)) {
		call->waiting->holder = (pid_t)expected;
		fg_strbuf_printf(&call->waiting->what, "until thread %d ends", (int)expected);
		return;
	}
	if (expected == LOCK_CONTENDED && word == LOCK_CONTENDED &&
	    fg_memory_read(memory, address + OWNER_OFFSET, &owner, sizeof(owner)))
		held_by(call, "a lock", owner);
}

static void waits_for_child(const struct call *call)
{
	const int id = (int)call->arguments[0];
	struct fg_strbuf *text = &call->waiting->what;
	struct fg_pids children = {0};

	fg_children_of(call->waiter->pid, &children);
	if (fg_pids_contain(&children, id)) {
		fg_strbuf_add_text(text, "child ");
		add_process(text, id);
	} else {
		for (size_t i = 0; i < children.count && i < NAMED_PEERS; i++) {
			fg_strbuf_add_text(text, i ? ", " : "child ");
			add_process(text, children.items[i]);
		}
		if (children.count > NAMED_PEERS)
			fg_strbuf_printf(text, " and %zu more", children.count - NAMED_PEERS);
	}
	fg_pids_release(&children);
}

/* waitid(which, id, ...) */
static void waits_for_id(const struct call *call)
{
	struct call shifted = *call;

	shifted.arguments[0] = call->arguments[1];
	waits_for_child(&shifted);
}

/* ---- system calls that can wait ---- */

static const struct {
	long number;
	const char *name;
	void (*describe)(const struct call *call);
} calls[] = {
	{.number = SYS_read, .name = "read", .describe = reads_file},
	{.number = SYS_readv, .name = "readv", .describe = reads_file},
	{.number = SYS_pread64, .name = "pread", .describe = reads_file},
	{.number = SYS_write, .name = "write", .describe = writes_file},
	{.number = SYS_writev, .name = "writev", .describe = writes_file},
	{.number = SYS_openat, .name = "open", .describe = opens_file},
	{.number = SYS_recvfrom, .name = "recv", .describe = uses_file},
	{.number = SYS_recvmsg, .name = "recvmsg", .describe = uses_file},
	{.number = SYS_sendto, .name = "send", .describe = uses_file},
	{.number = SYS_sendmsg, .name = "sendmsg", .describe = uses_file},
	{.number = SYS_connect, .name = "connect", .describe = uses_file},
	{.number = SYS_accept, .name = "accept", .describe = uses_file},
	{.number = SYS_accept4, .name = "accept", .describe = uses_file},
	{.number = SYS_flock, .name = "flock", .describe = uses_file},
	{.number = SYS_fcntl, .name = "fcntl", .describe = uses_file},
	{.number = SYS_poll, .name = "poll", .describe = polls_files},
	{.number = SYS_ppoll, .name = "poll", .describe = polls_files},
	{.number = SYS_select, .name = "select", .describe = NULL},
	{.number = SYS_pselect6, .name = "select", .describe = NULL},
	{.number = SYS_epoll_wait, .name = "epoll_wait", .describe = NULL},
	{.number = SYS_epoll_pwait, .name = "epoll_wait", .describe = NULL},
	{.number = SYS_futex, .name = "futex", .describe = waits_at_futex},
	{.number = SYS_wait4, .name = "wait", .describe = waits_for_child},
	{.number = SYS_waitid, .name = "wait", .describe = waits_for_id},
	{.number = SYS_nanosleep, .name = "sleep", .describe = NULL},
	{.number = SYS_clock_nanosleep, .name = "sleep", .describe = NULL},
	{.number = SYS_pause, .name = "pause", .describe = NULL},
	{.number = SYS_rt_sigsuspend, .name = "sigsuspend", .describe = NULL},
	{.number = SYS_rt_sigtimedwait, .name = "sigwait", .describe = NULL},
	{.number = SYS_msgrcv, .name = "msgrcv", .describe = NULL},
	{.number = SYS_semop, .name = "semop", .describe = NULL},
	{.number = SYS_semtimedop, .name = "semop", .describe = NULL},
};

/* A system call that our stop interrupted still says so in the register of its result. */
bool fg_waiting_is(const struct user_regs_struct *registers)
{
	enum {
		ERESTARTSYS = 512,
		ERESTARTNOINTR = 513,
		ERESTARTNOHAND = 514,
		ERESTART_RESTARTBLOCK = 516
	};
	const long result = (long)registers->rax;

	return (long)registers->orig_rax >= 0 &&
	       (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
		result == -ERESTART_RESTARTBLOCK || result == -EINTR);
}

void fg_waiting_find(const struct fg_waiter *waiter, struct fg_waiting *waiting)
{
	const struct user_regs_struct *r = waiter->registers;
	const struct call call = {
		.waiter = waiter,
		.arguments = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9},
		.waiting = waiting,
	};

	*waiting = (struct fg_waiting){0};
	if (!fg_waiting_is(r))
		return;
	waiting->call = "a system call";
	for (size_t i = 0; i < FG_ARRAY_SIZE(calls); i++) {
		if (calls[i].number != (long)r->orig_rax)
			continue;
		waiting->call = calls[i].name;
		if (calls[i].describe)
			calls[i].describe(&call);
		return;
	}
}
