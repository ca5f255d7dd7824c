// SPDX-License-Identifier: Apache-2.0
/*
 * A trace has two kinds of addresses. Where the program was interrupted (the leaf, or the caller of
 * a signal handler), the address is the current instruction. Every other address is a return
 * address: the instruction after the call, which may belong to another line, another inlined copy,
 * or even the next function if the call never returns. So return addresses are looked up one byte
 * earlier. The trace marks the kind of each address.
 */
#include "base/fs.h"
#include "base/hash.h"
#include "base/radix_sort.h"
#include "binary/python_lines.h"
#include "profile/trace_private.h"

static void add_module(struct fg_trace_joiner *j, size_t i)
{
	const struct fg_trace_module *module = &j->trace->modules[i];
	char hex[FG_BUILD_ID_TEXT] = "";
	struct fg_module_info *info;

	if (!(module->flags & FG_MODULE_KERNEL))
		j->modules[i] = fg_symbolizer_module(j->symbolizer, module->path, module->build_id,
						     module->build_id_size,
						     (module->flags & FG_MODULE_VDSO) != 0);
	if (module->build_id_size > 0)
		fg_hex(module->build_id, module->build_id_size, hex);
	info = fg_profile_add_module(j->profile);
	info->path = fg_profile_text(j->profile, module->path);
	info->name = j->modules[i]
			     ? fg_profile_text(j->profile, fg_symbol_module_name(j->modules[i]))
			     : info->path;
	info->build_id = fg_profile_text(j->profile, hex);
	info->start = module->start;
	info->end = module->end;
	info->process = j->process;
	info->is_kernel = (module->flags & FG_MODULE_KERNEL) != 0;
	j->module_of[i] = (uint32_t)j->profile->module_count - 1;
	j->file_of[i] = fg_profile_module_file(j->profile, j->module_of[i]);
	if (j->modules[i] && fg_symbol_module_is_bad(j->modules[i]))
		fg_profile_add_note(j->profile, "%s: functions have no names: %s", info->name,
				    fg_symbol_module_source(j->modules[i]));
}

void fg_trace_add_modules(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;

	j->modules = fg_xcalloc(trace->module_count + 1, sizeof(struct fg_symbol_module *));
	j->module_of = fg_xcalloc(trace->module_count + 1, sizeof(j->module_of[0]));
	j->file_of = fg_xcalloc(trace->module_count + 1, sizeof(j->file_of[0]));
	for (size_t i = 1; i < trace->module_count; i++)
		if (trace->modules[i].defined)
			add_module(j, i);
}

static uint32_t frame_of_symbol(struct fg_trace_joiner *j, const struct fg_symbol *symbol,
				const char *library, uint32_t module, uint64_t address)
{
	const struct fg_profile_function function = {
		.name = symbol->function->name,
		.linkage = symbol->function->linkage,
		.library = library,
		.file = symbol->function->file,
		.line = symbol->function->line,
		.inlined = (symbol->flags & FG_FRAME_INLINED) != 0,
	};
	const struct fg_frame frame = {
		.function = fg_profile_function(j->profile, &function),
		.line = symbol->at_line,
		.file = symbol->at_file,
		.address = address,
		.module = module,
		.flags = symbol->flags,
	};

	return fg_profile_frame(j->profile, &frame);
}

static void push_frame(struct fg_trace_joiner *j, struct fg_trace_frames *of, uint32_t frame)
{
	FG_APPEND(j->frames, j->frame_count, j->frame_capacity) = frame;
	of->count++;
}

uint32_t fg_trace_mark_frame(struct fg_trace_joiner *j, const char *text, uint32_t flags)
{
	const struct fg_symbol_function function = {.name = text};
	const struct fg_symbol mark = {.function = &function, .flags = flags};

	return frame_of_symbol(j, &mark, "", 0, 0);
}

bool fg_trace_is_of_kernel(const struct fg_trace *trace, uint32_t module)
{
	return module < trace->module_count &&
	       (trace->modules[module].flags & FG_MODULE_KERNEL) != 0;
}

/*
 * The kernel's functions were named on the recorded host: the kernel is not in a file, and its
 * addresses may change with each boot.
 */
static const char *kernel_name(const struct fg_trace *trace, const struct fg_trace_address *at)
{
	return fg_trace_symbol_at(trace, at->module, at->offset - !(at->exact || at->offset == 0));
}

