/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads CPython's frames, code objects and strings through a reader of the memory that contains
 * them: our own, or another process's.  Everything is checked before it is used, because a
 * thread may be creating or releasing a frame, and another process's memory may hold anything.
 *
 * Signal-safe if the reader is: nothing is allocated here.
 */
#ifndef FG_COLLECTOR_CPYTHON_READ_H
#define FG_COLLECTOR_CPYTHON_READ_H

#include "collector/python/cpython_layout.h"
#include "trace/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses of the types of objects. */
struct fg_python_types {
	uint64_t code, str, bytes;
};

struct fg_python_reader {
	/* Copies `size` bytes. False: some of the bytes cannot be read. */
	bool (*read)(void *memory, uint64_t address, void *to, size_t size);
	void *memory;
	const struct fg_python_layout *layout;
	struct fg_python_types types;
};

/*
 * Does the interpreter at this _PyRuntime match its claimed version? `words` gets the interpreter's
 * table of offsets, if its version has one.
 */
bool fg_python_is_as_expected(const struct fg_python_reader *reader, uint64_t runtime,
			      uint64_t words[FG_PYTHON_OFFSET_WORDS]);

/* ---- the frames of a thread ---- */

enum {
	/* A chain of more than FG_PYTHON_FRAMES frames keeps this number of outermost frames. */
	FG_PYTHON_EDGE = FG_TRACE_FRAMES_EDGE,
	FG_PYTHON_FRAMES = FG_TRACE_FRAMES_MAX,
	FG_PYTHON_INNER = FG_PYTHON_FRAMES - FG_PYTHON_EDGE,
	FG_PYTHON_CHAIN_MAX = 1 << 14, /* deeper chains are left out altogether */
};

struct fg_python_frame {
	uint64_t code;
	/*
	 * address of the current instruction or, in some versions, of the last executed instruction
	 */
	uint64_t instruction;
	uint64_t stack; /* an address in the native frame that evaluates this frame */
	uint32_t id;    /* number that the caller assigns */
};

struct fg_python_stack {
	uint32_t total; /* number of frames; fg_python_at() finds the kept frames */
	uint32_t left;  /* innermost frames that are not in a path yet */
	struct fg_python_frame frames[FG_PYTHON_FRAMES];
};

/*
 * Returns a frame; `index` counts from the innermost frame. The outermost frames of a deep stack
 * are in a ring.
 */
static inline struct fg_python_frame *fg_python_at(struct fg_python_stack *stack, uint32_t index)
{
	if (index >= FG_PYTHON_INNER)
		index = FG_PYTHON_INNER + (index - FG_PYTHON_INNER) % FG_PYTHON_EDGE;
	return &stack->frames[index];
}

/* Is this one of the dropped middle frames? */
static inline bool fg_python_is_cut(const struct fg_python_stack *stack, uint32_t index)
{
	return index >= FG_PYTHON_INNER && stack->total > FG_PYTHON_FRAMES &&
	       index < stack->total - FG_PYTHON_EDGE;
}

/*
 * Takes the outermost frame that is not in a path yet, if a native frame whose stack begins at
 * `sp`, or further out, evaluates it. If `frame` becomes NULL, `left_out` frames are left out here.
 * False: no such frame. Set `left` to the number of frames before the first call.
 */
bool fg_python_next(struct fg_python_stack *stack, uint64_t sp, struct fg_python_frame **frame,
		    uint32_t *left_out);

/*
 * Reads the chain of frames of a stopped thread from its PyThreadState: only addresses, which are
 * not verified yet. False: the chain is unreadable or inconsistent; the stack is then empty.
 */
bool fg_python_chain_read(const struct fg_python_reader *reader, uint64_t thread_state,
			  struct fg_python_stack *stack);

/* ---- code ---- */

/* The parts of a code object that distinguish it from other code objects. */
struct fg_python_code {
	uint64_t address;
	uint64_t filename, qualname, linetable;
	uint64_t size; /* instructions */
	uint32_t first_line;
};

/* Returns false if this is not a code object. */
bool fg_python_code_read(const struct fg_python_reader *reader, uint64_t address,
			 struct fg_python_code *code);
/*
 * Computes a key from the members of `code` and its strings: it distinguishes the code from earlier
 * code at the same addresses. 0: the code has no strings.
 */
uint64_t fg_python_code_key(const struct fg_python_reader *reader,
			    const struct fg_python_code *code);
/*
 * Finds the number of an instruction, from 1; 0: before the first. False: not an instruction of
 * this code.
 */
bool fg_python_instruction(const struct fg_python_layout *layout, const struct fg_python_code *code,
			   uint64_t address, uint32_t *number);

/* ---- objects that code points to ---- */

enum {
	/* limits of a function's strings, in bytes */
	FG_PYTHON_NAME_MAX = 512,
	FG_PYTHON_FILE_MAX = 3072,
	FG_PYTHON_LINES_MAX = 64 << 10,
};

/* Reads a str as UTF-8, cut at `room`. Returns its length in bytes; 0: empty, or not a str. */
size_t fg_python_text_read(const struct fg_python_reader *reader, uint64_t address, char *to,
			   size_t room);
/* Returns the length of a bytes object; 0: empty, or not a bytes object. */
size_t fg_python_bytes_size(const struct fg_python_reader *reader, uint64_t address);

#endif
