/* SPDX-License-Identifier: Apache-2.0 */
/* A run for each test of a program: FG_TEST_IN(name, begin, end). */
#ifndef FG_TESTS_GATE_ONE_RUN_H
#define FG_TESTS_GATE_ONE_RUN_H

#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

static struct fg_made made;

static int begin(void **state)
{
	(void)state;
	fg_made_init(&made, 5);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_made_release(&made);
	return 0;
}

#endif
