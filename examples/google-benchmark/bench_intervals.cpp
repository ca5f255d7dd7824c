// SPDX-License-Identifier: Apache-2.0
#include "intervals.hpp"

#include <benchmark/benchmark.h>

using intervals::Calendar;
using intervals::Interval;

// Makes a calendar in which every other minute is busy.
static Calendar full_calendar(std::int64_t count)
{
	Calendar calendar;

	for (std::int64_t i = 0; i < count; i++)
		calendar.add({2 * i, 2 * i + 1});
	return calendar;
}

static void add(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(full_calendar(state.range(0)).size());
	state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(add)->Arg(1000);

static void first_gap(benchmark::State &state)
{
	const Calendar calendar = full_calendar(state.range(0));

	for (auto _ : state)
		benchmark::DoNotOptimize(calendar.first_gap(0, 5));
}
BENCHMARK(first_gap)->Arg(1000)->Arg(10000);

BENCHMARK_MAIN();
