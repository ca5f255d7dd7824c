// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose profile is roughly known: 30 events, in every tenth of which "slow" takes six
 * times as long.  Work is counted, not timed, so that the shares do not depend on the machine.
 *
 *	marked            units of work and regions
 *	marked regions    regions alone, and one that is left open
 */
#include "fastgate/region.h"

#include <string.h>

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

static void one_event(unsigned event)
{
	fg_region_begin("reco");
	steady();
	fg_region_begin("fit");
	slow(event);
	fg_region_end();
	fg_region_end();
}

/* Regions without units of work, and one that the program does not end. */
static void only_regions(void)
{
	for (unsigned event = 1; event <= EVENTS; event++)
		one_event(event);
	fg_region_begin("left open");
	steady();
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "regions") == 0) {
		only_regions();
		return 0;
	}
	for (unsigned event = 1; event <= EVENTS; event++) {
		fg_unit_begin("event", event);
		one_event(event);
		fg_unit_end();
	}
	return 0;
}
