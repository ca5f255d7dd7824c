/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts calls of named functions by call path. Arguments and results are not touched, and return
 * addresses only if a call is timed. Each file calls only files below it, except that the assembly
 * calls calls.c:
 *
 *	call_start.c       connects to the collector's life cycle
 *	call_hooks.c       the hooks of -finstrument-functions
 *	calls.c            counts a call
 *	call_records.c     writes the counts into the trace
 *	call_tables.c      the counts of each thread
 *	call_sites.c       places that calls came from before
 *	call_slots.c       redirects the imports of every loaded object to our stubs
 *	call_jumps.c       writes jumps at the entries of functions
 *	call_fentry.c      the hook of -pg -mfentry
 *	call_functions.c   the counted functions, with the settings of the patterns they match
 *	call_objects.c     the imports and exports of loaded objects
 *	call_jump_entry.c  called by the stubs of jumps: saves all registers, counts the call
 *	call_entry.c       the stubs of imports: save arguments, count, jump to the function
 *	call_registers.h   assembly that saves registers, and the functions that stubs call
 *	call_times.c       durations
 *	domains.c          statistics of arguments
 *	call_values.c      the arguments themselves
 *	call_symbols.c     the addresses of wanted functions that have hooks or jumps
 *	call_names.c       matches names of functions with the wanted patterns
 *	signatures.c       the places of a function's arguments
 *	cxx_names.c        reads C++ symbols
 *
 * Built only into the library that counts calls.
 */
#ifndef FG_COLLECTOR_CALLS_H
#define FG_COLLECTOR_CALLS_H

#include "collector/arch/arch.h"
#include "trace/trace_format.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FG_CALLED_MAX = 1 << 15,    /* functions */
	FG_CALL_STUBS_MAX = 4096,   /* stubs; a function may need several, one per definition */
	FG_CALL_PATTERNS_MAX = 256, /* patterns in a list */
	FG_CALL_NAME_MAX = 256,     /* bytes of a name, with its NUL */
	FG_CALL_GLANCE_VECTORS = 4,
};

/* A counted function. Functions with the same name count as one. */
struct fg_called {
	const char *name;
	const struct fg_signature *signature; /* NULL: its arguments are not read */
	bool is_described; /* its measures are named in this process's trace file */
	/* numbers of its measures in the trace; 0: not assigned yet */
	_Atomic uint32_t measure, time_measure;
	bool is_timed;
	/* callable from one of our frames: needed to time a call through an import */
	bool is_callable;
	uint8_t ways; /* ways other than imports: sum of enum fg_call_way */
	/* a pattern without wildcards names it, so report it even if it was not called */
	bool is_named;
};

/* A pattern and its matches. */
struct fg_call_pattern {
	char text[FG_CALL_NAME_MAX]; /* name without the library */
	char library[64];            /* library that defines it; empty: any */
	uint32_t unresolved;         /* lazily bound imports whose function is not certain */
	bool is_exact;
	bool is_reached;
	bool with_domains; /* arguments are read */
	bool only_known;   /* functions without a known signature are left out */
	bool is_unsigned;  /* a matched function has no known signature */
	/* overloads with other parameters are only counted */
	bool is_overloaded;
	/* durations are wanted, but calls of a matched function cannot be timed */
	bool is_untimed;
	char signature[96]; /* given signature; empty: none */
	/* an object that exports a matching function that nothing imports, or NULL */
	const char *exported_by;
};

/* ---- cxx_names.c ---- */

/* Writes the symbol's name without parameters, or the symbol itself if it is not a C++ symbol. */
void fg_call_name_read(const char *symbol, char readable[FG_CALL_NAME_MAX]);
/*
 * Returns the encoded parameters of a C++ symbol. NULL: the symbol has none, or the return type
 * precedes them (templates).
 */
const char *fg_call_parameters(const char *symbol);
/*
 * Returns the position after the class or enumeration that a symbol names here; NULL: it names
 * neither.
 */
