// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fixture_profile.h"

#include "base/random.h"
#include "tests/support/fixture_report.h"

#include <stdio.h>

enum {
	MAX_LARGE_DEPTH = 40
};

static uint32_t add_frame(struct fg_profile_set *set, uint32_t parent, const char *name,
			  const char *file)
{
	const struct fg_profile_function function = {
		.name = name, .library = "reco", .file = file, .line = file ? 88 : 0};

	return fg_profile_set_node(set, parent, fg_profile_set_function(set, &function));
}

void fg_fixture_add_row(struct fg_profile_set *set, unsigned arm, uint32_t pair, const double *self,
			size_t count)
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, count);

	row->arm = (uint8_t)arm;
	row->pair = pair;
	for (size_t i = 0; i < count; i++) {
		row->nodes[i] = (uint32_t)(i + 1);
		row->values[i] = self[i] * 1e6;
		row->samples[i] = (uint32_t)self[i] + 1;
		row->total += row->values[i];
	}
}

/* Self times by node, in the order in which fg_fixture_make_profile() creates the nodes. */
static const double self[FG_ARM_COUNT][9] = {
	{1.0, 4.0, 31.1, 12.0, 6.2, 40.0, 70.0, 9.0, 0.0},
	{1.0, 4.1, 40.2, 12.2, 6.8, 40.0, 70.2, 0.0, 8.7},
};

void fg_fixture_make_profile(struct fg_profile_set *set, const char *program, unsigned pairs)
{
	uint32_t main_node = 0;
	uint32_t loop = 0;
	uint32_t smooth = 0;
	uint32_t read = 0;

	fg_profile_set_init(set, program);
	main_node = add_frame(set, 0, "main", "/src/reco/main.cpp");
	loop = add_frame(set, main_node, "loop(Event const&)", "/src/reco/loop.cpp");
	(void)add_frame(set, loop, "fit(Track&)", "/src/reco/fit.cpp");
	(void)add_frame(set, loop, "seed<Hit, std::vector<Hit> >(Hit const&)", "/src/reco/seed.h");
	smooth = add_frame(set, loop, "smooth(Track&)", "/src/reco/smooth.cpp");
	read = add_frame(set, main_node, "io::Reader::next()", "/src/reco/io.cpp");
	(void)add_frame(set, read, "ZSTD_decompressBlock", NULL);
	(void)add_frame(set, smooth, "decode(Bank const&)", NULL);
	(void)add_frame(set, smooth, "decode_header(Bank const&)", NULL);
	for (uint32_t pair = 1; pair <= pairs; pair++) {
		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++)
			fg_fixture_add_row(set, arm, pair, self[arm], FG_ARRAY_SIZE(self[arm]));
	}
}

/* Shaped like a real program: wide below a few loops, deep in places, long names. */
void fg_fixture_add_large_profile(struct fg_fixture *fixture, size_t node_count)
{
	struct fg_profile_set *set = &fixture->sets[0];
	struct fg_random random = {0};
	uint32_t parent = 0;
	uint64_t depth = 0;
	double *before = fg_xcalloc(node_count, sizeof(before[0]));
	double *weights = fg_xcalloc(node_count, sizeof(weights[0]));

	fg_random_seed(&random, 11);
	fg_profile_set_release(set);
	fg_profile_set_init(set, "large");
	while (set->node_count <= node_count) {
		char name[160];

		/*
		 * Goes down from the last frame three times in four, and up a few callers the
		 * fourth time.
		 */
		if (depth > MAX_LARGE_DEPTH || (depth > 4 && fg_random_below(&random, 4) == 0)) {
			for (uint64_t up =
				     1 + fg_random_below(&random, depth - 4 < 6 ? depth - 4 : 6);
			     up > 0; up--, depth--)
				parent = set->nodes[parent].parent;
		}
		(void)snprintf(name, sizeof(name),
			       "detector::Stage%u<detector::Layer, std::vector<detector::Hit> "
			       ">::process_%u(detector::Event const&)",
			       (unsigned)fg_random_below(&random, 40),
			       (unsigned)fg_random_below(&random, 125));
		parent = add_frame(set, parent, name, NULL);
		depth++;
	}
	for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
		for (size_t i = 0; i < node_count; i++) {
			const double u = fg_random_uniform(&random);

			before[i] = arm == 0 ? 0.001 / (u + 0.01) : before[i];
			weights[i] = arm == 0 ? before[i] : before[i] * (0.9 + 0.22 * u);
			if (fg_random_below(&random, 100) < 2)
				weights[i] = 0;
		}
		fg_fixture_add_row(set, arm, 1, weights, node_count);
	}
	fixture->profiles[0] = set;
	free(before);
	free(weights);
}
