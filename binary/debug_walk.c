// SPDX-License-Identifier: Apache-2.0
/*
 * The part of the debug index that uses libdw: finds the units of a file, and walks one unit at a
 * time.
 *
 * A walk goes over a unit's entries in order. Functions and inlined copies with code become scopes;
 * their address ranges are put on a list and, at the end, cut into segments that do not overlap.
 * The ranges are sorted by start, longer ones first. A stack of open ranges represents the nesting,
 * and each boundary closes a segment of the innermost range.
 *
 *	f:  |--------------|        f calls g, inlined; g calls h, inlined
 *	g:      |-------|
 *	h:        |--|
 *	→   f   g  h  g   f
 */
#include "base/pair_index.h"
#include "base/sort.h"
#include "binary/debug_index.h"
#include "binary/debug_scopes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	MAX_DEPTH = 200,
	MAX_UNITS = 1 << 20,
	MAX_RANGES = 1 << 24,
	MAX_SCOPES = 1 << 26
};

struct fg_debug_file {
	int fd;
	Dwarf *dwarf;
	struct fg_pair_index functions; /* address of an entry → index of its function */
};

struct piece {
	uint64_t start, end;
	uint32_t scope; /* index + 1 */
};

struct walk {
	struct fg_debug_index *index;
	Dwarf_CU *cu; /* the unit being walked, and its files */
	Dwarf_Files *files;
	size_t file_count;
	uint32_t *file_texts; /* offset of the text + 1; 0: not looked up yet */
	struct piece *pieces;
	size_t piece_count, piece_capacity;
	struct fg_debug_scopes scopes;
};

int fg_debug_file_open(struct fg_debug_index *index, struct fg_error *err)
{
	int fd = open(index->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Dwarf *dwarf;

	if (fd < 0)
		return fg_error_errno(err, FG_ENOENT, "cannot open '%s'", index->path);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!dwarf) {
		(void)close(fd);
		return fg_error_set(err, FG_EPARSE, "%s: %s", index->path, dwarf_errmsg(-1));
	}
	index->file = fg_xcalloc(1, sizeof(*index->file));
	index->file->fd = fd;
	index->file->dwarf = dwarf;
	return FG_OK;
}

void fg_debug_file_close(struct fg_debug_index *index)
{
	if (!index->file)
		return;
	(void)dwarf_end(index->file->dwarf);
	(void)close(index->file->fd);
	fg_pair_index_release(&index->file->functions);
	free(index->file);
	index->file = NULL;
}

/* ----------------------------------------------------------------------- units */

static void add_range(struct fg_debug_index *index, uint32_t unit, uint64_t start, uint64_t end)
{
	if (start >= end || start == 0 || index->range_count >= MAX_RANGES)
		return; /* start 0: code that the linker dropped */
	FG_APPEND(index->ranges, index->range_count, index->range_capacity) =
		(struct fg_debug_range){.start = start, .end = end, .unit = unit};
}

int fg_debug_find_units(struct fg_debug_index *index, struct fg_error *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die entry;

	while (dwarf_get_units(index->file->dwarf, cu, &cu, NULL, NULL, &entry, NULL) == 0) {
		size_t ranges_before = index->range_count;
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		if (index->unit_count >= MAX_UNITS)
			return fg_error_set(err, FG_ELIMIT, "%s has more than %d compilation units",
					    index->path, MAX_UNITS);
		while ((at = dwarf_ranges(&entry, at, &base, &start, &end)) > 0)
			add_range(index, (uint32_t)index->unit_count, start, end);
		if (index->range_count == ranges_before)
			continue;
		FG_APPEND(index->units, index->unit_count, index->unit_capacity) =
			(struct fg_debug_unit){.entry = dwarf_dieoffset(&entry)};
	}
	return FG_OK;
}

/* ------------------------------------------------------------------- functions */

