/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the tables of arguments in report.json. Private to reporters/. */
#ifndef FG_REPORTERS_ARGUMENTS_H
#define FG_REPORTERS_ARGUMENTS_H

#include "base/json.h"
#include "base/json_write.h"
#include "model/arguments.h"

void fg_report_add_arguments(const struct fg_argument_table *table, struct fg_json_writer *w);
/* Reads at most `room` and skips malformed members; NULL if nothing was read. */
const struct fg_argument_table *fg_report_read_arguments(const cJSON *object,
							 struct fg_argument_room *room,
							 struct fg_arena *arena);

#endif
