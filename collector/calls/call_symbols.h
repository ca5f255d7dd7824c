/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of wanted functions that count their own calls: compiled with
 * -finstrument-functions or -mfentry, or with a jump at their entry.
 */
#ifndef FG_COLLECTOR_CALL_SYMBOLS_H
#define FG_COLLECTOR_CALL_SYMBOLS_H

#include "collector/calls/calls.h"

struct fg_call_symbol {
	uint32_t function; /* index in fg_called */
	uint32_t size;     /* bytes of its code */
	uint8_t way;       /* enum fg_call_way, never an import */
	bool is_counted_only;
};

/* A symbol of an object's file that is a function, or chooses one (IFUNC). */
struct fg_call_defined {
	const char *base;  /* its name without a clone's suffix */
	uintptr_t address; /* in the file */
	uint32_t size;
	bool is_clone; /* its parameters may differ from the source's */
	bool is_resolver;
};

/* Maps a whole file to read it; NULL: it cannot be read, or is empty. */
void *fg_call_file_map(const char *path, size_t *size);
/*
 * Visits the functions of an object's file. False: the file cannot be read or has no full symbol
 * table, so at most exported symbols were visited.
 */
bool fg_call_symbols_each(const char *path, void *context,
			  void (*visit)(void *context, const struct fg_call_defined *symbol));

/* Returns false if no wanted function has this address. May be called from any thread. */
bool fg_call_symbol_find(uintptr_t address, struct fg_call_symbol *found);
/*
 * Returns a place for fg_call_symbol_target(); 0: no wanted function. Uses only integer registers.
 */
uint32_t fg_call_symbol_place(uintptr_t address);

struct fg_call_symbol_entry {
	struct fg_call_target target; /* `function` is FG_CALLED_MAX after the object is unloaded */
	_Atomic uint32_t size;        /* bytes */
	_Atomic uint32_t way;
};
extern struct fg_call_symbol_entry *_Atomic fg_call_symbols;

/* Returns the target at a place that fg_call_symbol_place() or fg_call_symbol_add() returned. */
static inline const struct fg_call_target *fg_call_symbol_target(uint64_t place)
{
	return &atomic_load_explicit(&fg_call_symbols, memory_order_acquire)[place - 1].target;
}

/*
 * Adds the function, or replaces its entry. Returns its place; 0: no room. Call while objects
 * cannot be loaded or unloaded.
 */
uint32_t fg_call_symbol_add(uintptr_t address, const struct fg_call_symbol *symbol);
/*
 * Like fg_call_function_add(), for the function `readable`, counted by `by->way`; `symbol`
 * identifies the overload. Defined in call_functions.c.
 */
bool fg_call_symbol_take(const char *symbol, const char *readable, const char *path,
			 struct fg_call_symbol *by);
/* Forgets functions of unloaded objects. */
void fg_call_symbols_sweep(bool (*is_loaded)(uintptr_t address));

#endif