static uint32_t kernel_frame(struct fg_trace_joiner *j, const struct fg_trace_address *at)
{
	const char *library = j->trace->modules[at->module].path;
	const struct fg_symbol_function function = {.name = kernel_name(j->trace, at)};
	const struct fg_symbol symbol = {.function = &function, .flags = FG_FRAME_KERNEL};

	if (!function.name)
		return fg_trace_mark_frame(j, library, FG_FRAME_KERNEL);
	return frame_of_symbol(j, &symbol, library, j->file_of[at->module], at->offset);
}

/* Makes a Python frame. All instructions of a line share one address, so frames differ by line. */
static uint32_t python_frame(struct fg_trace_joiner *j, const struct fg_trace_address *at)
{
	const struct fg_trace_code *code = &j->trace->codes[at->code];
	const struct fg_symbol_function function = {
		.name = code->name, .file = code->file, .line = code->line};
	const unsigned line =
		fg_python_line(code->lines, code->lines_size, code->line, (uint32_t)at->offset);
	const struct fg_symbol symbol = {
		.function = &function,
		.at_file = line ? code->file : NULL,
		.at_line = line,
	};

	return frame_of_symbol(j, &symbol, fg_python_file_name(code->file), 0, 0);
}

static void look_up(struct fg_trace_joiner *j, uint32_t address)
{
	const struct fg_trace_address *at = &j->trace->frames[address];
	struct fg_trace_frames *of = &j->frames_of[address];
	struct fg_symbol_module *module = NULL;
	const struct fg_symbol *chain;
	uint32_t module_index = 0;
	uint64_t offset = at->offset;
	size_t count;

	of->first = (uint32_t)j->frame_count;
	if (at->code && at->code < j->trace->code_count && j->trace->codes[at->code].name) {
		push_frame(j, of, python_frame(j, at));
		return;
	}
	if (!at->defined || at->code) {
		push_frame(j, of, fg_trace_mark_frame(j, "[unknown]", FG_FRAME_MARK));
		return;
	}
	if (fg_trace_is_of_kernel(j->trace, at->module)) {
		push_frame(j, of, kernel_frame(j, at));
		return;
	}
	if (at->module != 0 && at->module < j->trace->module_count)
		module = j->modules[at->module];
	if (module)
		module_index = j->file_of[at->module];
	else
		module = fg_symbolizer_jit(j->symbolizer, j->trace->header.pid);
	if (!at->exact && offset > 0)
		offset--;
	count = fg_symbolizer_find(j->symbolizer, module, offset, &chain);
	for (size_t i = 0; i < count; i++)
		push_frame(j, of,
			   frame_of_symbol(j, &chain[i], fg_symbol_module_name(module),
					   module_index, at->offset));
}

/* Returns the addresses of the trace, keyed by module and offset. */
static struct fg_keyed *order_addresses(const struct fg_trace *trace, size_t *count)
{
	struct fg_keyed *order = fg_xcalloc(trace->frame_count + 1, sizeof(order[0]));

	*count = 0;
	for (size_t i = 1; i < trace->frame_count; i++)
		order[(*count)++] =
			(struct fg_keyed){.key = trace->frames[i].offset, .value = (uint32_t)i};
	fg_keyed_sort(order, *count);
	for (size_t i = 0; i < *count; i++)
		order[i].key = trace->frames[order[i].value].module;
	fg_keyed_sort(order, *count);
	return order;
}

/*
 * Looks addresses up by module and offset: neighbours share a unit's tables, which is several times
 * faster than in order of arrival.
 */
void fg_trace_look_up(struct fg_trace_joiner *j)
{
	size_t count;
	struct fg_keyed *order = order_addresses(j->trace, &count);
	size_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t module = order[i].key;

		if (i == end) {
			while (end < count && order[end].key == module)
				end++;
			if (module > 0 && module < j->trace->module_count && j->modules[module])
				fg_symbolizer_expect(j->modules[module], end - i);
		}
		look_up(j, order[i].value);
	}
	free(order);
}

void fg_trace_note_missing_units(const struct fg_trace_joiner *j)
{
	for (size_t i = 1; i < j->trace->module_count; i++) {
		const struct fg_symbol_module *module = j->modules[i];
		const size_t count = module ? fg_symbol_module_missing_units(module) : 0;

		if (count > 0)
			fg_profile_add_note(
				j->profile,
				"%s: inlined functions of %zu source file%s are not shown: their "
				"split debug information (.dwo) is no longer where the compiler "
				"put it, and .dwp packages are not read",
				fg_symbol_module_name(module), count, count == 1 ? "" : "s");
	}
}

static struct fg_trace_frames frames_of(const struct fg_trace_joiner *j, uint32_t address)
{
	static const struct fg_trace_frames none;

	return address < j->trace->frame_count ? j->frames_of[address] : none;
}

