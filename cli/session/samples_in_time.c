// SPDX-License-Identifier: Apache-2.0
#include "cli/session/samples_in_time.h"

#include "cli/session/samples.h"
#include "profile/time_order.h"

#include <stdlib.h>

/* A pair whose samples were kept on each measured side. */
struct kept_pair {
	uint32_t pair;
	double value[FG_ARM_COUNT]; /* time of all samples; 0: this side was not measured */
	double change;
};

static int by_change(const void *left, const void *right)
{
	const struct kept_pair *a = left;
	const struct kept_pair *b = right;

	if (a->change < b->change || a->change > b->change)
		return a->change < b->change ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

static struct kept_pair *pair_of(struct kept_pair *pairs, size_t *count, uint32_t pair)
{
	for (size_t i = 0; i < *count; i++) {
		if (pairs[i].pair == pair)
			return &pairs[i];
	}
	pairs[*count] = (struct kept_pair){.pair = pair};
	return &pairs[(*count)++];
}

/* The median pair, by the candidate's share of both times; false if none was kept. */
static bool choose_pair(struct fg_samples_key *key, const struct fg_profile_set *set,
			struct kept_pair *chosen)
{
	struct kept_pair *pairs = fg_xcalloc(set->row_count + 1, sizeof(pairs[0]));
	const uint16_t time = fg_profile_set_time(set);
	size_t count = 0;
	size_t kept = 0;
	bool sides[FG_ARM_COUNT] = {0};

	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		key->arm = row->arm;
		key->pair = row->pair;
		if (row->measure != time || row->aside != 0 || !fg_samples_are_kept(key))
			continue;
		pair_of(pairs, &count, row->pair)->value[row->arm] = row->total;
		sides[row->arm] = true;
	}
	for (size_t i = 0; i < count; i++) {
		const double *value = pairs[i].value;

		if ((sides[0] && value[0] <= 0) || (sides[1] && value[1] <= 0))
			continue;
		pairs[kept] = pairs[i];
		pairs[kept++].change =
			sides[0] && sides[1] ? value[1] / value[0] : value[0] + value[1];
	}
	qsort(pairs, kept, sizeof(pairs[0]), by_change);
	if (kept > 0)
		*chosen = pairs[kept / 2];
	free(pairs);
	return kept > 0;
}

static void load_sides(struct fg_samples_key *key, const struct kept_pair *pair,
		       struct fg_time_orders *orders)
{
	key->pair = pair->pair;
	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_profile profile;

		key->arm = (uint8_t)arm;
		if (pair->value[arm] <= 0 || fg_samples_load(key, &profile, NULL) != FG_OK)
			continue;
		fg_time_order_make(&profile, &orders->sides[arm]);
		orders->sides[arm].pair = pair->pair;
		fg_profile_release(&profile);
	}
}

struct fg_time_orders *fg_samples_in_time(const char *store, const struct fg_run *run,
					  const struct fg_profile_set *const *profiles)
{
	struct fg_time_orders *orders = NULL;

	for (size_t i = 0; i < run->series_count && profiles; i++) {
		struct fg_samples_key key = {.store = store, .run = run->id, .series = i};
		struct kept_pair pair;

		if (!profiles[i] || !choose_pair(&key, profiles[i], &pair))
			continue;
		if (!orders)
			orders = fg_xcalloc(run->series_count, sizeof(orders[0]));
		load_sides(&key, &pair, &orders[i]);
	}
	return orders;
}

void fg_samples_in_time_release(struct fg_time_orders *orders, const struct fg_run *run)
{
	for (size_t i = 0; orders && i < run->series_count; i++) {
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
			fg_time_order_release(&orders[i].sides[arm]);
	}
	free(orders);
}
