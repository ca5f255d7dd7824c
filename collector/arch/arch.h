/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's code that depends on the architecture, except for the stubs in collector/calls/:
 * registers in a signal context and in unwind tables, the system call instruction, the code that
 * linkers generate.  A port is one more file in arch/; docs/adding-an-architecture.md lists the
 * other steps.
 */
#ifndef FG_COLLECTOR_ARCH_H
#define FG_COLLECTOR_ARCH_H

#if defined(__x86_64__)
# include "collector/arch/x86_64.h"
#elif defined(__i386__)
# include "collector/arch/i386.h"
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__)
# include "collector/arch/aarch64.h"
#else
# error "the collector supports x86-64, i386 and arm64; a port needs a file in collector/arch/"
#endif

#endif
