// SPDX-License-Identifier: Apache-2.0
#include "collector/process/real.h"

#include "base/attrs.h"
#include "collector/process/symbols.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define FG_REAL_NAME(name) #name,
static const char *const names[] = {FG_REALS(FG_REAL_NAME)};
static void *_Atomic found[FG_REAL_COUNT];

_Static_assert((int)FG_REAL_COUNT <= (int)FG_SYMBOLS_MAX, "one lookup must find all names");

/* Replaces a function that this libc lacks. */
static long absent(void)
{
	errno = ENOSYS;
	return -1;
}

void fg_reals_find(void)
{
	void *now[FG_REAL_COUNT];

	for (unsigned i = 0; i < FG_REAL_COUNT; i++)
		now[i] = fg_real_exists((enum fg_real)i) ? atomic_load(&found[i]) : NULL;
	fg_symbols_next(names, now, FG_REAL_COUNT);
	for (unsigned i = 0; i < FG_REAL_COUNT; i++)
		atomic_store_explicit(&found[i], now[i] ? now[i] : (void *)(uintptr_t)absent,
				      memory_order_release);
}

void *fg_real(enum fg_real index)
{
	void *function = atomic_load_explicit(&found[index], memory_order_acquire);

	if (FG_LIKELY(function != NULL))
		return function;
	fg_reals_find();
	return atomic_load_explicit(&found[index], memory_order_acquire);
}

bool fg_real_exists(enum fg_real index)
{
	void *function = atomic_load_explicit(&found[index], memory_order_acquire);

	return function && function != (void *)(uintptr_t)absent;
}

bool fg_is_musl(void)
{
	return !fg_real_exists(FG_REAL__r_debug);
}
