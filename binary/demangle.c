// SPDX-License-Identifier: Apache-2.0
/*
 * The C++ runtime demangles C++ names. Its entry point with a callback passes the text in pieces
 * and allocates nothing. A crafted name can refer to its own parts so often that its text is
 * practically endless ("_Z1f" with thirty function types, each of which names the previous one
 * twice, would have 2^30 characters). The demangler cannot be interrupted, but it holds no
 * resources, so the callback may longjmp out of it.
 */
#include "binary/demangle.h"

#include "base/text.h"

#include <setjmp.h>

/* libsupc++.a has this function, but no header declares it. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): not our name */
int __gcclibcxx_demangle_callback(const char *mangled,
				  void (*piece)(const char *text, size_t length, void *context),
				  void *context);

struct output {
	struct fg_strbuf text;
	jmp_buf too_long;
};

/*
 * Returns the length without a compiler's suffix: gcc and clang append ".cold", ".isra.0",
 * ".constprop.1", ".part.2", ".llvm.123". Apart from such a suffix, a C++ linkage name contains no
 * dot.
 */
static size_t length_without_suffix(const char *linkage)
{
	return strcspn(linkage, ".");
}

static void take_piece(const char *text, size_t length, void *context)
{
	struct output *output = context;

	if (output->text.length + length > FG_DEMANGLE_MAX_OUTPUT)
		longjmp(output->too_long, 1);
	fg_strbuf_add(&output->text, text, length);
}

static bool print_cplusplus(const char *linkage, struct output *output)
{
	if (setjmp(output->too_long) != 0)
		return false;
	return __gcclibcxx_demangle_callback(linkage, take_piece, output) == 0;
}

static bool add_cplusplus(const char *linkage, size_t length, struct fg_strbuf *readable)
{
	struct output output = {0};
	char name[FG_DEMANGLE_MAX_INPUT + 1];
	bool done;

	memcpy(name, linkage, length);
	name[length] = '\0';
	done = print_cplusplus(name, &output);
	if (done)
		fg_strbuf_add(readable, fg_strbuf_text(&output.text), output.text.length);
	fg_strbuf_release(&output.text);
	return done;
}

bool fg_demangle(const char *linkage, struct fg_strbuf *readable)
{
	size_t length;
	bool done;

	if (!fg_text_starts_with(linkage, "_Z"))
		return false;
	if (strnlen(linkage, FG_DEMANGLE_MAX_INPUT + 1) > FG_DEMANGLE_MAX_INPUT)
		return false;
	length = length_without_suffix(linkage);
	done = add_cplusplus(linkage, length, readable);
	if (done && linkage[length])
		fg_strbuf_printf(readable, " [%s]", linkage + length);
	return done;
}
