// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/opened.h"

#include "base/fs.h"
#include "base/open_filter.h"
#include "profile/attach/following.h"
#include "profile/attach/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

enum {
	EVENT_SHIFT = 16,
};

/* The arguments of a call that opens a file. */
struct call {
	int folder; /* a descriptor of the program's, or AT_FDCWD */
	uint64_t path;
	uint64_t flags;
};

static bool read_memory(pid_t tid, uint64_t address, void *data, size_t size)
{
	struct fg_memory memory;
	bool good = false;

	fg_memory_init(&memory, tid);
	good = fg_memory_read(&memory, address, data, size);
	fg_memory_release(&memory);
	return good;
}

/* Up to its NUL, page by page: what follows it may not be mapped. */
static bool read_path(pid_t tid, uint64_t address, char path[PATH_MAX])
{
	size_t done = 0;

	while (done < PATH_MAX) {
		size_t step = FG_MEMORY_PAGE - (address + done) % FG_MEMORY_PAGE;

		if (step > PATH_MAX - done)
			step = PATH_MAX - done;
		if (!read_memory(tid, address + done, path + done, step))
			return false;
		if (memchr(path + done, '\0', step))
			return true;
		done += step;
	}
	return false;
}

#if defined(__x86_64__)

static bool read_call(pid_t tid, struct call *call)
{
	struct user_regs_struct regs;
	struct open_how how;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) != 0)
		return false;
	*call = (struct call){.folder = AT_FDCWD, .path = regs.rdi, .flags = regs.rsi};
	switch (regs.orig_rax) {
	case SYS_open:
		return true;
	case SYS_creat:
		call->flags = O_CREAT | O_TRUNC | O_WRONLY;
		return true;
	case SYS_openat:
	case SYS_openat2:
		call->folder = (int)regs.rdi;
		call->path = regs.rsi;
		call->flags = regs.rdx;
		break;
	default:
		return false;
	}
	if (regs.orig_rax == SYS_openat2) {
		if (!read_memory(tid, regs.rdx, &how, sizeof(how)))
			return false;
		call->flags = how.flags;
	}
	return true;
}

#else

static bool read_call(pid_t tid, struct call *call)
{
	(void)tid;
	(void)call;
	return false;
}

#endif

static bool find_folder(pid_t tid, int folder, char text[PATH_MAX])
{
	char entry[64];
	ssize_t length = 0;

	if (folder == AT_FDCWD)
		(void)snprintf(entry, sizeof(entry), "/proc/%d/cwd", (int)tid);
	else
		(void)snprintf(entry, sizeof(entry), "/proc/%d/fd/%d", (int)tid, folder);
	length = readlink(entry, text, PATH_MAX - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return *text == '/';
}

/* False: it cannot be told what is opened. */
static bool note_opening(struct fg_opened *opened, pid_t tid)
{
	struct call call;
	char path[PATH_MAX];
	char folder[PATH_MAX];
	uint64_t how = FG_OPENED_READ;
	char *whole = NULL;

	if (!read_call(tid, &call) || !read_path(tid, call.path, path))
		return false;
	if (call.flags & O_PATH || !*path)
		return true;
	if (*path != '/' && !find_folder(tid, call.folder, folder))
		return false;
	if ((call.flags & O_ACCMODE) == O_WRONLY || call.flags & (O_CREAT | O_TRUNC))
		how = FG_OPENED_MADE;
	whole = *path == '/' ? fg_xstrdup(path) : fg_fs_join(folder, path);
	(void)fg_map_add_text(&opened->paths, whole, how, NULL);
	free(whole);
	return true;
}

static bool on_stop(void *context, pid_t tid, int status, int signal)
{
	struct fg_opened *opened = context;
	unsigned long message = 0;

	(void)signal;
	if (status >> EVENT_SHIFT != PTRACE_EVENT_SECCOMP)
		return false;
	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) != 0 || message != FG_OPEN_EVENT ||
	    !note_opening(opened, tid))
		opened->is_incomplete = true;
	return false;
}

int fg_opened_find(const struct fg_process_options *options, struct fg_opened *opened,
		   struct fg_error *err)
{
	struct fg_following following = {.options = *options,
					 .events = PTRACE_O_TRACESECCOMP,
					 .on_stop = on_stop,
					 .context = opened};
	int status = FG_OK;

	*opened = (struct fg_opened){0};
	following.options.shows_opens = true;
	status = fg_following_run(&following, err);
	if (status == FG_OK && opened->paths.count == 0)
		status = fg_error_set(err, FG_EUNSUPPORTED, "it was not seen to open any file");
	opened->exited = following.exited;
	opened->exit_code = following.exit_code;
	if (status != FG_OK)
		fg_opened_release(opened);
	return status;
}

void fg_opened_release(struct fg_opened *opened)
{
	fg_map_release(&opened->paths);
	*opened = (struct fg_opened){0};
}
