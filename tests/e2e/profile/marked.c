// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose profile is known in outline: 30 events; in every tenth "slow" takes six times as
 * long.  Work is counted, not timed, so that the shares do not depend on the machine.
 */
#include "fastgate/region.h"

enum {
	EVENTS = 30,
	STEPS = 2000000,
};

static volatile unsigned sink;

#define KEPT __attribute__((noinline))

KEPT static void spin(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		sink += i * i;
}

KEPT static void steady(void)
{
	spin(STEPS);
}

KEPT static void slow(unsigned event)
{
	spin(event % 10 == 0 ? 6 * STEPS : STEPS);
}

int main(void)
{
	for (unsigned event = 1; event <= EVENTS; event++) {
		fg_unit_begin("event", event);
		fg_region_begin("reco");
		steady();
		fg_region_begin("fit");
		slow(event);
		fg_region_end();
		fg_region_end();
		fg_unit_end();
	}
	return 0;
}
