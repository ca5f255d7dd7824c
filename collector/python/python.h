/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the frames of Python functions to call paths, between the native frames of the interpreter.
 * A Python frame is a code object and an instruction in it, and is numbered like a native frame.
 * Signal-safe.
 */
#ifndef FG_COLLECTOR_PYTHON_H
#define FG_COLLECTOR_PYTHON_H

#include "collector/sampler/state.h"

#include <link.h>

enum fg_python_state {
	FG_PYTHON_NONE,
	FG_PYTHON_FOUND, /* found an interpreter of a known version */
	FG_PYTHON_BEGUN,
	FG_PYTHON_ON, /* verified: it has the structures of its version */
	FG_PYTHON_REFUSED,
};

/* The first interpreter that was found in this process. */
struct fg_python {
	_Atomic uint32_t state; /* written last */
	uint32_t module;
	uint64_t version;  /* PY_VERSION_HEX; 0: unknown */
	uintptr_t runtime; /* _PyRuntime */
	struct fg_python_types types;
	const struct fg_python_layout *layout;
};
extern struct fg_python fg_python;

static inline bool fg_python_is_on(void)
{
	const uint32_t state = atomic_load_explicit(&fg_python.state, memory_order_acquire);

	return state >= FG_PYTHON_FOUND && state <= FG_PYTHON_ON;
}

/* Checks whether a newly found module is an interpreter. */
void fg_python_check_module(struct fg_thread *thread, uint32_t module, uintptr_t bias,
			    const ElfW(Dyn) * dynamic);
/* Writes the interpreter into a new trace file. */
void fg_python_rewrite(struct fg_thread *thread);

/*
 * Reads the calling thread's frames into its memory, innermost first. Reads nothing without an
 * interpreter, or while its structures are inconsistent.
 */
void fg_python_look(struct fg_thread *thread);
/*
 * Extends `path`, outermost frame first, by the frames that are not in the path yet and whose
 * native frame begins at `sp` or further out. 0: the table is full, or `path` is 0 and no frame
 * follows it.
 */
uint32_t fg_python_extend(struct fg_thread *thread, uint32_t path, uintptr_t sp);

/* ---- collector/python/python_codes.c ---- */

int fg_python_codes_init(void);
/* Forgets the codes in a child of fork, which starts a new file. */
void fg_python_codes_clear(void);
/*
 * Numbers all kept frames. False: a frame belongs to no code, or too much code is new; the code
 * found so far is known the next time.
 */
bool fg_python_codes_number(struct fg_thread *thread);

#endif
