// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

/* Computes the rank of pages that link to each other: page i links to links[i * per_page ...]. */
void rank_pages(const unsigned *links, size_t pages, size_t per_page, const double *before,
		double *after)
{
	for (size_t i = 0; i < pages; i++)
		after[i] = 0.15 / (double)pages;
	for (size_t i = 0; i < pages; i++) {
		const double share = 0.85 * before[i] / (double)per_page;

		for (size_t k = 0; k < per_page; k++)
			after[links[i * per_page + k]] += share;
	}
}