static const char *text_of(Dwarf_Die *entry, unsigned attribute)
{
	Dwarf_Attribute at;

	return dwarf_attr_integrate(entry, attribute, &at) ? dwarf_formstring(&at) : NULL;
}

static unsigned number_of(Dwarf_Die *entry, unsigned attribute)
{
	Dwarf_Attribute at;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(entry, attribute, &at) || dwarf_formudata(&at, &value) != 0)
		return 0;
	return value <= UINT32_MAX ? (unsigned)value : 0;
}

/*
 * Finds the entry that names the function: an inlined copy or an out-of-line body points to it. A
 * constructor or destructor has several bodies (complete, base, deleting), each with its own
 * linkage name.
 */
static void find_origin(Dwarf_Die *entry, Dwarf_Die *origin)
{
	Dwarf_Attribute at;

	*origin = *entry;
	if (!dwarf_hasattr(entry, DW_AT_linkage_name) &&
	    dwarf_attr(entry, DW_AT_abstract_origin, &at))
		(void)dwarf_formref_die(&at, origin);
}

/*
 * Drops the "./" that -ffile-prefix-map=DIR=. leaves in "./table.c".
 */
static const char *without_dot(const char *path)
{
	return path && path[0] == '.' && path[1] == '/' && path[2] != '\0' ? path + 2 : path;
}

static uint32_t file_text(struct walk *w, size_t file)
{
	if (file >= w->file_count)
		return 0;
	if (w->file_texts[file] == 0)
		w->file_texts[file] =
			fg_debug_add_text(w->index,
					  without_dot(dwarf_filesrc(w->files, file, NULL, NULL))) +
			1;
	return w->file_texts[file] - 1;
}

/*
 * Returns the file that declares a function. dwarf_decl_file() would assert that the unit has a
 * table of files, which a unit of an untrusted binary may lack.
 */
