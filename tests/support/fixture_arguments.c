// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fixture_arguments.h"

#include "model/run.h"

#include <math.h>

static void add(struct fg_argument_sums *sums, unsigned side, const char *name,
		const char *const *frames, const struct fg_argument_figures *figures)
{
	struct fg_argument_call call = {.name = name,
					.signature = "double(double)",
					.side = side,
					.frames = frames,
					.figures = figures};

	while (frames[call.frame_count])
		call.frame_count++;
	fg_argument_sums_add(sums, &call);
}

static struct fg_argument_figures between(double least, double most, double values)
{
	struct fg_argument_figures figures = {.values = values,
					      .least = least,
					      .most = most,
					      .sum = values * (least + most) / 2,
					      .negatives = least < 0 ? values : 0};
	const int low = (int)floor(log2(fabs(least) > 0 ? fabs(least) : 0.001));
	const int high = (int)floor(log2(fabs(most) > 0 ? fabs(most) : 0.001));
	const int first = low < high ? low : high;
	const int last = low < high ? high : low;

	for (int i = first; i <= last; i++)
		figures.bins[i + FG_ARGUMENT_BIN_OF_ONE] = floor(values / (last - first + 1));
	return figures;
}

static void add_exp(struct fg_argument_sums *sums)
{
	static const char *const fit[] = {"_start", "main", "loop(Event const&)", "fit(Track&)",
					  NULL};
	static const char *const smooth[] = {"_start",         "main",        "loop(Event const&)",
					     "smooth(Track&)", "fit(Track&)", NULL};
	struct fg_argument_figures figures = between(-0.5, -7e-07, 2100000);

	add(sums, FG_ARM_BASELINE, "exp", fit, &figures);
	add(sums, FG_ARM_CANDIDATE, "exp", fit, &figures);
	figures = between(-1, -0.25, 1000);
	figures.repeats = 999;
	add(sums, FG_ARM_BASELINE, "exp", smooth, &figures);
	figures = between(-80, -0.25, 1200);
	add(sums, FG_ARM_CANDIDATE, "exp", smooth, &figures);
}

static void add_log(struct fg_argument_sums *sums)
{
	static const char *const seed[] = {"main", "seed<Hit, std::vector<Hit> >(Hit const&)",
					   NULL};
	struct fg_argument_figures figures = between(0.25, 1024, 5000);

	add(sums, FG_ARM_BASELINE, "log", seed, &figures);
	figures.values++;
	figures.nans = 1;
	figures.denormals = 2;
	figures.infinities = 3;
	figures.zeros = 4;
	figures.bins[0] = 6;
	figures.bins[FG_ARGUMENT_BINS - 1] = 3;
	add(sums, FG_ARM_CANDIDATE, "log", seed, &figures);
}

static void add_sin(struct fg_argument_sums *sums)
{
	for (unsigned i = 0; i < FG_FIXTURE_SIN_PATHS; i++) {
		const struct fg_argument_figures figures = between(1, 8, 400 - i);
		char name[32];
		const char *const frames[] = {"main", name, NULL};

		(void)snprintf(name, sizeof(name), "draw_%u", i);
		add(sums, FG_ARM_CANDIDATE, "sin", frames, &figures);
		if (i > 0)
			add(sums, FG_ARM_BASELINE, "sin", frames, &figures);
	}
}

static void add_pow(struct fg_argument_sums *sums)
{
	enum {
		DEEP = 300
	};
	const char *frames[DEEP + 1] = {0};
	const struct fg_argument_figures figures = between(2, 3, 20);

	for (unsigned i = 0; i < DEEP; i++)
		frames[i] = i % 2 ? "descend" : "visit";
	frames[0] = "main";
	frames[DEEP - 1] = "weigh";
	add(sums, FG_ARM_CANDIDATE, "pow #2", frames, &figures);
}

static const struct fg_argument_table *finish(struct fg_argument_sums *sums, struct fg_arena *arena)
{
	const struct fg_argument_table *table =
		fg_argument_table_make(sums, fg_argument_room_of_run, arena);

	fg_argument_sums_release(sums);
	return table;
}

const struct fg_argument_table *fg_fixture_arguments(struct fg_arena *arena)
{
	struct fg_argument_sums sums = {0};

	add_exp(&sums);
	add_log(&sums);
	add_sin(&sums);
	add_pow(&sums);
	return finish(&sums, arena);
}

const struct fg_argument_table *fg_fixture_hostile_arguments(const char *const *names,
							     struct fg_arena *arena)
{
	struct fg_argument_sums sums = {0};
	const struct fg_argument_figures figures = between(-1e9, 1e9, 2000);

	for (size_t i = 0; names[i]; i++) {
		add(&sums, FG_ARM_BASELINE, names[i], names, &figures);
		add(&sums, FG_ARM_CANDIDATE, names[i], names + i, &figures);
	}
	return finish(&sums, arena);
}
