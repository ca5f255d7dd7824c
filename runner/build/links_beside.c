// SPDX-License-Identifier: Apache-2.0
#include "runner/build/links_beside.h"

#include "base/log.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

enum {
	TICK_MS = 100 /* until an interruption is noticed */
};

struct fg_links_beside {
	const struct fg_layouts_options *options; /* one per arm */
	struct fg_process process;
	/* pipe: one byte per doubling, the number of layouts there are */
	int doublings[2];
	volatile sig_atomic_t over; /* set when the process is to end */
};

/* ---- in the process of its own ---- */

/* Makes layouts of both arms; `count` becomes the number that each has. */
static int make(const struct fg_layouts_options *options, unsigned *count, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		struct fg_layouts_options wanted = options[arm];
		struct fg_target_layouts layouts = {0};

		wanted.most = *count;
		status = fg_layouts_make(&wanted, &layouts, err);
		*count = layouts.count;
		fg_target_layouts_cut(&layouts, 0);
	}
	return status;
}

static int work(void *context)
{
	const struct fg_links_beside *beside = context;
	struct fg_error err = {0};

	(void)close(beside->doublings[0]);
	for (unsigned most = 2 * FG_LINE_PLACES; most <= FG_LAYOUTS_MAX; most *= 2) {
		unsigned count = most;
		uint8_t told = (uint8_t)most;

		if (make(beside->options, &count, &err) != FG_OK) {
			fg_log(FG_LOG_RUNNER, 1, "no more places: %s", err.message);
			return 1;
		}
		if (count < most || write(beside->doublings[1], &told, sizeof(told)) < 0)
			break;
	}
	return 0;
}

/* ---- in ours ---- */

int fg_links_beside_start(const struct fg_layouts_options options[FG_ARM_COUNT],
			  struct fg_links_beside **beside, struct fg_error *err)
{
	struct fg_links_beside *made = fg_xcalloc(1, sizeof(*made));
	int status;

	made->options = options;
	if (pipe2(made->doublings, O_CLOEXEC) != 0) {
		status = fg_error_errno(err, FG_EIO, "cannot make a pipe");
		free(made);
		return status;
	}
	status = fg_process_fork(work, made, &made->over, &made->process, err);
	(void)close(made->doublings[1]);
	if (status == FG_OK) {
		*beside = made;
		return FG_OK;
	}
	(void)close(made->doublings[0]);
	free(made);
	return status;
}

/* A process passes its CPU affinity on to its children. */
void fg_links_beside_run_on(const struct fg_links_beside *beside, const int *cpus, size_t count)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t i = 0; i < count; i++)
		CPU_SET((size_t)cpus[i], &set);
	if (count > 0)
		(void)sched_setaffinity(beside->process.pid, sizeof(set), &set);
}

unsigned fg_links_beside_wait(struct fg_links_beside *beside)
{
	const volatile sig_atomic_t *interrupted = beside->options[0].interrupted;
	struct pollfd news = {.fd = beside->doublings[0], .events = POLLIN};
	uint8_t count = 0;

	while (poll(&news, 1, TICK_MS) <= 0) {
		if (interrupted && *interrupted)
			return 0;
	}
	return read(beside->doublings[0], &count, sizeof(count)) == (ssize_t)sizeof(count) ? count
											   : 0;
}

void fg_links_beside_end(struct fg_links_beside *beside)
{
	struct fg_process_result result = {0};

	if (!beside)
		return;
	beside->over = true;
	if (fg_process_wait(&beside->process, 1, &result, NULL) != FG_OK)
		fg_log(FG_LOG_RUNNER, 2, "links were still under way");
	fg_process_result_release(&result);
	fg_process_release(&beside->process);
	(void)close(beside->doublings[0]);
	free(beside);
}
