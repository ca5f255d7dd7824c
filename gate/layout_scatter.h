/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of pairs that ran in several layouts in turn, grouped by place within a cache line:
 * layout k has place k % FG_LINE_PLACES. The place within the page is random: many layouts share a
 * place in the line, and their differences are part of the scatter of pairs. Private to gate/.
 */
#ifndef FG_GATE_LAYOUT_SCATTER_H
#define FG_GATE_LAYOUT_SCATTER_H

#include "base/base.h"

/*
 * `level` gets the differences without the effect of the places: they scatter around the mean of
 * the places with only the scatter of pairs within a place. If a place has fewer than two pairs,
 * the differences are copied unchanged.
 */
void fg_layout_scatter_remove(const double *difference, const uint8_t *layout, size_t count,
			      double *level);
/*
 * Computes the trimmed mean of each place's pairs, NaN for a place without pairs. `middles` has
 * room for FG_LINE_PLACES.
 */
void fg_layout_middles(const double *difference, const uint8_t *layout, size_t count,
		       double *middles);
/* Returns the standard error of the mean of `middles`; 0 unless all are known. */
double fg_layout_error(const double *middles);
/*
 * Returns the standard error of the mean of all pairs if more pairs in the same layouts added no
 * information; `level` comes from fg_layout_scatter_remove(). 0 if each place in the line has one
 * layout, or if a layout has no pair yet.
 */
double fg_layout_places_error(const double *level, const uint8_t *layout, size_t count,
			      unsigned layouts);

#endif
