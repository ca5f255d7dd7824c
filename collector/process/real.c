// SPDX-License-Identifier: Apache-2.0
#include "collector/process/real.h"

#include "base/attrs.h"

#include <dlfcn.h>

#define FG_REAL_NAME(name) #name,
static const char *const names[] = {FG_REALS(FG_REAL_NAME)};
static void *_Atomic found[FG_REAL_COUNT];

void *fg_real(enum fg_real index)
{
	void *function = atomic_load_explicit(&found[index], memory_order_acquire);

	if (FG_UNLIKELY(!function)) {
		function = dlsym(RTLD_NEXT, names[index]);
		atomic_store_explicit(&found[index], function, memory_order_release);
	}
	return function;
}

void fg_reals_find(void)
{
	for (unsigned i = 0; i < FG_REAL_COUNT; i++)
		(void)fg_real((enum fg_real)i);
}
