/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a verdict as members of report.json and reads it back, with the same functions. Private to
 * reporters/.
 */
#ifndef FG_REPORTERS_VERDICT_EXCHANGE_H
#define FG_REPORTERS_VERDICT_EXCHANGE_H

#include "base/json_exchange.h"
#include "model/arguments.h"
#include "reporters/reporter.h"

struct fg_verdict_context {
	const struct fg_report *report; /* only for writing */
	bool for_page;
	struct fg_argument_room *room; /* only for reading; shared by all benchmarks */
};

void fg_verdict_exchange(const struct fg_exchange *with, struct fg_verdict *verdict);

/* Writers of the run's conditions, which are never read back. */
void fg_report_add_run(const struct fg_report *report, struct fg_json_writer *w);
void fg_report_add_builds(const struct fg_report *report,
			  const struct fg_benchmark_verdict *benchmark, struct fg_json_writer *w);

#endif
