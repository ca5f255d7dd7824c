// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/sampling_run.h"

void fg_own_cpu_init(struct fg_own_cpu *own)
{
	CPU_ZERO(&own->taken);
	if (sched_getaffinity(0, sizeof(own->allowed), &own->allowed) != 0)
		CPU_ZERO(&own->allowed);
}

bool fg_own_cpu_take(struct fg_own_cpu *own, int cpu)
{
	cpu_set_t one;

	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, &own->allowed))
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return false;
	CPU_SET((size_t)cpu, &own->taken);
	return true;
}

void fg_own_cpu_leave(struct fg_own_cpu *own)
{
	cpu_set_t others;

	if (CPU_COUNT(&own->taken) == 0)
		return;
	/* Removes `taken`, a subset of `allowed`. */
	CPU_XOR(&others, &own->allowed, &own->taken);
	if (CPU_COUNT(&others) > 0)
		(void)sched_setaffinity(0, sizeof(others), &others);
	(void)sched_setaffinity(0, sizeof(own->allowed), &own->allowed);
	CPU_ZERO(&own->taken);
}
