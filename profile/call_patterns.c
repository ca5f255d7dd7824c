// SPDX-License-Identifier: Apache-2.0
#include "profile/call_patterns.h"

#include "base/fs.h"
#include "base/text.h"
#include "binary/demangle.h"
#include "binary/elf_file.h"

#include <fnmatch.h>
#include <inttypes.h>

enum {
	NAMES_MAX = 8 /* function names kept per refusal in a trace */
};

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
		known = &FG_APPEND(all->patterns, all->count, all->capacity);
		*known = (struct fg_trace_pattern){
			.text = fg_arena_strdup(&all->arena, pattern->text),
			.library = fg_arena_strdup(&all->arena, pattern->library)};
	}
	known->is_reached |= pattern->is_reached;
	known->unresolved += pattern->unresolved;
	known->is_unsigned |= pattern->is_unsigned;
	known->is_overloaded |= pattern->is_overloaded;
	known->is_untimed |= pattern->is_untimed;
	if (!known->exported_by && pattern->exported_by)
		known->exported_by = fg_arena_strdup(&all->arena, pattern->exported_by);
}

static void add_program(struct fg_call_patterns *all, const char *path)
{
	for (size_t i = 0; i < all->program_count; i++)
		if (strcmp(all->programs[i], path) == 0)
			return;
	FG_APPEND(all->programs, all->program_count, all->program_capacity) =
		fg_arena_strdup(&all->arena, path);
}

static void add_entries(struct fg_call_patterns *all, const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->refusal_count; i++) {
		const struct fg_trace_refusal *refusal = &trace->refusals[i];

		all->entries_requested = true;
		if (refusal->reason >= FG_ENTRY_REFUSALS ||
		    refusal->functions <= all->entries[refusal->reason])
			continue;
		all->entries[refusal->reason] = refusal->functions;
		all->entry_names[refusal->reason] = fg_arena_strdup(&all->arena, refusal->names);
	}
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
	add_entries(all, trace);
}

void fg_call_patterns_release(struct fg_call_patterns *all)
{
	free(all->patterns);
	free(all->programs);
	fg_arena_release(&all->arena);
	*all = (struct fg_call_patterns){0};
}

/* ---- reasons ---- */

/* Returns true if the pattern matches the function's name without its parameters. */
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

/* Returns true if the program itself has a function that the pattern matches. */
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

/*
 * Returns true for functions that compilers replace with instructions, at least on some
 * architectures.
 */
static bool is_builtin(const char *name)
{
	static const char names[] =
		"abs ceil cimag conj copysign creal fabs fdim floor fma fmax fmin isinf isnan labs "
		"ldexp llabs llrint llround lrint lround memcmp memcpy memmove memset nearbyint "
		"rint round sqrt strcmp strcpy strlen trunc";
	const size_t size = strlen(name);
	const bool has_type = size > 1 && (name[size - 1] == 'f' || name[size - 1] == 'l');

	return fg_text_has_word(names, " ", name, size) ||
	       (has_type && fg_text_has_word(names, " ", name, size - 1));
}

/*
 * Explains which arguments, times or calls are not recorded for a pattern that reached a function.
 * Returns false if nothing is known to be missing.
 */
static bool explain_rest(const struct fg_trace_pattern *pattern, struct fg_strbuf *text)
{
	const char *at = pattern->library[0] ? "@" : "";

	if (pattern->is_unsigned) {
		fg_strbuf_printf(
			text,
			"the arguments of '%s%s%s' are not recorded: its signature is not known "
			"(write %s=double(double), for example)",
			pattern->text, at, pattern->library, pattern->text);
		return true;
	}
	if (pattern->is_overloaded) {
		fg_strbuf_printf(
			text,
			"'%s%s%s' has overloads whose parameters differ from the given "
			"signature: they are counted, but not timed, and their arguments are not "
			"recorded",
			pattern->text, at, pattern->library);
		return true;
	}
	if (pattern->is_untimed) {
		fg_strbuf_printf(text,
				 "not all calls of '%s%s%s' are timed: the collector can call a "
				 "function only if all its arguments are known to be in registers",
				 pattern->text, at, pattern->library);
		return true;
	}
	if (pattern->unresolved == 0 && !is_builtin(pattern->text))
		return false;
	if (pattern->unresolved == 0)
		fg_strbuf_printf(text,
				 "'%s%s%s': calls that the compiler replaced with instructions are "
				 "not seen (-fno-builtin-%s keeps the calls)",
				 pattern->text, at, pattern->library, pattern->text);
	else
		fg_strbuf_printf(text, "'%s%s%s': %" PRIu64 " import%s not certain", pattern->text,
				 at, pattern->library, pattern->unresolved,
				 pattern->unresolved == 1
					 ? " is not counted: its binding is"
					 : "s are not counted: their bindings are");
	return true;
}

