/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of pairs that took turns in several layouts of the code, by their place within a
 * cache line: number k has place k % FG_LINE_PLACES. The place within the page is random: many
 * layouts share a place in the line, and their differences are part of the scatter of pairs.
 * Private to gate/.
 */
#ifndef FG_GATE_LAYOUT_SCATTER_H
#define FG_GATE_LAYOUT_SCATTER_H

#include "base/base.h"

/*
 * `level` gets the differences as if each of these places were as fast as the mean of all: the mean
 * stays, and the scatter is that of pairs within a place. If a place has fewer than two pairs, they
 * are copied.
 */
void fg_layout_scatter_remove(const double *difference, const uint8_t *layout, size_t count,
			      double *level);
/* The median of each place's pairs: `middles` has room for FG_LINE_PLACES; NaN: no pairs. */
void fg_layout_middles(const double *difference, const uint8_t *layout, size_t count,
		       double *middles);
/* The standard error of the mean of these medians; 0: not all are known. */
double fg_layout_error(const double *middles);
/*
 * The standard error of the mean of all pairs if more pairs in the same layouts added no
 * information: of `level` as above. 0: each place in the line has one layout, or a layout has no
 * pair yet.
 */
double fg_layout_places_error(const double *level, const uint8_t *layout, size_t count,
			      unsigned layouts);

#endif
