/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from an ELF file whether it is a program and where it looks for its libraries. */
#ifndef FG_CLI_INIT_ELF_PROGRAM_H
#define FG_CLI_INIT_ELF_PROGRAM_H

#include "base/base.h"

/* Is this a 64-bit ELF program: an executable at a fixed address or with a dynamic linker? */
bool fg_elf_is_program(const char *data, size_t size);
/* Is the file linked with the library of this name? */
bool fg_elf_needs(const char *data, size_t size, const char *library);
/*
 * Does the file's own run path lead below `root`, either directly or relative to the program's
 * folder ($ORIGIN)?
 */
bool fg_elf_searches_below(const char *data, size_t size, const char *root);

#endif
