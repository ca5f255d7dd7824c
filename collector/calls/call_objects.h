/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded objects as their dynamic sections describe them: what they import and export, and
 * which function an import will be bound to.  Read while objects cannot come and go.
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
	struct fg_object_range relro; /* read-only since it was relocated */
	struct fg_object_range code[FG_OBJECT_SEGMENTS_MAX];
	struct fg_object_range writable[FG_OBJECT_SEGMENTS_MAX];
	unsigned code_count, writable_count;
	const uint8_t *needed_versions;
	const uint8_t *defined_versions;
	size_t needed_count, defined_count;
	const ElfW(Rela) * tables[2];
	size_t table_sizes[2];
	const uintptr_t *led; /* a slot that leads to a stub since, or NULL */
	bool is_seen;         /* its slots were looked at */
	bool is_left;         /* ours, the loader, the kernel's: its slots stay as they are */
	bool is_initial;      /* loaded with the program: everybody finds what it exports */
	bool has_hooks;       /* compiled with -finstrument-functions */
	struct fg_fentry_slots fentry; /* compiled with -mfentry, if there are any */
	bool is_symbolic;              /* finds what it exports itself before all others */
};

struct fg_object_list {
	struct fg_object *objects;
	uint32_t count;
};

/* As of the last fg_objects_read(); the first is the program. */
extern struct fg_object_list fg_objects;

/* Reads them anew; `before` gets the previous list.  False: out of memory. */
bool fg_objects_read(struct fg_object_list *before);
/* The one that lies at this address; NULL: none does. */
const struct fg_object *fg_object_of(uintptr_t address);
bool fg_ranges_hold(uintptr_t address, const struct fg_object_range *ranges, unsigned count);
/* The version that an undefined symbol asks for, or NULL. */
const char *fg_object_wanted_version(const struct fg_object *object, size_t symbol);
/*
 * The function that an import of `object` will be bound to: the first that exports it among those
 * that were loaded with the program, in the loader's order, or else the only one.  0: not
 * certain.
 */
uintptr_t fg_object_look_up(const struct fg_object *object, const char *name, const char *version);
/* Does `is` hold for the name of a function that the object exports? */
bool fg_object_exports(const struct fg_object *object,
		       bool (*is)(const void *context, const struct fg_object *object,
				  const char *name),
		       const void *context);
/* Does the relocation fill a slot that holds the address of a symbol? */
bool fg_object_is_slot(const ElfW(Rela) * entry);
/* Does a slot of the collector itself hold this address? */
bool fg_object_is_used_by_us(uintptr_t address);

#endif
