// SPDX-License-Identifier: Apache-2.0
#include "gate/layout_scatter.h"

#include "gate/statistics/location.h"
#include "model/run.h"

#include <math.h>

#define TRIM 0.2

void fg_layout_middles(const double *difference, const uint8_t *layout, size_t count,
		       double *middles)
{
	double *of_layout = fg_xcalloc(count + 1, sizeof(of_layout[0]));

	for (unsigned k = 0; k < FG_LINE_PLACES; k++) {
		size_t used = 0;

		for (size_t i = 0; i < count; i++) {
			if (layout[i] % FG_LINE_PLACES == k)
				of_layout[used++] = difference[i];
		}
		middles[k] = used ? fg_trimmed_mean(of_layout, used, TRIM).mean : (double)NAN;
	}
	free(of_layout);
}

double fg_layout_error(const double *middles)
{
	double mean = 0;
	double squares = 0;

	for (size_t k = 0; k < FG_LINE_PLACES; k++)
		mean += middles[k] / FG_LINE_PLACES;
	if (isnan(mean))
		return 0;
	for (size_t k = 0; k < FG_LINE_PLACES; k++)
		squares += (middles[k] - mean) * (middles[k] - mean);
	return sqrt(squares / (FG_LINE_PLACES - 1) / FG_LINE_PLACES);
}

static bool has_two_of_each(const uint8_t *layout, size_t count)
{
	size_t counts[FG_LINE_PLACES] = {0};
	bool has = true;

	for (size_t i = 0; i < count; i++)
		counts[layout[i] % FG_LINE_PLACES]++;
	for (size_t k = 0; k < FG_LINE_PLACES; k++)
		has = has && counts[k] >= 2;
	return has;
}

void fg_layout_scatter_remove(const double *difference, const uint8_t *layout, size_t count,
			      double *level)
{
	double middles[FG_LINE_PLACES];
	double mean = 0;
	double inflate = 0;

	memcpy(level, difference, count * sizeof(level[0]));
	if (!has_two_of_each(layout, count))
		return;
	fg_layout_middles(difference, layout, count, middles);
	for (size_t k = 0; k < FG_LINE_PLACES; k++)
		mean += middles[k] / FG_LINE_PLACES;
	/* Subtracting the means of four places instead of one reduces the scatter; restore it. */
	inflate = sqrt(((double)count - 1) / ((double)count - FG_LINE_PLACES));
	for (size_t i = 0; i < count; i++)
		level[i] = mean + inflate * (difference[i] - middles[layout[i] % FG_LINE_PLACES]);
}

double fg_layout_places_error(const double *level, const uint8_t *layout, size_t count,
			      unsigned layouts)
{
	double *drawn_in = fg_xcalloc(count + 1, sizeof(drawn_in[0]));
	double *mean = fg_xcalloc(layouts + 1, sizeof(mean[0]));
	size_t *pairs = fg_xcalloc(layouts + 1, sizeof(pairs[0]));
	double centre = 0;
	double squares = 0;
	bool known = layouts > FG_LINE_PLACES;

	fg_winsorise(level, count, TRIM, drawn_in);
	for (size_t i = 0; i < count; i++) {
		mean[layout[i]] += drawn_in[i] / (1 - 2 * TRIM);
		pairs[layout[i]]++;
	}
	for (unsigned k = 0; k < layouts; k++) {
		known = known && pairs[k] >= 1;
		mean[k] /= (double)pairs[k];
		centre += mean[k] / layouts;
	}
	for (unsigned k = 0; k < layouts; k++)
		squares += (mean[k] - centre) * (mean[k] - centre);
	free(pairs);
	free(mean);
	free(drawn_in);
	return known ? sqrt(squares / (layouts - FG_LINE_PLACES) / layouts) : 0;
}
