// SPDX-License-Identifier: Apache-2.0
/*
 * A candidate that harms its baseline.
 *
 * usage: hostile MS [kill NAME | above NAME | linger FILE | damage NAME]
 *   kill     ends every program of this name
 *   above    ends the nearest process of this name that it descends from
 *   linger   leaves a process behind in its own group and session, and writes its id to FILE
 *   damage   overwrites with zeros the traces that a program of this name is writing
 * and works for MS milliseconds of CPU time.
 */
#include "work.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the next process of this name, or 0. */
static pid_t next_named(DIR *processes, const char *name)
{
	const struct dirent *entry = NULL;

	while ((entry = readdir(processes)) != NULL) {
		char path[300];
		char found[32] = "";
		FILE *file = NULL;

		(void)snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		check(fscanf(file, "%31s", found) >= 0 || *found == '\0', "no name");
		(void)fclose(file);
		if (strcmp(found, name) == 0)
			return (pid_t)strtol(entry->d_name, NULL, 10);
	}
	return 0;
}

static void damage(pid_t pid)
{
	static const char nothing[4096];
	char folder[64];
	const struct dirent *entry = NULL;
	DIR *files = NULL;

	(void)snprintf(folder, sizeof(folder), "/proc/%d/map_files", (int)pid);
	files = opendir(folder);
	while (files && (entry = readdir(files)) != NULL) {
		char path[400];
		char target[400] = "";

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, ".fgtrace")) {
			const int fd = open(target, O_WRONLY | O_CLOEXEC);

			if (fd >= 0 && write(fd, nothing, sizeof(nothing)) > 0)
				(void)close(fd);
		}
	}
	if (files)
		(void)closedir(files);
}

static void act_on(const char *name, void (*act)(pid_t pid))
{
	DIR *processes = opendir("/proc");

	check(processes != NULL, "no processes");
	for (pid_t pid = next_named(processes, name); pid > 0; pid = next_named(processes, name))
		act(pid);
	(void)closedir(processes);
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
}

/* Returns the parent of a process, or 0 if the process is gone; `name` gets the process's name. */
static pid_t parent_of(pid_t pid, char name[32])
{
	char path[64];
	int parent = 0;
	FILE *file = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent) != 2)
		parent = 0;
	(void)fclose(file);
	return parent;
}

static void end_above(const char *wanted)
{
	char name[32] = "";
	pid_t pid = getppid();

	while (pid > 1) {
		const pid_t parent = parent_of(pid, name);

		if (strcmp(name, wanted) == 0) {
			end(pid);
			return;
		}
		pid = parent;
	}
}

static void linger(const char *path)
{
	pid_t pid = fork();

	if (pid != 0) {
		check(waitpid(pid, NULL, 0) == pid, "no child");
		return;
	}
	(void)setsid();
	pid = fork();
	if (pid > 0) {
		FILE *file = fopen(path, "w");

		check(file && fprintf(file, "%d\n", (int)pid) > 0 && fclose(file) == 0, path);
		_exit(0);
	}
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	for (;;)
		(void)pause();
}

int main(int argc, char **argv)
{
	const uint64_t ms = argument(argc, argv, 1, 10);

	if (argc > 3 && strcmp(argv[2], "kill") == 0)
		act_on(argv[3], end);
	if (argc > 3 && strcmp(argv[2], "above") == 0)
		end_above(argv[3]);
	if (argc > 3 && strcmp(argv[2], "damage") == 0)
		act_on(argv[3], damage);
	if (argc > 3 && strcmp(argv[2], "linger") == 0)
		linger(argv[3]);
	spin_us(ms * 1000);
	return 0;
}
