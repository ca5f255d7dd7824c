// SPDX-License-Identifier: Apache-2.0
#include "profile/call_patterns.h"

#include "base/fs.h"
#include "symbols/demangle.h"
#include "symbols/elf_file.h"

#include <fnmatch.h>
#include <inttypes.h>

static struct fg_trace_pattern *find(struct fg_call_patterns *all,
				     const struct fg_trace_pattern *pattern)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->patterns[i].text, pattern->text) == 0 &&
		    strcmp(all->patterns[i].library, pattern->library) == 0)
			return &all->patterns[i];
	return NULL;
}

static void join(struct fg_call_patterns *all, const struct fg_trace_pattern *pattern)
{
	struct fg_trace_pattern *known = find(all, pattern);

	if (!known) {
		all->patterns = fg_grow(all->patterns, &all->capacity, all->count + 1,
					sizeof(all->patterns[0]));
		known = &all->patterns[all->count++];
		*known = (struct fg_trace_pattern){
			.text = fg_arena_strdup(&all->arena, pattern->text),
			.library = fg_arena_strdup(&all->arena, pattern->library)};
	}
	known->is_reached |= pattern->is_reached;
	known->unresolved += pattern->unresolved;
	known->is_unsigned |= pattern->is_unsigned;
	known->is_untimed |= pattern->is_untimed;
	if (!known->exported_by && pattern->exported_by)
		known->exported_by = fg_arena_strdup(&all->arena, pattern->exported_by);
}

static void add_program(struct fg_call_patterns *all, const char *path)
{
	for (size_t i = 0; i < all->program_count; i++)
		if (strcmp(all->programs[i], path) == 0)
			return;
	all->programs = fg_grow(all->programs, &all->program_capacity, all->program_count + 1,
				sizeof(all->programs[0]));
	all->programs[all->program_count++] = fg_arena_strdup(&all->arena, path);
}

void fg_call_patterns_add(struct fg_call_patterns *all, const struct fg_trace *trace)
{
	bool reached = true;

	for (size_t i = 0; i < trace->pattern_count; i++) {
		join(all, &trace->patterns[i]);
		reached &= trace->patterns[i].is_reached;
	}
	if (!reached)
		add_program(all, trace->executable);
}

void fg_call_patterns_release(struct fg_call_patterns *all)
{
	free(all->patterns);
	free(all->programs);
	fg_arena_release(&all->arena);
	*all = (struct fg_call_patterns){0};
}

/* ---- why not ---- */

/* Is this function what the pattern asks for, its parameters left out? */
static bool is_meant(const struct fg_trace_pattern *pattern, const char *symbol)
{
	struct fg_strbuf name = {0};
	char *parameters = NULL;
	bool meant = false;

	if (!fg_demangle(symbol, &name))
		return fnmatch(pattern->text, symbol, 0) == 0;
	parameters = strchr(name.data, '(');
	if (parameters && parameters != name.data)
		*parameters = '\0';
	meant = fnmatch(pattern->text, name.data, 0) == 0;
	fg_strbuf_release(&name);
	return meant;
}

/* Has the program a function of its own that the pattern means? */
static bool has_its_own(const char *program, const struct fg_trace_pattern *pattern)
{
	struct fg_elf elf;
	bool found = false;

	if (fg_elf_read(program, &elf, NULL) != FG_OK)
		return false;
	for (size_t i = 0; i < elf.symbol_count && !found; i++)
		found = is_meant(pattern, fg_elf_name(&elf, &elf.symbols[i]));
	fg_elf_release(&elf);
	return found;
}

bool fg_call_patterns_explain(const struct fg_call_patterns *all, size_t index,
			      struct fg_strbuf *text)
{
	const struct fg_trace_pattern *pattern = &all->patterns[index];
	const char *at = pattern->library[0] ? "@" : "";

	if (pattern->is_reached && pattern->is_unsigned) {
		fg_strbuf_printf(
			text,
			"the arguments of '%s%s%s' are not looked at: its signature is not "
			"known (%s=double(double), say)",
			pattern->text, at, pattern->library, pattern->text);
		return true;
	}
	if (pattern->is_reached && pattern->is_untimed) {
		fg_strbuf_printf(text,
				 "not all calls of '%s%s%s' are timed: the collector can call a "
				 "function only if all its arguments are known to be in registers",
				 pattern->text, at, pattern->library);
		return true;
	}
	if (pattern->is_reached) {
		if (pattern->unresolved == 0)
			return false;
		fg_strbuf_printf(text,
				 "'%s%s%s': %" PRIu64 " import%s not counted: it is not certain "
				 "what they will be bound to",
				 pattern->text, at, pattern->library, pattern->unresolved,
				 pattern->unresolved == 1 ? " is" : "s are");
		return true;
	}
	fg_strbuf_printf(text, "no call of '%s%s%s' is counted: ", pattern->text, at,
			 pattern->library);
	if (pattern->unresolved > 0) {
		fg_strbuf_add_text(text, "it is not certain what its imports will be bound to");
		return true;
	}
	for (size_t i = 0; i < all->program_count; i++) {
		if (!has_its_own(all->programs[i], pattern))
			continue;
		fg_strbuf_printf(text,
				 "%s calls its own, without a slot that could be led elsewhere "
				 "(compile it with -finstrument-functions, or use measure.exact)",
				 fg_fs_base_name(all->programs[i]));
		return true;
	}
	if (pattern->exported_by)
		fg_strbuf_printf(text,
				 "no object imports it from %s: it is not used, the compiler has "
				 "put it inline, or it is called inside that object alone",
				 fg_fs_base_name(pattern->exported_by));
	else
		fg_strbuf_add_text(text, "no object exports or imports it: there is none of this "
					 "name, or the compiler has put it inline");
	return true;
}
