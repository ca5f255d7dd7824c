/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python interpreter of another process, and the frames of Python functions of its threads.
 * Which versions, and how their structures are read: cpython/.
 */
#ifndef FG_OUTSIDE_INTERPRETER_H
#define FG_OUTSIDE_INTERPRETER_H

#include "collector/python/cpython_read.h"
#include "profile/attach/mappings.h"
#include "profile/attach/memory.h"

struct fg_interpreter {
	enum fg_interpreter_state {
		FG_INTERPRETER_NONE, /* none was found yet */
		FG_INTERPRETER_READ, /* its frames can be read */
		FG_INTERPRETER_REFUSED,
	} state;
	uint64_t module; /* where its mapping starts */
	uint64_t version;
	uint64_t runtime; /* _PyRuntime */
	struct fg_python_types types;
	const struct fg_python_layout *layout;
	struct fg_python_lists lists;
	bool is_file_searched; /* the program's own symbols */
};

/* Looks for one, as long as there was none: libraries may have been loaded since. */
void fg_interpreter_find(struct fg_interpreter *interpreter, struct fg_memory *memory,
			 const struct fg_mappings *mappings);
/* For people, why it is refused; to be freed. */
char *fg_interpreter_refusal(const struct fg_interpreter *interpreter);
struct fg_python_reader fg_interpreter_reader(const struct fg_interpreter *interpreter,
					      struct fg_memory *memory);

/* What the interpreter knows a thread by. */
struct fg_python_thread {
	uint64_t pthread;    /* its thread pointer, as pthread_self(); 0: not known */
	uint64_t tid;        /* as its own namespace numbers it; 0: not known */
	uint64_t state;      /* its PyThreadState, when it was looked up last; 0: none */
	int64_t searched_ns; /* in vain */
};

/* The number that a thread has for itself; 0: it has ended. */
uint64_t fg_python_thread_number(pid_t pid, pid_t tid);
/*
 * The frames of a thread that stands still, as addresses.  False: it runs Python, but its frames
 * make no sense at this moment.  A thread that runs none has none.
 */
bool fg_interpreter_look(const struct fg_interpreter *interpreter, struct fg_memory *memory,
			 struct fg_python_thread *thread, struct fg_python_stack *stack);
/* Tells this stack from others of the same thread. */
uint64_t fg_python_stack_hash(struct fg_python_stack *stack);

#endif