static uint32_t declared_in(struct walk *w, Dwarf_Die *entry)
{
	Dwarf_Attribute at;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr_integrate(entry, DW_AT_decl_file, &at) ||
	    dwarf_formudata(&at, &number) != 0)
		return 0;
	if (at.cu == w->cu)
		return file_text(w, (size_t)number);
	if (!dwarf_cu_die(at.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return 0;
	return fg_debug_add_text(w->index,
				 without_dot(dwarf_filesrc(files, (size_t)number, NULL, NULL)));
}

/* Adds the function's name to the texts, with its scope if it lacks a linkage name. */
static uint32_t name_text(struct walk *w, Dwarf_Die *origin, bool with_scope)
{
	const char *name = text_of(origin, DW_AT_name);
	const char *scope = name && with_scope ? fg_debug_scope_of(&w->scopes, origin) : "";
	struct fg_strbuf whole = {0};
	uint32_t text;

	if (!*scope)
		return fg_debug_add_text(w->index, name);
	fg_strbuf_printf(&whole, "%s::%s", scope, name);
	text = fg_debug_add_text(w->index, fg_strbuf_text(&whole));
	fg_strbuf_release(&whole);
	return text;
}

static uint32_t function_of(struct walk *w, Dwarf_Die *entry)
{
	struct fg_debug_index *index = w->index;
	struct fg_debug_function *function;
	const char *linkage;
	Dwarf_Die origin;
	uint64_t key;
	uint32_t *place;
	bool is_new;

	find_origin(entry, &origin);
	key = (uint64_t)(uintptr_t)origin.addr;
	place = fg_pair_index_add(&index->file->functions, (uint32_t)(key >> 32), (uint32_t)key,
				  (uint32_t)index->function_count, &is_new);
	if (!is_new)
		return *place;
	linkage = text_of(&origin, DW_AT_linkage_name);
	if (!linkage)
		linkage = text_of(&origin, DW_AT_MIPS_linkage_name);
	function = &FG_APPEND(index->functions, index->function_count, index->function_capacity);
	function->name = name_text(w, &origin, linkage == NULL);
	function->linkage = fg_debug_add_text(index, linkage);
	function->file = declared_in(w, &origin);
	function->line = number_of(&origin, DW_AT_decl_line);
	function->readable = 0;
	function->reserved = 0;
	return (uint32_t)(index->function_count - 1);
}

static uint32_t direct_number(Dwarf_Die *entry, unsigned attribute)
{
	Dwarf_Attribute at;
	Dwarf_Word value;

	if (!dwarf_attr(entry, attribute, &at) || dwarf_formudata(&at, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* --------------------------------------------------------------------- scopes */

/* Returns the new scope + 1, or `around` if the entry has no code. */
static uint32_t add_scope(struct walk *w, Dwarf_Die *entry, uint32_t around, bool inlined)
{
	struct fg_debug_index *index = w->index;
	struct fg_debug_scope scope = {0};
	Dwarf_Addr base, start, end;
	size_t before = w->piece_count;
	ptrdiff_t at = 0;

	if (index->scope_count >= MAX_SCOPES)
		return around;
	while ((at = dwarf_ranges(entry, at, &base, &start, &end)) > 0) {
		if (start >= end || start == 0 || w->piece_count >= MAX_RANGES)
			continue;
		FG_APPEND(w->pieces, w->piece_count, w->piece_capacity) = (struct piece){
			.start = start, .end = end, .scope = (uint32_t)index->scope_count + 1};
	}
	if (w->piece_count == before)
		return around;
	scope.function = function_of(w, entry);
	if (inlined) {
		scope.parent = around;
		scope.call_file = file_text(w, direct_number(entry, DW_AT_call_file));
		scope.call_line = direct_number(entry, DW_AT_call_line);
	}
	FG_APPEND(index->scopes, index->scope_count, index->scope_capacity) = scope;
	return (uint32_t)index->scope_count;
}

/* Handles one entry. Returns true if its children are to be visited, in the scope `around`. */
static bool visit(struct walk *w, Dwarf_Die *entry, uint32_t *around)
{
	uint32_t before = *around;

	switch (dwarf_tag(entry)) {
	case DW_TAG_subprogram:
		*around = add_scope(w, entry, 0, false);
		return *around != 0; /* a declaration or an abstract body has no code inside */
	case DW_TAG_inlined_subroutine:
		*around = add_scope(w, entry, before, true);
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*around = 0;
		return true;
	default:
		return false;
	}
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t around, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(parent, &child) != 0)
		return;
	do {
		uint32_t scope = around;

		if (visit(w, &child, &scope))
			walk_children(w, &child, scope, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* -------------------------------------------------------------------- segments */

FG_ORDER_BY(outer_first, struct piece, FG_UP(start), FG_DOWN(end), FG_UP(scope))

static void add_segment(struct fg_debug_index *index, struct fg_debug_unit *unit, uint64_t start,
			uint32_t scope)
{
	struct fg_debug_segment *last;

	if (unit->segment_count > 0) {
		last = &index->segments[index->segment_count - 1];
		if (last->start == start) {
			last->scope = scope;
			return;
		}
		if (last->scope == scope)
			return;
	}
	FG_APPEND(index->segments, index->segment_count, index->segment_capacity) =
		(struct fg_debug_segment){.start = start, .scope = scope};
	unit->segment_count++;
}

static void cut_segments(struct walk *w, struct fg_debug_unit *unit)
{
	struct fg_debug_index *index = w->index;
	uint32_t *open = fg_xcalloc(w->piece_count + 1, sizeof(open[0])); /* indexes of pieces */
	size_t depth = 0;

	if (w->piece_count > 0)
		qsort(w->pieces, w->piece_count, sizeof(w->pieces[0]), outer_first);
	unit->first_segment = (uint32_t)index->segment_count;
	for (size_t i = 0; i <= w->piece_count; i++) {
		uint64_t start = i < w->piece_count ? w->pieces[i].start : UINT64_MAX;

		while (depth > 0 && w->pieces[open[depth - 1]].end <= start) {
			uint64_t end = w->pieces[open[--depth]].end;

			/* a piece that ended before a nested one does not resume */
			while (depth > 0 && w->pieces[open[depth - 1]].end <= end)
				depth--;
			add_segment(index, unit, end, depth ? w->pieces[open[depth - 1]].scope : 0);
		}
		if (i == w->piece_count)
			break;
		open[depth++] = (uint32_t)i;
		add_segment(index, unit, start, w->pieces[i].scope);
	}
	free(open);
}

/* ----------------------------------------------------------------------- lines */

static void add_line(struct fg_debug_index *index, struct fg_debug_unit *unit, uint64_t start,
		     uint32_t file, uint32_t line)
{
	if (unit->line_count > 0) {
		struct fg_debug_line *last = &index->lines[index->line_count - 1];

		if (last->start == start) { /* the last of several rows at one address wins */
			last->file = file;
			last->line = line;
			return;
		}
		if (last->file == file && last->line == line)
			return;
	}
	FG_APPEND(index->lines, index->line_count, index->line_capacity) =
		(struct fg_debug_line){.start = start, .file = file, .line = line};
	unit->line_count++;
}

/* Adds the unit's lines. Adjacent rows share the pointer to their file's name: look it up once. */
static void add_lines(struct walk *w, Dwarf_Die *unit_entry, struct fg_debug_unit *unit)
{
	const char *last_name = NULL;
	uint32_t last_text = 0;
	Dwarf_Lines *lines;
	size_t count;

	unit->first_line = (uint32_t)w->index->line_count;
	if (dwarf_getsrclines(unit_entry, &lines, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		const char *name;
		bool ends = false;
		int number = 0;

		if (!row || dwarf_lineaddr(row, &address) != 0 ||
		    dwarf_lineendsequence(row, &ends) != 0 || dwarf_lineno(row, &number) != 0)
			continue;
		name = ends ? NULL : dwarf_linesrc(row, NULL, NULL);
		if (name && name != last_name) {
			last_name = name;
			last_text = fg_debug_add_text(w->index, without_dot(name));
		}
		add_line(w->index, unit, address, name ? last_text : 0,
			 name && number > 0 ? (uint32_t)number : 0);
	}
}

static bool find_entry(struct fg_debug_index *index, uint32_t unit, Dwarf_Die *entry)
{
	if (!index->file && (fg_debug_file_open(index, NULL) != FG_OK || !index->file))
		return false;
	return dwarf_offdie(index->file->dwarf, index->units[unit].entry, entry) != NULL;
}

void fg_debug_walk_unit(struct fg_debug_index *index, uint32_t number)
{
	struct fg_debug_unit *unit = &index->units[number];
	struct walk w = {.index = index};
	Dwarf_Die entry;
	Dwarf_Die root;
	Dwarf_Die split = {0};
	uint8_t type = 0;

	unit->indexed = true; /* a unit that cannot be read is not tried again */
	index->changed = true;
	if (!find_entry(index, number, &entry))
		return;
	/*
	 * with split DWARF, the skeleton has the ranges and lines; the .dwo file has the functions
	 */
	root = entry;
	if (dwarf_cu_info(entry.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton) {
		if (split.addr)
			root = split;
		else
			index->units_without_split++;
	}
	w.cu = root.cu;
	w.scopes.unit = &root;
	if (dwarf_getsrcfiles(&root, &w.files, &w.file_count) != 0)
		w.file_count = 0;
	w.file_texts = fg_xcalloc(w.file_count + 1, sizeof(w.file_texts[0]));
	walk_children(&w, &root, 0, 0);
	cut_segments(&w, unit);
	add_lines(&w, &entry, unit);
	fg_debug_scopes_release(&w.scopes);
	free(w.pieces);
	free(w.file_texts);
}
