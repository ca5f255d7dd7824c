// SPDX-License-Identifier: Apache-2.0
#include "binary/debug_scopes.h"

#include "binary/demangle.h"
#include "binary/name_parts.h"

#include <dwarf.h>

enum {
	MAX_DEPTH = 64,
	MAX_SCOPE_BYTES = 4096,  /* limit for one scope; parts beyond it are left out */
	MAX_TEXT_BYTES = 1 << 28 /* limit for all scopes of a unit */
};

/* The numbers are C++98, 03, 11, 14, 17 and 20; elfutils' header may lack the last two. */
static bool is_cplusplus(Dwarf_Die *unit)
{
	static const int languages[] = {0x04, 0x19, 0x1a, 0x21, 0x2b, 0x2c};
	const int language = dwarf_srclang(unit);

	for (size_t i = 0; i < FG_ARRAY_SIZE(languages); i++)
		if (language == languages[i])
			return true;
	return false;
}

static const char *linkage_of(Dwarf_Die *entry)
{
	Dwarf_Attribute at;

	return dwarf_attr_integrate(entry, DW_AT_linkage_name, &at) ? dwarf_formstring(&at) : NULL;
}

static void add_part(struct fg_strbuf *scope, const char *part)
{
	if (!part || scope->length + strlen(part) > MAX_SCOPE_BYTES)
		return;
	if (scope->length > 0)
		fg_strbuf_add_text(scope, "::");
	fg_strbuf_add_text(scope, part);
}

static void remember(struct fg_debug_scopes *scopes, const Dwarf_Die *entry,
		     const struct fg_strbuf *scope)
{
	const uint64_t key = (uint64_t)(uintptr_t)entry->addr;
	bool is_new;

	if (scope->length == 0 || scopes->texts.length + scope->length > MAX_TEXT_BYTES)
		return;
	(void)fg_pair_index_add(&scopes->known, (uint32_t)(key >> 32), (uint32_t)key,
				(uint32_t)scopes->texts.length, &is_new);
	if (is_new)
		fg_strbuf_add(&scopes->texts, fg_strbuf_text(scope), scope->length + 1);
}

/*
 * An out-of-class definition points to the declaration in the class; only the declaration has a
 * scope.
 */
static Dwarf_Die declaration_of(Dwarf_Die *function)
{
	Dwarf_Attribute at;
	Dwarf_Die declared;

	if (dwarf_attr(function, DW_AT_specification, &at) && dwarf_formref_die(&at, &declared))
		return declared;
	return *function;
}

/* Returns "" if the scope is global or unknown. */
static const char *known_scope(const struct fg_debug_scopes *scopes, const Dwarf_Die *entry)
{
	const uint64_t key = (uint64_t)(uintptr_t)entry->addr;
	const uint32_t *place =
		fg_pair_index_get(&scopes->known, (uint32_t)(key >> 32), (uint32_t)key);

	return scopes->texts.data + (place ? *place : 0);
}

/*
 * The scope of something inside a function is the function's full name, taken from its linkage name
 * if possible.
 */
static void enter_function(struct fg_debug_scopes *scopes, Dwarf_Die *entry,
			   struct fg_strbuf *scope)
{
	const char *linkage = linkage_of(entry);
	struct fg_strbuf readable = {0};

	if (!linkage) {
		const Dwarf_Die declared = declaration_of(entry);
		const char *known = known_scope(scopes, &declared);

		if (*known) {
			fg_strbuf_clear(scope);
			fg_strbuf_add_text(scope, known);
		}
		remember(scopes, entry, scope);
		add_part(scope, dwarf_diename(entry));
		return;
	}
	if (strlen(linkage) <= MAX_SCOPE_BYTES && fg_demangle(linkage, &readable) &&
	    readable.length <= MAX_SCOPE_BYTES) {
		fg_strbuf_clear(scope);
		fg_name_qualified(fg_strbuf_text(&readable), scope);
	} else {
		add_part(scope, dwarf_diename(entry));
	}
	fg_strbuf_release(&readable);
}

/*
 * A class without a name is a lambda or similar: its number within the enclosing function
 * identifies it, as in linkage names.
 */
static void enter_class(Dwarf_Die *entry, struct fg_strbuf *scope, unsigned *nameless)
{
	const char *name = dwarf_diename(entry);
	char number[32];

	(void)snprintf(number, sizeof(number), "{lambda#%u}", name ? 0 : ++*nameless);
	add_part(scope, name ? name : number);
}

/* Extends the scope by the entry's name. Returns false if its children are to be skipped. */
static bool enter(struct fg_debug_scopes *scopes, Dwarf_Die *entry, struct fg_strbuf *scope,
		  unsigned *nameless)
{
	const char *name;

	switch (dwarf_tag(entry)) {
	case DW_TAG_namespace:
		name = dwarf_diename(entry);
		add_part(scope, name ? name : "(anonymous namespace)");
		return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		enter_class(entry, scope, nameless);
		return true;
	case DW_TAG_subprogram:
		enter_function(scopes, entry, scope);
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/* `nameless` counts the classes without a name in the enclosing function, including its blocks. */
static void walk(struct fg_debug_scopes *scopes, Dwarf_Die *parent, const struct fg_strbuf *around,
		 unsigned depth, unsigned *nameless)
{
	struct fg_strbuf scope = {0};
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(parent, &child) != 0)
		return;
	do {
		unsigned inside = 0;

		fg_strbuf_clear(&scope);
		fg_strbuf_add(&scope, fg_strbuf_text(around), around->length);
		if (enter(scopes, &child, &scope, nameless))
			walk(scopes, &child, &scope, depth + 1,
			     scope.length == around->length ? nameless : &inside);
	} while (dwarf_siblingof(&child, &child) == 0);
	fg_strbuf_release(&scope);
}

const char *fg_debug_scope_of(struct fg_debug_scopes *scopes, Dwarf_Die *function)
{
	const Dwarf_Die declared = declaration_of(function);

	if (!scopes->made) {
		const struct fg_strbuf none = {0};
		unsigned nameless = 0;

		scopes->made = true;
		fg_strbuf_add_char(&scopes->texts, '\0');
		if (is_cplusplus(scopes->unit))
			walk(scopes, scopes->unit, &none, 0, &nameless);
	}
	return known_scope(scopes, &declared);
}

void fg_debug_scopes_release(struct fg_debug_scopes *scopes)
{
	fg_pair_index_release(&scopes->known);
	fg_strbuf_release(&scopes->texts);
}
