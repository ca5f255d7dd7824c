/* SPDX-License-Identifier: Apache-2.0 */
/* The Python frames of a thread at one moment, in memory that belongs to the thread. */
#ifndef FG_COLLECTOR_PYTHON_STACK_H
#define FG_COLLECTOR_PYTHON_STACK_H

#include "collector/python_layout.h"
#include "collector/readable.h"
#include "collector/trace_format.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* The innermost frames of a deeper chain are kept, and these outermost ones. */
	FG_PYTHON_EDGE = FG_TRACE_FRAMES_EDGE,
	FG_PYTHON_FRAMES = FG_TRACE_FRAMES_MAX,
	FG_PYTHON_INNER = FG_PYTHON_FRAMES - FG_PYTHON_EDGE,
	FG_PYTHON_CHAIN_MAX = 1 << 14, /* what is deeper is left out altogether */
	FG_PYTHON_TEXT_MAX = 4096,
};

struct fg_python_frame {
	uintptr_t code;
	uintptr_t instruction; /* address of what is executed, or was executed last */
	uintptr_t stack;       /* an address in the native frame that evaluates this one */
	uint32_t id;           /* frame id of the trace */
};

struct fg_python_stack {
	struct fg_pages pages;
	uint32_t total; /* frames; those that are kept are found by fg_python_at() */
	uint32_t left;  /* of them, the innermost ones, to be put into the path */
	uint32_t new_codes;
	char text[FG_PYTHON_TEXT_MAX]; /* scratch */
	struct fg_python_frame frames[FG_PYTHON_FRAMES];
};

/* Counted from the innermost; the outermost ones of a deep stack are a ring. */
static inline struct fg_python_frame *fg_python_at(struct fg_python_stack *stack, uint32_t index)
{
	if (index >= FG_PYTHON_INNER)
		index = FG_PYTHON_INNER + (index - FG_PYTHON_INNER) % FG_PYTHON_EDGE;
	return &stack->frames[index];
}

/* Is it one of the frames between, of which nothing is kept? */
static inline bool fg_python_is_cut(const struct fg_python_stack *stack, uint32_t index)
{
	return index >= FG_PYTHON_INNER && stack->total > FG_PYTHON_FRAMES &&
	       index < stack->total - FG_PYTHON_EDGE;
}

/*
 * Reads the chain of frames of a thread that stands still, from its PyThreadState: addresses alone,
 * of which nothing is known yet.  False: it makes no sense; the stack is empty then.
 */
bool fg_python_chain_read(const struct fg_python_layout *layout, uintptr_t thread_state,
			  struct fg_python_stack *stack);

/* What a code object says of itself, as far as it tells it from others. */
struct fg_python_code {
	uintptr_t address;
	uintptr_t filename, qualname, linetable;
	uint64_t size; /* instructions */
	uint32_t first_line;
};

static inline uint64_t fg_python_mix(uint64_t hash, uint64_t value)
{
	hash ^= value;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	return hash ^ hash >> 32;
}

/* Addresses of the types of objects. */
struct fg_python_types {
	uintptr_t code, str, bytes;
};

/* False: there is no code object. */
bool fg_python_code_read(const struct fg_python_layout *layout, const struct fg_python_types *types,
			 struct fg_pages *pages, uintptr_t address, struct fg_python_code *code);
/* From 1; 0: the first one is still to come.  False: it is not of this code. */
bool fg_python_instruction(const struct fg_python_layout *layout, const struct fg_python_code *code,
			   uintptr_t address, uint32_t *number);
/*
 * A str as UTF-8, cut where it is longer than `room`; its bytes, or 0: there is no str that is not
 * empty.
 */
size_t fg_python_text_read(const struct fg_python_layout *layout,
			   const struct fg_python_types *types, struct fg_pages *pages,
			   uintptr_t address, char *to, size_t room);
/*
 * Tells a str from others that lay at its address before: its length and hash, or the beginning and
 * the end of its text where no hash is kept yet.  False: there is no str.
 */
bool fg_python_text_key(const struct fg_python_layout *layout, const struct fg_python_types *types,
			struct fg_pages *pages, uintptr_t address, uint64_t *key);
/* The length of a bytes object; 0: there is none. */
size_t fg_python_bytes_size(const struct fg_python_types *types, struct fg_pages *pages,
			    uintptr_t address);

#endif
