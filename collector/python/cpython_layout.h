/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of the members of CPython's structures that a stack needs, by version, for 64-bit
 * platforms. tests/unit/python/offsets.c compares them with the installed headers, public and
 * internal.
 */
#ifndef FG_COLLECTOR_CPYTHON_LAYOUT_H
#define FG_COLLECTOR_CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum fg_python_chain {
	/*
	 * The thread's _PyCFrame, on the C stack, has the innermost frame of one evaluation, and
	 * the _PyCFrame of the previous evaluation; frames lead outwards until one is_entry.
	 */
	FG_PYTHON_ENTRIES_MARKED,
	/*
	 * All frames are one chain. Each evaluation has added its own entry frame, on the C stack,
	 * after its outermost frame.
	 */
	FG_PYTHON_ENTRIES_APART,
};

struct fg_python_layout {
	uint32_t version; /* 0x030b: 3.11 */
	enum fg_python_chain chain;
	/* offsets in _PyRuntime */
	uint16_t tss_key; /* Py_tss_t of the thread's state */
	bool has_offsets; /* _PyRuntime begins with a table of offsets, which must agree */
	/* offsets in PyThreadState */
	uint16_t thread_id;        /* as pthread_self() */
	uint16_t native_thread_id; /* as the kernel numbers it */
	uint16_t cframe;           /* 0: absent */
	uint16_t current_frame;    /* offset in PyThreadState, or in _PyCFrame */
	uint16_t cframe_previous;
	/* offsets in _PyInterpreterFrame */
	uint16_t frame_code;
	uint16_t frame_previous;
	uint16_t frame_instruction;
	uint16_t frame_is_entry;
	uint16_t frame_owner;
	/* offsets in PyCodeObject */
	uint16_t code_first_line;
	uint16_t code_filename;
	uint16_t code_qualname;
	uint16_t code_linetable;
	uint16_t code_instructions;
	/* offsets of the characters in an ASCII str, and in any other str */
	uint16_t ascii_size;
	uint16_t compact_size;
};

/* Offsets and values that are the same in all versions. */
enum {
	FG_PYTHON_TSS_KEY = 4, /* offset in Py_tss_t, after the flag _is_initialized */
	FG_PYTHON_TYPE = 8,    /* offset in PyObject */
	FG_PYTHON_SIZE = 16,   /* offset in PyVarObject; the length of a str */
	FG_PYTHON_TYPE_NAME = 24,
	FG_PYTHON_TYPE_BASIC_SIZE = 32,
	FG_PYTHON_BYTES = 32,    /* offset in PyBytesObject */
	FG_PYTHON_STR_HASH = 24, /* all bits set: not known yet */
	FG_PYTHON_STR_STATE = 32,
	FG_PYTHON_STR_KIND_SHIFT = 2,
	FG_PYTHON_STR_KIND_MASK = 7,
	FG_PYTHON_STR_COMPACT = 1 << 5,
	FG_PYTHON_STR_ASCII = 1 << 6,
	FG_PYTHON_OWNED_BY_C_STACK = 3, /* since 3.12 */
};

/* Returns the layout of this version (PY_VERSION_HEX); NULL: the version is unknown. */
const struct fg_python_layout *fg_python_layout(uint64_t version);
enum {
	FG_PYTHON_OFFSET_WORDS = 48
};
/* Do the first `words` of _PyRuntime agree with the layout? */
bool fg_python_layout_agrees(const struct fg_python_layout *layout,
			     const uint64_t words[FG_PYTHON_OFFSET_WORDS]);
#endif
