/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as the members of report.json, written and read by the same functions.  Private to
 * reporters/.
 */
#ifndef FG_REPORTERS_VERDICT_EXCHANGE_H
#define FG_REPORTERS_VERDICT_EXCHANGE_H

#include "base/json_exchange.h"
#include "model/arguments.h"
#include "reporters/reporter.h"

/* The exchange's context. */
struct fg_verdict_context {
	const struct fg_report *report; /* to write */
	bool for_page;
	struct fg_argument_room *room; /* to read: for the arguments of all benchmarks */
};

void fg_verdict_exchange(const struct fg_exchange *with, struct fg_verdict *verdict);

/* Members that are only written: the run's conditions. */
void fg_report_add_run(const struct fg_report *report, struct fg_json_writer *w);
void fg_report_add_builds(const struct fg_report *report,
			  const struct fg_benchmark_verdict *benchmark, struct fg_json_writer *w);

#endif