/* Returns the first program that itself has a function that the pattern matches, or NULL. */
static const char *owner_of(const struct fg_call_patterns *all,
			    const struct fg_trace_pattern *pattern)
{
	for (size_t i = 0; i < all->program_count; i++)
		if (has_its_own(all->programs[i], pattern))
			return fg_fs_base_name(all->programs[i]);
	return NULL;
}

static void explain_none(const struct fg_call_patterns *all, size_t index, struct fg_strbuf *text)
{
	const struct fg_trace_pattern *pattern = &all->patterns[index];
	const char *owner = owner_of(all, pattern);

	if (owner)
		fg_strbuf_printf(
			text,
			"%s calls the function directly, without a slot that could be redirected "
			"(%scompile the program with -finstrument-functions, or use "
			"measure.exact)",
			owner,
			all->entries_requested
				? ""
				: "count the function at its entry with --entries or "
				  "measure.entries, ");
	else if (is_builtin(pattern->text))
		fg_strbuf_printf(
			text,
			"no object imports the function%s%s: it is not used, or the compiler "
			"replaced it with instructions, which are not seen (-fno-builtin-%s "
			"keeps the calls)",
			pattern->exported_by ? " from " : "",
			pattern->exported_by ? fg_fs_base_name(pattern->exported_by) : "",
			pattern->text);
	else if (pattern->exported_by)
		fg_strbuf_printf(
			text,
			"no object imports the function from %s: it is not used, the compiler "
			"has inlined it, or it is called only inside that object",
			fg_fs_base_name(pattern->exported_by));
	else
		fg_strbuf_add_text(
			text,
			"no object exports or imports the function: it does not exist, or the "
			"compiler has inlined it (compile with -finstrument-functions, or use "
			"measure.exact)");
}

bool fg_call_patterns_explain(const struct fg_call_patterns *all, size_t index,
			      struct fg_strbuf *text)
{
	const struct fg_trace_pattern *pattern = &all->patterns[index];

	if (pattern->is_reached)
		return explain_rest(pattern, text);
	fg_strbuf_printf(text, "no call of '%s%s%s' is counted: ", pattern->text,
			 pattern->library[0] ? "@" : "", pattern->library);
	if (pattern->unresolved > 0)
		fg_strbuf_add_text(text, "the bindings of the function's imports are not certain");
	else
		explain_none(all, index, text);
	return true;
}

/* ---- entries ---- */

/* Ends of lines such as "12 functions are not counted at the entry: ...". */
static const char *const reasons[FG_ENTRY_REFUSALS] = {
	[FG_ENTRY_SHORT] =
		"the code is shorter than a jump, or may call or end within its first bytes",
	[FG_ENTRY_FIXED] = "the first instructions may not work at another address",
	[FG_ENTRY_INSIDE] = "other code may jump into the first instructions",
	[FG_ENTRY_UNBOUNDED] = "the extent of the code is not certain",
	[FG_ENTRY_OTHER_SIDE] =
		"the other side cannot count there, and both sides are counted alike",
	[FG_ENTRY_RUNTIME] = "the collector itself needs the code",
	[FG_ENTRY_OBJECT] =
		"the object switches stacks, modifies its own code, or could not be read",
	[FG_ENTRY_CHANGED] =
		"the object is not the one that was examined before the program started",
	[FG_ENTRY_LATE] = "another thread had already run, or another program started this one",
	[FG_ENTRY_SYSTEM] = "the code cannot be changed safely on this system",
	[FG_ENTRY_FULL] = "the table of counted functions is full",
};

bool fg_call_patterns_explain_entries(const struct fg_call_patterns *all, unsigned refusal,
				      struct fg_strbuf *text)
{
	const uint64_t count = refusal < FG_ENTRY_REFUSALS ? all->entries[refusal] : 0;
	const char *names = count ? all->entry_names[refusal] : NULL;

	if (count == 0)
		return false;
	if (refusal == FG_ENTRY_ACCEPTED) {
		fg_strbuf_printf(text, "%" PRIu64 " function%s counted at %s", count,
				 count == 1 ? " is" : "s are",
				 count == 1 ? "its entry" : "their entries");
		return true;
	}
	fg_strbuf_printf(text, "%" PRIu64 " function%s not counted at the entry: %s", count,
			 count == 1 ? " is" : "s are", reasons[refusal]);
	if (names && *names)
		fg_strbuf_printf(text, " (%s%s)", names, count > NAMES_MAX ? ", …" : "");
	return true;
}
