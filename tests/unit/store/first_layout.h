/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in the first layout that stores had: they are still read. */
#ifndef FG_TESTS_FIRST_LAYOUT_H
#define FG_TESTS_FIRST_LAYOUT_H

#include <stdint.h>

/*
 * Two rows of arms 0 and 1; path 3 in both, path 5 in the second; rows and samples in the order of
 * the paths.
 */
static const uint8_t first_layout[] = {
	2,  0, 1, 0,  0, 0, 0, /* arms, pairs, aside */
	20, 0, 0, 10,          /* total 10, lost, truncated, unit 10 */
	60, 0, 0, 10, 2, 3,    /* two paths, three entries */
	3,  2,                 /* gaps between ids */
	2,  1,                 /* entries of each */
	0,  1, 1,              /* rows */
	1,  2, 1,              /* samples */
	0,  0, 0,
};

#endif
