/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between whereabouts.c and look_names.c: stopped processes and threads as addresses, which get
 * their names when all of them run again.
 */
#ifndef FG_OUTSIDE_LOOK_H
#define FG_OUTSIDE_LOOK_H

#include "profile/attach/mappings.h"
#include "profile/attach/stacks.h"
#include "profile/attach/threads.h"
#include "profile/attach/whereabouts.h"

enum {
	FG_LOOK_PROCESSES_MAX = 32,
	FG_LOOK_THREADS_MAX = 256, /* of a process */
};

struct fg_look_thread {
	pid_t tid;
	struct fg_thread_state state;
	bool seized;
	bool stopped;
	struct fg_thread_stop stop;
	struct fg_walked_stack stack;
	const char *call; /* the system call that it waits in; NULL: it runs */
	char *path;       /* "main → read_all"; filled when names are known */
};

struct fg_look_process {
	pid_t pid;
	char *command;
	struct fg_mappings mappings;
	struct fg_look_thread *threads;
	size_t thread_count;
	size_t unseen_threads; /* beyond FG_LOOK_THREADS_MAX */
};

struct fg_look {
	struct fg_symbolizer *symbolizer;
	struct fg_look_process processes[FG_LOOK_PROCESSES_MAX];
	size_t process_count;
	size_t unseen_processes;
	struct fg_error why; /* the first refusal */
};

/* Looks names up and writes both texts. */
void fg_look_describe(struct fg_look *look, struct fg_whereabouts *where);

#endif
