/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared library that is opened when a command first needs it, so that other commands start
 * without it and its dependencies (docs/decisions/0033-libraries-when-needed.md).  Its functions
 * are called through a table, which lives next to its users:
 *
 *	#define FG_X_CALLS(CALL) CALL(open) CALL(close)
 *	#define FG_X_MEMBER(name) __typeof__(x_##name) *(name);
 *	struct fg_x { FG_X_CALLS(FG_X_MEMBER) };
 *
 * so that x_open() of the library's header is fg_x.open(), with its types.  A library stays open:
 * many cannot be closed while threads run, and closing one would hide its leaks.
 *
 * The portable build (FG_PORTABLE) is static and opens nothing: FG_LIBRARY_LINKED in the table's
 * initialiser fills it with the linked functions.
 */
#ifndef FG_BASE_LIBRARY_H
#define FG_BASE_LIBRARY_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct fg_library {
	const char *file;         /* soname that the program was compiled against */
	const char *package;      /* its package on the build system; "": unknown */
	const char *purpose;      /* such as "to talk to servers" */
	const char *const *names; /* names of the functions */
	size_t count;
	void *table; /* function pointers, in the order of `names` */
	pthread_mutex_t lock;
	atomic_bool is_open; /* the table is complete */
};

/* Initialiser of a `struct fg_library`: `functions` is its table, `known` lists the names in it. */
#define FG_LIBRARY(functions, known, soname, source, use)                    \
 {                                                                           \
  .file = (soname), .package = (source), .purpose = (use), .names = (known), \
  .count = sizeof(known) / sizeof((known)[0]), .table = &(functions),        \
  .lock = PTHREAD_MUTEX_INITIALIZER                                          \
 }

/*
 * Opens the library and fills its table; threads may race. FG_EUNSUPPORTED: it is missing or lacks
 * a function; the table stays empty, and the next call tries again.
 */
int fg_library_open(struct fg_library *library, struct fg_error *err) FG_NODISCARD;

#ifdef FG_PORTABLE
# define FG_LIBRARY_LINKED(function) (function),
# define FG_LIBRARY_NOTE(feature, description, file) \
  _Static_assert(sizeof(file) == 1, "a linked library must not name a file")
#else
# define FG_LIBRARY_LINKED(function) NULL,
/*
 * Records for packagers' tools that the program may open a library (an ELF note, in the form of
 * https://systemd.io/ELF_DLOPEN_METADATA/). All three arguments are literals without inner
 * quotation marks.
 */
# define FG_LIBRARY_NOTE(feature, description, file)                                               \
  __asm__(".pushsection .note.dlopen, \"a\", %note\n"                                              \
	  ".balign 4\n"                                                                            \
	  ".long 2f - 1f, 4f - 3f, 0x407c0c0a\n"                                                   \
	  "1: .asciz \"FDO\"\n"                                                                    \
	  "2: .balign 4\n"                                                                         \
	  "3: .asciz \"[{\\\"feature\\\":\\\"" feature "\\\",\\\"description\\\":\\\"" description \
	  "\\\",\\\"priority\\\":\\\"recommended\\\",\\\"soname\\\":[\\\"" file "\\\"]}]\"\n"      \
	  "4: .balign 4\n"                                                                         \
	  ".popsection\n")
#endif

#endif
