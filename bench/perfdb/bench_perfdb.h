/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the modes of bench_perfdb. Any failure ends the program. */
#ifndef FG_BENCH_PERFDB_H
#define FG_BENCH_PERFDB_H

#include "base/base.h"
#include "base/error.h"

struct fg_server;

void fg_bench_die(const char *what, const struct fg_error *err);
struct fg_server *fg_bench_serve(const char *database, unsigned threads, char url[64]);
void fg_bench_print_times(const char *where, const char *what, double *times, size_t count,
			  double cpu_ms);
/* Runs of 200 benchmarks, without profiles. */
void fg_bench_fill_dashboard(const char *database, unsigned runs);
/* With `has_base`, each dictionary is opened against the previous one. */
int fg_bench_make(const char *database, unsigned runs, bool has_base);
int fg_bench_simulate(const char *database, unsigned runs, unsigned projects);
/* `only` selects queries by name; NULL: all. */
int fg_bench_simulate_ask(const char *database, unsigned projects, const char *only);

#endif