/*
 * Returns true for the collector's frame between a timed function and its caller: the collector
 * makes the call.
 */
static bool is_wrapper(const struct fg_trace *trace, const struct fg_trace_path *path)
{
	const uint32_t module =
		path->frame < trace->frame_count ? trace->frames[path->frame].module : 0;

	return trace->pattern_count > 0 && module < trace->module_count &&
	       (trace->modules[module].flags & FG_MODULE_COLLECTOR);
}

static bool is_of_interpreter(const struct fg_trace *trace, const struct fg_trace_path *path)
{
	const struct fg_trace_address *at =
		path->frame < trace->frame_count ? &trace->frames[path->frame] : NULL;

	return at && at->defined && !at->code && at->module < trace->module_count &&
	       trace->modules[at->module].is_python;
}

static bool is_of_python(const struct fg_trace *trace, const struct fg_trace_path *path)
{
	return path->frame < trace->frame_count && trace->frames[path->frame].code != 0;
}

static bool is_nameless_kernel(const struct fg_trace *trace, uint32_t path)
{
	const struct fg_trace_address *at = NULL;

	if (path >= trace->path_count || trace->paths[path].frame >= trace->frame_count)
		return false;
	at = &trace->frames[trace->paths[path].frame];
	return at->defined && fg_trace_is_of_kernel(trace, at->module) && !kernel_name(trace, at);
}

/*
 * Returns true for a nameless kernel frame below another nameless frame: without names, the kernel
 * is one frame of any depth.
 */
static bool is_shown_by_parent(const struct fg_trace *trace, const struct fg_trace_path *path)
{
	return path->frame < trace->frame_count &&
	       fg_trace_is_of_kernel(trace, trace->frames[path->frame].module) &&
	       is_nameless_kernel(trace, path->parent) &&
	       !kernel_name(trace, &trace->frames[path->frame]);
}

static uint32_t push_path(struct fg_trace_joiner *j, uint32_t stack,
			  const struct fg_trace_path *path)
{
	struct fg_trace_frames of;
	char text[64];

	if (!path->defined) {
		j->unknown_paths++;
		return fg_profile_stack(j->profile, stack,
					fg_trace_mark_frame(j, "[unknown]", FG_FRAME_MARK));
	}
	if (path->frame == 0) {
		(void)snprintf(text, sizeof(text), "[%u frames left out]", path->left_out);
		return fg_profile_stack(j->profile, stack,
					fg_trace_mark_frame(j, text, FG_FRAME_MARK));
	}
	if (is_wrapper(j->trace, path) || is_shown_by_parent(j->trace, path))
		return stack;
	of = frames_of(j, path->frame);
	for (uint32_t i = 0; i < of.count; i++)
		stack = fg_profile_stack(j->profile, stack, j->frames[of.first + i]);
	return stack;
}

/*
 * The interpreter's own frames between two Python functions, or below a Python function, show how
 * Python works, not what the program does: their time belongs to the Python line. They stay
 * where no Python function is next to them, for example before the first one begins.
 */
static struct fg_trace_place place_path(struct fg_trace_joiner *j,
					const struct fg_trace_place *caller,
					const struct fg_trace_path *path)
{
	const uint32_t below = caller->stack - 1;
	struct fg_trace_place place = {0};

	if (path->defined && is_of_interpreter(j->trace, path)) {
		place.base = caller->base;
		place.in_python = caller->in_python;
		place.stack = (caller->in_python ? below : push_path(j, below, path)) + 1;
		return place;
	}
	place.in_python = path->defined && is_of_python(j->trace, path);
	place.base = push_path(j, place.in_python ? caller->base : below, path);
	place.stack = place.base + 1;
	return place;
}

/*
 * Walks up to the first path whose stack is known, then down again. `trail` has room for every
 * path; a damaged trace may have a cycle, which ends when the trail is full.
 */
uint32_t fg_trace_stack(struct fg_trace_joiner *j, uint32_t leaf, uint32_t *trail)
{
	size_t limit = j->trace->path_count;
	struct fg_trace_place place = {.stack = j->base_stack + 1, .base = j->base_stack};
	uint32_t path = leaf;
	size_t depth = 0;

	while (path != 0 && path < j->trace->path_count && depth < limit) {
		if (j->places[path].stack) {
			place = j->places[path];
			break;
		}
		trail[depth++] = path;
		path = j->trace->paths[path].parent;
	}
	while (depth-- > 0) {
		place = place_path(j, &place, &j->trace->paths[trail[depth]]);
		j->places[trail[depth]] = place;
	}
	return place.stack - 1;
}
