/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of an executable file that matter for preloading, such as its machine and its kind of
 * linking.
 *
 * runner/facts/binary.h reads the build facts of a file. Private to runner/.
 */
#ifndef FG_RUNNER_PROGRAM_FILE_H
#define FG_RUNNER_PROGRAM_FILE_H

#include "base/error.h"

#include <elf.h>
#include <stdbool.h>

struct fg_program_file {
	bool is_elf;
	bool is_dynamic; /* has a program interpreter: the dynamic linker */
	bool is_musl;    /* has the dynamic linker of musl, not of glibc */
	unsigned machine;
	const char *sanitizer;  /* "AddressSanitizer", ..., or NULL */
	char interpreter[4096]; /* of a script: the path after #! */
	char loader[256];       /* of a dynamic program: its dynamic linker */
};

/* A file that is neither a program nor a script is not an error: is_elf is then false. */
int fg_program_file_read(const char *path, struct fg_program_file *program, struct fg_error *err)
	FG_NODISCARD;

#endif
