// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

static void f(benchmark::State &s)
{
	for (auto _ : s) {
	}
}

static void g(benchmark::State &s)
{
	f(s);
}

BENCHMARK(f);
BENCHMARK(g);
BENCHMARK_MAIN();
