/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of wanted functions in objects compiled with -finstrument-functions. */
#ifndef FG_COLLECTOR_CALL_SYMBOLS_H
#define FG_COLLECTOR_CALL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct fg_call_symbol {
	uint32_t function; /* index in fg_called */
	uint32_t size;     /* bytes of its code */
};

/* An object whose functions call us when they begin and end. */
struct fg_call_object {
	const char *path; /* "": the program */
	uintptr_t bias;
	/* Finds or adds a function; false: it is not wanted. */
	bool (*add)(const char *name, const char *path, uint32_t *function);
};

/* From any thread; false: it is no function that is wanted. */
bool fg_call_symbol_find(uintptr_t address, struct fg_call_symbol *found);
/* False: the object has no symbol table, and only what it exports is known. */
bool fg_call_symbols_read(const struct fg_call_object *object);
/* Forgets functions of objects that are gone. */
void fg_call_symbols_sweep(bool (*is_loaded)(uintptr_t address));

#endif
