/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded objects as their dynamic sections describe them: their imports and exports, and the
 * function that an import will be bound to. The objects are read while none can be loaded or
 * unloaded.
 */
#ifndef FG_COLLECTOR_CALL_OBJECTS_H
#define FG_COLLECTOR_CALL_OBJECTS_H

#include "collector/calls/call_fentry.h"
#include "collector/process/exports.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FG_OBJECT_SEGMENTS_MAX = 8
};

struct fg_object_range {
	uintptr_t start;
	uintptr_t end;
};

/* A loaded object.  Tables that it lacks are NULL. */
struct fg_object {
	struct fg_exports exports;
	const char *path;
	const ElfW(Dyn) * dynamic;
	struct fg_object_range whole;
	struct fg_object_range relro; /* read-only after relocation */
	struct fg_object_range code[FG_OBJECT_SEGMENTS_MAX];
	struct fg_object_range writable[FG_OBJECT_SEGMENTS_MAX];
	unsigned code_count, writable_count;
	const uint8_t *needed_versions;
	const uint8_t *defined_versions;
	size_t needed_count, defined_count;
	const ElfW(Rela) * tables[2];
	size_t table_sizes[2];
	const uintptr_t *stub_slot; /* a slot that now leads to a stub, or NULL */
	bool is_seen;               /* its slots have been examined */
	/*
	 * its slots are left alone: it is the collector, the loader or the vDSO, or has no dynamic
	 * section
	 */
	bool is_left;
	bool is_initial;               /* loaded with the program: every object finds its exports */
	bool has_hooks;                /* compiled with -finstrument-functions */
	struct fg_fentry_slots fentry; /* calls of __fentry__, if compiled with -mfentry */
	bool is_symbolic;              /* binds its imports to its own exports first */
};

struct fg_object_list {
	struct fg_object *objects;
	uint32_t count;
};

/* The objects that the last fg_objects_read() found, the program first. */
extern struct fg_object_list fg_objects;

/* Reads the list again; `before` gets the previous list. False: out of memory. */
bool fg_objects_read(struct fg_object_list *before);
/* Returns the object that contains this address, or NULL. */
const struct fg_object *fg_object_of(uintptr_t address);
bool fg_ranges_hold(uintptr_t address, const struct fg_object_range *ranges, unsigned count);
/* Returns the version that an undefined symbol requires, or NULL. */
const char *fg_object_wanted_version(const struct fg_object *object, size_t symbol);
/*
 * Returns the function that an import of `object` will be bound to: the object's own if it is
 * symbolic, else the first function of this name that an object loaded with the program exports, in
 * the loader's order, else the only function of this name. 0: not certain.
 */
uintptr_t fg_object_look_up(const struct fg_object *object, const char *name, const char *version);
/* Does `is` return true for the name of a function that the object exports? */
bool fg_object_exports(const struct fg_object *object,
		       bool (*is)(const void *context, const struct fg_object *object,
				  const char *name),
		       const void *context);
/* Does the relocation fill a slot with a symbol's address? */
bool fg_object_is_slot(const ElfW(Rela) * entry);
/* Does a slot of the collector itself hold this address? */
bool fg_object_is_used_by_us(uintptr_t address);

#endif
