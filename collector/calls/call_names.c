// SPDX-License-Identifier: Apache-2.0
/* Matches names as users write them: "Parser::parse" stands for every overload. */
#include "collector/calls/domains.h"
#include "collector/process/real.h"

#include <string.h>

struct fg_call_pattern fg_call_patterns[FG_CALL_PATTERNS_MAX];
uint32_t fg_call_pattern_count;

/* `*` stands for any text, `?` for one character. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL;
	const char *from = text;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text || *pattern == '?') {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static bool copy(char *to, size_t room, const char *text, size_t size)
{
	if (size >= room)
		return false;
	memcpy(to, text, size);
	return true;
}

/* Returns the length of an item from `from` to `@`, `=` or the item's end. */
static size_t part_size(const char *item, size_t size, size_t from)
{
	size_t at = from;

	while (at < size && item[at] != '@' && item[at] != '=')
		at++;
	return at - from;
}

/* Reads NAME, then @LIBRARY and =SIGNATURE in any order. */
static bool read_pattern(const char *item, size_t size, struct fg_call_pattern *pattern)
{
	size_t at = part_size(item, size, 0);

	if (at == 0 || !copy(pattern->text, sizeof(pattern->text), item, at))
		return false;
	while (at < size) {
		const bool is_library = item[at] == '@';
		const size_t part = part_size(item, size, at + 1);

		if (!copy(is_library ? pattern->library : pattern->signature,
			  is_library ? sizeof(pattern->library) : sizeof(pattern->signature),
			  item + at + 1, part))
			return false;
		at += 1 + part;
	}
	pattern->is_exact = !strchr(pattern->text, '*') && !strchr(pattern->text, '?');
	return true;
}

static bool add_pattern(const char *item, size_t size, bool with_domains)
{
	struct fg_call_pattern *pattern = &fg_call_patterns[fg_call_pattern_count];

	if (size == 0)
		return true;
	if (fg_call_pattern_count == FG_CALL_PATTERNS_MAX)
		return false;
	*pattern = (struct fg_call_pattern){.with_domains = with_domains};
	if (!read_pattern(item, size, pattern))
		return false;
	fg_call_pattern_count++;
	return true;
}

/* Adds patterns for every function of libm and libmvec with a known signature. */
static bool add_libm(void)
{
	static const char *const items[] = {"*@libm", "_ZGV*@libmvec"};
	bool all = true;

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		all &= add_pattern(items[i], strlen(items[i]), true);
		fg_call_patterns[fg_call_pattern_count - 1].only_known = true;
	}
	return all;
}

/* Returns the length up to the next comma outside parentheses. */
static size_t item_size(const char *list)
{
	size_t size = 0;
	unsigned depth = 0;

	for (; list[size] && (list[size] != ',' || depth > 0); size++) {
		depth += list[size] == '(';
		depth -= depth > 0 && list[size] == ')';
	}
	return size;
}

bool fg_call_patterns_add(const char *list, bool with_domains)
{
	bool all = true;

	while (*list) {
		const size_t size = item_size(list);

		if (with_domains && size == 4 && strncmp(list, "libm", size) == 0)
			all &= add_libm();
		else
			all &= add_pattern(list, size, with_domains);
		list += size + (list[size] == ',');
	}
	return all;
}

static bool means(const struct fg_call_pattern *pattern, const char *readable)
{
	struct fg_signature signature;

	return matches(pattern->text, readable) &&
	       (!pattern->only_known || fg_signature_find(readable, &signature));
}

static bool is_from(const struct fg_call_pattern *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const bool is_within_libc = fg_is_musl() && strcmp(pattern->library, "libm") == 0;
	const char *library = is_within_libc ? "ld" : pattern->library; /* ld-musl-x86_64.so.1 */
	const size_t size = strlen(library);

	if (size == 0)
		return true;
	return strncmp(name, library, size) == 0 &&
	       (name[size] == '\0' || name[size] == '.' || name[size] == '-');
}

bool fg_call_matches(const struct fg_call_pattern *pattern, const char *readable, const char *path)
{
	return means(pattern, readable) && (!path || is_from(pattern, path));
}

bool fg_call_is_wanted(const char *symbol, const char *path, char readable[FG_CALL_NAME_MAX])
{
	fg_call_name_read(symbol, readable);
	for (uint32_t i = 0; i < fg_call_pattern_count; i++)
		if (fg_call_matches(&fg_call_patterns[i], readable, path))
			return true;
	return false;
}
