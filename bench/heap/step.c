// SPDX-License-Identifier: Apache-2.0
/* One library of many: calls the next. */
typedef void step_function(void *const *next, int depth, void (*work)(void));

__attribute__((visibility("default"))) step_function step;

void step(void *const *next, int depth, void (*work)(void))
{
	if (depth <= 1)
		work();
	else
		(__extension__(step_function *) next[0])(next + 1, depth - 1, work);
	__asm__ volatile("");
}
