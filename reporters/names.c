// SPDX-License-Identifier: Apache-2.0
/*
 * C++ names can have any length: a function of the standard library easily has 300 characters, of
 * which a reader needs the 20 that identify it. A name that does not fit first loses its template
 * arguments (they repeat the types of the parameters), then its parameters, and only then its
 * middle: its beginning and end identify it best.
 */
#include "reporters/names.h"

#include "base/text.h"

#include <ctype.h>

#define ELLIPSIS "…"
#define ARROW    " → "

enum {
	CLEAN_LIMIT_BYTES = 128 * 1024
};

void fg_report_add_clean(struct fg_strbuf *text, const char *from, size_t limit)
{
	fg_text_add_clean(text, from, strlen(from), limit);
}

/* Is the bracket at `at` part of an operator's name (operator<, operator->, operator())? */
static bool is_operator_sign(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;
	size_t start = at;

	while (start > 0 && strchr("<>=-()", name[start - 1]))
		start--;
	if (start < length || strncmp(name + start - length, word, length) != 0)
		return false;
	/* "operator()(int)" and "operator< <int>": the second bracket opens arguments. */
	return !(name[at] == '(' && at > start);
}

/*
 * Returns the end of a bracketed scope that begins at `at`, as in "<u32 as PartialOrd>::lt" and
 * "reco::(anonymous namespace)::fit"; 0: no scope begins there.
 */
static size_t scope_end(const char *name, size_t at, char close)
{
	const bool can_begin = at == 0 || (name[at] == '(' && name[at - 1] == ':');
	size_t depth = 0;

	for (size_t i = at; can_begin && name[i]; i++) {
		depth += name[i] == name[at];
		depth -= name[i] == close;
		if (depth == 0)
			return fg_text_starts_with(name + i + 1, "::") ? i : 0;
	}
	return 0;
}

/*
 * Copies `name`, and replaces each part from `open` to its `close` by `filler` (brackets around an
 * ellipsis, or nothing). Bracketed scopes are kept; an unbalanced name is copied from the last open
 * bracket on.
 */
static void fold_brackets(struct fg_strbuf *text, const char *name, char open, char close,
			  const char *filler)
{
	size_t depth = 0;
	size_t folded_from = 0;

	for (size_t i = 0; name[i]; i++) {
		const bool sign =
			(name[i] == open || name[i] == close) && is_operator_sign(name, i);
		const size_t end = depth == 0 && name[i] == open ? scope_end(name, i, close) : 0;

		if (end > 0) {
			fg_strbuf_add(text, name + i, end - i + 1);
			i = end;
		} else if (name[i] == open && !sign) {
			if (depth++ == 0)
				folded_from = i;
		} else if (name[i] == close && !sign && depth > 0) {
			if (--depth == 0)
				fg_strbuf_add_text(text, filler);
		} else if (depth == 0) {
			fg_strbuf_add_char(text, name[i]);
		}
	}
	if (depth > 0)
		fg_strbuf_add_text(text, name + folded_from);
}

static void swap_in(struct fg_strbuf *name, struct fg_strbuf *shorter)
{
	const struct fg_strbuf old = *name;

	*name = *shorter;
	*shorter = old;
	fg_strbuf_clear(shorter);
}

/* Drops " const" at the end and, for a template, the return type at the beginning. */
static void add_without_result(struct fg_strbuf *text, const char *plain, bool is_template)
{
	static const char constant[] = " const";
	const bool is_whole = strstr(plain, "operator") || strchr(plain, '[');
	size_t end = strlen(plain);
	size_t from = 0;
	size_t depth = 0;

	if (!is_whole && fg_text_ends_with(plain, constant))
		end -= sizeof(constant) - 1;
	for (size_t i = 0; is_template && !is_whole && i + 1 < end; i++) {
		depth += plain[i] == '(' || plain[i] == '<';
		depth -= depth > 0 && (plain[i] == ')' || plain[i] == '>');
		if (depth == 0 && plain[i] == ' ')
			from = i + 1;
	}
	fg_strbuf_add(text, plain + from, end - from);
}

