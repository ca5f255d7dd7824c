/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a built file say: is it a program, and where does it look for its libraries. */
#ifndef FG_CLI_INIT_ELF_PROGRAM_H
#define FG_CLI_INIT_ELF_PROGRAM_H

#include "base/base.h"

/* An ELF file of 64 bits that names a dynamic linker, or is linked to run by itself. */
bool fg_elf_is_program(const char *data, size_t size);
/* Is the library of this name among those that it is linked with? */
bool fg_elf_needs(const char *data, size_t size, const char *library);
/*
 * Does it say itself where libraries below `root` are: with a run path into it, or one that begins
 * at the program's own folder ($ORIGIN)?
 */
bool fg_elf_looks_below(const char *data, size_t size, const char *root);

#endif
