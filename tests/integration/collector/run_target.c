// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/collector/run_target.h"

#include "base/base.h"
#include "collector/sampler/collector_env.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome outcome;

const char *target_path(const char *name)
{
	static char ring[4][4096];
	static unsigned next;
	char *path = ring[next++ % 4];

	if (!name)
		fail_msg("no program is named");
	if (name && name[0] == '/')
		return name;
	(void)snprintf(path, sizeof(ring[0]), "%s/%s%s", TARGETS_FOLDER, name, TARGETS_SUFFIX);
	return path;
}

bool is_emulated(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL) == -1 && errno == ENOSYS;
}

static void forbid_perf(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {FG_ARRAY_SIZE(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(97);
}

void enter_test_root(void)
{
	const char *root = getenv("FASTGATE_TEST_ROOT");

	if (root && (chroot(root) != 0 || chdir("/") != 0))
		_exit(96);
}

static void become(const struct run *run, const char *folder, int out)
{
	char *words[RUN_WORDS + 1] = {NULL};
	char output[4200];
	char preload[4200];

	for (unsigned i = 0; i < RUN_WORDS && run->words[i]; i++)
		words[i] = fg_xstrdup(run->words[i]);
	/* All other tests use the loader's index. */
	(void)putenv(fg_xstrdup(FG_ENV_INDEX "=own"));
	for (unsigned i = 0; i < RUN_WORDS && run->settings[i]; i++)
		(void)putenv(fg_xstrdup(run->settings[i]));
	(void)snprintf(output, sizeof(output), FG_ENV_OUTPUT "=%s", folder);
	(void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", COLLECTOR_LIBRARY);
	if (!run->without_collector) {
		(void)putenv(output);
		(void)putenv(preload);
	}
	(void)dup2(out, STDOUT_FILENO);
	(void)close_range(3, ~0u, 0);
	enter_test_root();
	if (run->forbid_perf)
		forbid_perf();
	(void)execv(target_path(run->words[0]), words);
	_exit(98);
}

static char *read_all(int fd)
{
	char *text = NULL;
	size_t room = 0;
	size_t used = 0;
	ssize_t size;

	do {
		text = fg_grow(text, &room, used + 4096, 1);
		size = read(fd, text + used, room - used - 1);
		used += size > 0 ? (size_t)size : 0;
	} while (size > 0);
	text[used] = '\0';
	return text;
}

int outcome_release(void **state)
{
	(void)state;
	trace_free(outcome.traces);
	free(outcome.output);
	if (outcome.scratch.path[0])
		fg_scratch_release(&outcome.scratch);
	outcome = (struct outcome){0};
	return 0;
}

void run_target(const struct run *run)
{
	int pipes[2];
	int status = 0;

	(void)outcome_release(NULL);
	fg_scratch_init(&outcome.scratch);
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(pipes[0]);
		become(run, outcome.scratch.path, pipes[1]);
	}
	(void)close(pipes[1]);
	outcome.output = read_all(pipes[0]);
	(void)close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != run->exit_code)
		fail_msg("%s: wait status %#x, said: %s", run->words[0], (unsigned)status,
			 outcome.output);
	outcome.traces = run->without_collector ? NULL : trace_load(outcome.scratch.path);
}

double outcome_truth(const char *name)
{
	const size_t size = strlen(name);

	for (const char *line = outcome.output; line && *line;
	     line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, name, size) == 0 && line[size] == ' ')
			return strtod(line + size, NULL);
	fail_msg("%s is not in: %s", name, outcome.output);
	return 0;
}
