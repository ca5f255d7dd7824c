/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of pairs that took turns in several layouts of the code, by its place within a cache
 * line: number k has place k % FG_LINE_PLACES.  Where it lies in its page is left to chance: many
 * layouts share a place in the line, and what these differ by is part of how pairs scatter.
 * Private to gate/.
 */
#ifndef FG_GATE_LAYOUT_SCATTER_H
#define FG_GATE_LAYOUT_SCATTER_H

#include "base/base.h"

/*
 * `level` gets the differences as if each of these places were as fast as the mean of all: that
 * mean is theirs, and they scatter as much as pairs do within a place.  Where a place has fewer
 * than two pairs they are copied.
 */
void fg_layout_scatter_remove(const double *difference, const uint8_t *layout, size_t count,
			      double *level);
/* The middle of each place's pairs: `middles` has room for FG_LINE_PLACES; NaN: it has none. */
void fg_layout_middles(const double *difference, const uint8_t *layout, size_t count,
		       double *middles);
/* The standard error of the mean of these middles; 0: not all are known. */
double fg_layout_error(const double *middles);
/*
 * The standard error of the mean of all pairs if more pairs in the same layouts added no
 * information: of `level` as above. 0: each place in the line has one layout, or a layout has no
 * pair yet.
 */
double fg_layout_places_error(const double *level, const uint8_t *layout, size_t count,
			      unsigned layouts);

#endif