static void add_folded_name(struct fg_strbuf *text, const char *name, size_t columns, bool always,
			    const char *angle, const char *round)
{
	struct fg_strbuf now = {0};
	struct fg_strbuf shorter = {0};

	if (*name)
		fg_text_add_clean(&now, name, strlen(name), CLEAN_LIMIT_BYTES);
	else
		fg_strbuf_add_text(&now, "[no name]");
	if (always || (columns > 0 && fg_text_width(fg_strbuf_text(&now)) > columns)) {
		fold_brackets(&shorter, fg_strbuf_text(&now), '<', '>', angle);
		swap_in(&now, &shorter);
	}
	if (always || (columns > 0 && fg_text_width(fg_strbuf_text(&now)) > columns)) {
		fold_brackets(&shorter, fg_strbuf_text(&now), '(', ')', round);
		swap_in(&now, &shorter);
	}
	if (always) {
		add_without_result(&shorter, fg_strbuf_text(&now), strchr(name, '<') != NULL);
		swap_in(&now, &shorter);
	}
	fg_text_add_cut(text, fg_strbuf_text(&now), columns);
	fg_strbuf_release(&now);
	fg_strbuf_release(&shorter);
}

void fg_report_add_name(struct fg_strbuf *text, const char *name, size_t columns)
{
	add_folded_name(text, name, columns, false, "<" ELLIPSIS ">", "(" ELLIPSIS ")");
}

void fg_report_add_plain_name(struct fg_strbuf *text, const char *name, size_t columns)
{
	add_folded_name(text, name, columns, true, "", "");
}

/* The names in one list, each a member of a struct in an array. */
struct names {
	const void *first;
	size_t count;
	size_t stride; /* bytes from one struct to the next */
};

static const char *name_at(const struct names *names, size_t index)
{
	const char *name = NULL;

	memcpy(&name, (const char *)names->first + index * names->stride, sizeof(name));
	return name;
}

/* Unless `from` is 0, a shortened name keeps its beginning and the part at `from`. */
struct shortening {
	size_t columns;
	bool plain;
	size_t from;
};

static void add_shortened(struct fg_strbuf *text, const char *name, const struct shortening *how)
{
	const size_t head = fg_text_head(name, how->columns / 3);

	if (how->from > head) {
		fg_report_add_clean(text, name, head);
		fg_strbuf_add_text(text, ELLIPSIS);
		fg_report_add_name(text, name + how->from, how->columns - how->columns / 3 - 1);
	} else if (how->plain && how->from == 0) {
		fg_report_add_plain_name(text, name, how->columns);
	} else {
		fg_report_add_name(text, name, how->columns);
	}
}

/*
 * Returns the position of the first difference from another name that would look the same; SIZE_MAX
 * if no other name would look the same.
 */
static size_t first_confusion(const struct names *names, const char *name, const char *shown,
			      const struct shortening *how)
{
	struct fg_strbuf other = {0};
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < names->count; i++) {
		size_t same = 0;

		if (name_at(names, i)[0] != name[0] || strcmp(name_at(names, i), name) == 0)
			continue;
		fg_strbuf_clear(&other);
		add_shortened(&other, name_at(names, i), how);
		if (strcmp(fg_strbuf_text(&other), shown) != 0)
			continue;
		while (name[same] && name_at(names, i)[same] == name[same])
			same++;
		first = fg_min_size(first, same);
	}
	fg_strbuf_release(&other);
	return first;
}