const char *fg_call_skip_class(const char *at);

/* ---- call_names.c ---- */

extern struct fg_call_pattern fg_call_patterns[FG_CALL_PATTERNS_MAX];
extern uint32_t fg_call_pattern_count;

/* Adds the patterns of a list like "exp,log@libm,Parser::*"; false: some did not fit. */
bool fg_call_patterns_add(const char *list, bool with_domains);
/*
 * Does a pattern match this symbol's name, in the object of this path (NULL: any)? `readable` gets
 * the name without parameters: "Parser::parse".
 */
bool fg_call_is_wanted(const char *symbol, const char *path, char readable[FG_CALL_NAME_MAX]);
/* Does the pattern match the function of this name in the object of this path (NULL: any)? */
bool fg_call_matches(const struct fg_call_pattern *pattern, const char *readable, const char *path);
/* ---- calls.c ---- */

/* True if durations are wanted. */
extern bool fg_calls_timed;
/*
 * Called when a function with hooks starts and ends. `caller` has the registers of the hook's
 * caller: the frame of the function, or of the function into which it was inlined.
 */
void fg_call_entered(const struct fg_regs *caller, uint32_t function, bool is_own_frame);
void fg_call_left(const struct fg_regs *caller, uint32_t function);

/* ---- call_entry.c ---- */

/* The registers as the stubs leave them, with the stack pointer on the return address. */
struct fg_call_state {
	uint64_t rbx, rbp, r12, r13, r14, r15, rsp, index;
	uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10;
	uint64_t in_use;   /* components of the vector registers */
	uint64_t is_timed; /* 1: the stub calls the function, then fg_call_returned_from() */
	uint64_t r11;      /* saved only at an entry */
	uint64_t unused[5];
	uint8_t vectors[8][64];
};

/*
 * The stack before the state is made: integer registers, and the lowest 8 bytes of the first vector
 * registers.
 */
struct fg_call_glance {
	uint64_t vectors[FG_CALL_GLANCE_VECTORS];
	uint64_t rbp;
	uint64_t saved[9];
	uint64_t index;
	uintptr_t return_address; /* on the stack, as the caller left it */
};

/* Returns the address of the stub with this index, which is below FG_CALL_STUBS_MAX. */
uintptr_t fg_call_stub(uint32_t index);
bool fg_call_is_stub(uintptr_t address);
/* Returns an address in the code that all stubs share; walks begin there. */
uintptr_t fg_call_frame(void);

/* ---- call_functions.c ---- */

extern struct fg_called fg_called[FG_CALLED_MAX];
extern uint32_t fg_called_count;
/* True if functions were left out because the table is full. */
extern bool fg_called_table_full;

/* Returns a permanent copy, or NULL. */
char *fg_call_keep_text(const char *text);
/*
 * Finds or adds the function. False: no pattern matches it in this object, the table is full, or
 * there is no memory.
 */
bool fg_call_function_add(const char *name, const char *path, enum fg_call_way way,
			  uint32_t *index);
/*
 * Is the symbol an overload whose parameters differ from the requested signature? If so, marks the
 * pattern.
 */
bool fg_call_is_other_overload(const char *name, const char *readable, const char *path);

/* ---- call_slots.c ---- */

struct fg_call_target {
	_Atomic uintptr_t address; /* 0: free */
	_Atomic uint32_t function; /* index in fg_called */
	/*
	 * neither arguments nor durations are recorded: a clone or an overload may have other
	 * parameters
	 */
	_Atomic bool is_counted_only;
};
extern struct fg_call_target fg_call_targets[FG_CALL_STUBS_MAX];

/* Number of objects with hooks that have no full symbol table. */
extern uint32_t fg_call_nameless;
/* Redirects the imports of objects that were loaded since the last call. Normal context only. */
void fg_call_slots_update(void);

#endif
