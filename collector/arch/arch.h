/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the collector knows about a processor: registers in a signal context and in
 * unwind tables, the system call instruction, the code that linkers generate.  A port is one more
 * file in arch/.
 *
 * Where a call leaves the return address in a register, as on arm64, a port needs changes in two
 * more places:
 * - collector/unwind/rules.c knows only frames whose return address lies where
 *   fg_return_address_at() says.  Its rules would have to say whether it lies elsewhere or is still
 *   in its register, and struct fg_regs would carry that register.  Pointer signatures have to be
 *   removed.
 * - collector/sampler/restart.c repeats a call with the arguments that are still in their
 *   registers.  Where the result overwrites the first argument, it has to come from somewhere else.
 */
#ifndef FG_COLLECTOR_ARCH_H
#define FG_COLLECTOR_ARCH_H

#if !defined(__x86_64__) && !defined(__i386__)
# error "the collector knows x86-64 and i386; another processor needs a file in collector/arch/"
#endif

#if defined(__x86_64__)
# include "collector/arch/x86_64.h"
#else
# include "collector/arch/i386.h"
#endif

#endif
