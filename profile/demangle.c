// SPDX-License-Identifier: Apache-2.0
#include "profile/demangle.h"

/* Exported by every C++ runtime for exactly this; its header is C++ only. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): its name is the ABI's */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/*
 * Where a compiler's suffix begins: gcc and clang append ".cold", ".isra.0", ".constprop.1", ".part.2", ".llvm.123".  A
 * C++ linkage name has no dot otherwise; Rust's older mangling has ("..") and is left alone.
 */
static size_t length_without_suffix(const char *linkage)
{
	const char *dot = strchr(linkage, '.');

	while (dot && dot[1] == '.')
		dot = strchr(dot + 2, '.');
	return dot && dot != linkage ? (size_t)(dot - linkage) : strlen(linkage);
}

static bool add_cplusplus(const char *linkage, size_t length, struct fg_strbuf *readable)
{
	char *copy = fg_xstrndup(linkage, length);
	int status = 0;
	char *name = __cxa_demangle(copy, NULL, NULL, &status);
	size_t size;

	free(copy);
	if (!name || status != 0) {
		free(name);
		return false;
	}
	size = strlen(name);
	if (!fg__demangle_rust_legacy(name, readable))
		fg_strbuf_add(readable, name,
			      size < FG_DEMANGLE_MAX_OUTPUT ? size : FG_DEMANGLE_MAX_OUTPUT);
	free(name);
	return true;
}

bool fg_demangle(const char *linkage, struct fg_strbuf *readable)
{
	size_t length;
	bool done = false;

	if (linkage[0] != '_' || (linkage[1] != 'Z' && linkage[1] != 'R' && linkage[1] != '_'))
		return false;
	if (strnlen(linkage, FG_DEMANGLE_MAX_INPUT + 1) > FG_DEMANGLE_MAX_INPUT)
		return false;
	length = length_without_suffix(linkage);
	if (linkage[1] == 'Z')
		done = add_cplusplus(linkage, length, readable);
	else if (linkage[1] == 'R')
		done = fg__demangle_rust_v0(linkage, length, readable);
	if (done && linkage[length])
		fg_strbuf_printf(readable, " [%s]", linkage + length);
	return done;
}
