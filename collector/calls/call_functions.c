// SPDX-License-Identifier: Apache-2.0
#include "base/attrs.h"
#include "collector/calls/call_objects.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/domains.h"

#include <string.h>
#include <sys/mman.h>

enum {
	TEXTS = 1 << 16, /* bytes mapped at a time */
};

struct fg_called fg_called[FG_CALLED_MAX];
uint32_t fg_called_count;
bool fg_called_table_full;

char *fg_call_keep_text(const char *text)
{
	static char *room;
	static size_t left;
	const size_t size = strlen(text) + 1;
	char *kept = NULL;

	if (size > left) {
		void *memory = mmap(NULL, TEXTS, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return NULL;
		room = memory;
		left = TEXTS;
	}
	kept = memcpy(room, text, size);
	room += size;
	left -= size;
	return kept;
}

/* Hash table of function indexes + 1, by name; 0: free. */
static uint32_t called_places[2 * FG_CALLED_MAX];

static uint32_t *place_of_name(const char *name)
{
	uint32_t at = fg_name_hash(name) % FG_ARRAY_SIZE(called_places);

	while (called_places[at] && strcmp(fg_called[called_places[at] - 1].name, name) != 0)
		at = (at + 1) % FG_ARRAY_SIZE(called_places);
	return &called_places[at];
}

static bool find_function(const char *name, uint32_t *index)
{
	const uint32_t place = *place_of_name(name);

	if (place)
		*index = place - 1;
	return place != 0;
}

/*
 * Returns the signature that the pattern gives, or else a known signature; NULL: the arguments are
 * not read.
 */
static const struct fg_signature *signature_of(const char *name, struct fg_call_pattern *pattern)
{
	static struct fg_signature signatures[FG_CALLED_MAX];
	static uint32_t count;
	struct fg_signature *signature = &signatures[count];

	if (!pattern->with_domains || count == FG_CALLED_MAX)
		return NULL;
	if ((pattern->signature[0] ? !fg_signature_parse(pattern->signature, signature)
				   : !fg_signature_find(name, signature)) ||
	    signature->count == 0) {
		pattern->is_unsigned = true;
		return NULL;
	}
	count++;
	return signature;
}

/* May one of our frames call the function? All its arguments must be known to be in registers. */
static bool can_be_timed(const char *name, const struct fg_call_pattern *pattern)
{
	struct fg_signature signature;

	if (pattern->signature[0] ? !fg_signature_parse(pattern->signature, &signature)
				  : !fg_signature_find_any(name, &signature))
		return false;
	return signature.is_in_registers && !fg_call_looks_at_caller(name);
}

/* Applies the patterns to the function `name` of the object `path`; false: none matches. */
static bool ask_patterns(const char *name, const char *path, enum fg_call_way way,
			 struct fg_called *called)
{
	bool is_meant = false;

	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if (!fg_call_matches(pattern, name, path))
			continue;
		is_meant = true;
		pattern->is_reached = true;
		called->is_named |= pattern->is_exact;
		if (!called->signature && way != FG_CALL_WAY_HOOKS)
			called->signature = signature_of(name, pattern);
		if (!fg_calls_timed)
			continue;
		if (way == FG_CALL_WAY_HOOKS)
			called->is_timed = true;
		else if (way == 0 && can_be_timed(name, pattern))
			called->is_timed = called->is_callable = true;
		else
			pattern->is_untimed = true;
	}
	return is_meant;
}

bool fg_call_is_other_overload(const char *name, const char *readable, const char *path)
{
	struct fg_signature signature;
	bool is_other = false;

	for (uint32_t i = 0; i < fg_call_pattern_count; i++) {
		struct fg_call_pattern *pattern = &fg_call_patterns[i];

		if ((!pattern->with_domains && !fg_calls_timed) ||
		    !fg_call_matches(pattern, readable, path) ||
		    (pattern->signature[0] ? !fg_signature_parse(pattern->signature, &signature)
					   : !fg_signature_find_any(readable, &signature)) ||
		    fg_signature_fits(&signature, name, fg_calls_timed))
			continue;
		is_other = true;
		pattern->is_overloaded = true;
	}
	return is_other;
}

bool fg_call_function_add(const char *name, const char *path, enum fg_call_way way, uint32_t *index)
{
	const bool is_known = find_function(name, index);
	struct fg_called fresh = {.name = name};
	struct fg_called *called = is_known ? &fg_called[*index] : &fresh;

	if (!ask_patterns(name, path, way, called))
		return false;
	called->ways |= (uint8_t)way;
	if (is_known)
		return true;
	fg_called_table_full |= fg_called_count == FG_CALLED_MAX;
	if (fg_called_table_full || !(fresh.name = fg_call_keep_text(name)))
		return false;
	*place_of_name(name) = fg_called_count + 1;
	fg_called[fg_called_count] = fresh;
	*index = fg_called_count++;
	return true;
}

bool fg_call_symbol_take(const char *symbol, const char *readable, const char *path,
			 struct fg_call_symbol *by)
{
	by->is_counted_only |= fg_call_is_other_overload(symbol, readable, path);
	return fg_call_function_add(readable, path, (enum fg_call_way)by->way, &by->function);
}