static size_t word_start(const char *name, size_t at)
{
	while (at > 0 && ((unsigned char)name[at] & 0xC0U) == 0x80U)
		at--;
	while (at > 0 && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_'))
		at--;
	return at;
}

static void add_distinct(struct fg_strbuf *text, const struct names *names, const char *name,
			 size_t columns, bool plain)
{
	struct shortening how = {.columns = columns, .plain = plain};
	struct fg_strbuf shown = {0};
	size_t differs = 0;

	add_shortened(&shown, name, &how);
	differs = first_confusion(names, name, fg_strbuf_text(&shown), &how);
	if (differs != SIZE_MAX) {
		how.from = word_start(name, differs);
		fg_strbuf_clear(&shown);
		add_shortened(&shown, name, &how);
		differs = first_confusion(names, name, fg_strbuf_text(&shown), &how);
	}
	if (differs != SIZE_MAX) {
		fg_strbuf_clear(&shown);
		fg_report_add_name(&shown, name, 0);
	}
	fg_strbuf_add(text, fg_strbuf_text(&shown), shown.length);
	fg_strbuf_release(&shown);
}

void fg_report_add_function_name(struct fg_strbuf *text, const struct fg_blame *blame,
				 const struct fg_node_verdict *node, size_t columns, bool plain)
{
	const struct names names = {
		.first = &blame->functions[0].name,
		.count = blame->function_count,
		.stride = sizeof(blame->functions[0]),
	};

	add_distinct(text, &names, node->name, columns, plain);
}

void fg_report_add_benchmark_name(struct fg_strbuf *text, const struct fg_verdict *verdict,
				  const struct fg_benchmark_verdict *benchmark, size_t columns)
{
	const struct names names = {
		.first = &verdict->benchmarks[0].name,
		.count = verdict->benchmark_count,
		.stride = sizeof(verdict->benchmarks[0]),
	};

	add_distinct(text, &names, benchmark->name, columns, false);
}

/* Returns the number of startup frames above main or a thread's function. */
static size_t frames_before_main(const struct fg_path_verdict *path)
{
	static const char *const starters[] = {"_start",
					       "__libc_start_main",
					       "__libc_start_call_main",
					       "clone",
					       "clone3",
					       "start_thread",
					       NULL};
	size_t at = 0;

	while (at + 1 < path->frame_count) {
		size_t i = 0;

		while (starters[i] && !fg_text_starts_with(path->frames[at], starters[i]))
			i++;
		if (!starters[i])
			break;
		at++;
	}
	return at;
}

/* Appends the path from frame `first` on, omitting the `left_out` frames after it. */
static void add_path_without(struct fg_strbuf *text, const struct fg_path_verdict *path,
			     size_t first, size_t left_out)
{
	enum {
		FRAME_COLUMNS = 40
	};

	for (size_t i = first; i < path->frame_count; i++) {
		if (i > first)
			fg_strbuf_add_text(text, ARROW);
		if (left_out > 0 && i == first + 1) {
			fg_strbuf_add_text(text, ELLIPSIS ARROW);
			i += left_out;
		}
		fg_report_add_plain_name(text, path->frames[i], FRAME_COLUMNS);
	}
}

void fg_report_add_path(struct fg_strbuf *text, const struct fg_path_verdict *path, size_t columns)
{
	const size_t first = frames_before_main(path);
	const size_t most = path->frame_count > first + 2 ? path->frame_count - first - 2 : 0;
	struct fg_strbuf whole = {0};
	size_t left_out = most > 5 ? most - 5 : 0; /* one line shows at most seven frames */

	for (;; left_out++) {
		fg_strbuf_clear(&whole);
		add_path_without(&whole, path, first, left_out);
		if (columns == 0 || left_out >= most ||
		    fg_text_width(fg_strbuf_text(&whole)) <= columns)
			break;
	}
	fg_text_add_cut(text, fg_strbuf_text(&whole), columns);
	fg_strbuf_release(&whole);
}

void fg_report_add_place(struct fg_strbuf *text, const struct fg_node_verdict *node, bool whole)
{
	const char *file = node->file;

	if (!file || !*file)
		return;
	if (!whole && strrchr(file, '/') && strrchr(file, '/')[1])
		file = strrchr(file, '/') + 1;
	fg_report_add_clean(text, file, 4096);
	if (node->line > 0)
		fg_strbuf_printf(text, ":%u", node->line);
}
