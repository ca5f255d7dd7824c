// SPDX-License-Identifier: Apache-2.0
/*
 * The hooks that functions compiled with -finstrument-functions call when they start and end. The C
 * library's own hooks do nothing; the loader finds ours first.
 */
#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/calls/call_symbols.h"
#include "collector/calls/calls.h"

#include <errno.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the ABI's names */
FG_EXPORT void __cyg_profile_func_enter(void *function, void *site);
FG_EXPORT void __cyg_profile_func_exit(void *function, void *site);

FG_EXPORT void __cyg_profile_func_enter(void *function, void *site)
{
	struct fg_call_symbol symbol;

	(void)site;
	if (FG_LIKELY(!fg_call_symbol_find((uintptr_t)function, &symbol)))
		return;

	const struct fg_regs caller = FG_ARCH_CALLER;
	const int saved_errno = errno;

	fg_call_entered(&caller, symbol.function, caller.pc - (uintptr_t)function < symbol.size);
	errno = saved_errno;
}

FG_EXPORT void __cyg_profile_func_exit(void *function, void *site)
{
	struct fg_call_symbol symbol;

	(void)site;
	if (!fg_calls_timed || !fg_call_symbol_find((uintptr_t)function, &symbol))
		return;

	const struct fg_regs caller = FG_ARCH_CALLER;
	const int saved_errno = errno;

	fg_call_left(&caller, symbol.function);
	errno = saved_errno;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
