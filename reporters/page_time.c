// SPDX-License-Identifier: Apache-2.0
/* Columns as in page_profile.c; nodes are in order of time, with separate nodes per side. */
#include "reporters/figures.h"
#include "reporters/page_data.h"

#include <math.h>

static void add_functions(struct fg_json_writer *w, const struct fg_time_order *order)
{
	fg_json_begin_object(w, "functions");
	fg_json_begin_array(w, "name");
	for (size_t i = 0; i < order->function_count; i++)
		fg_json_text(w, NULL, order->functions[i].name);
	fg_json_end(w);
	fg_json_begin_array(w, "library");
	for (size_t i = 0; i < order->function_count; i++)
		fg_json_text(w, NULL, order->functions[i].library);
	fg_json_end(w);
	fg_json_begin_array(w, "file");
	for (size_t i = 0; i < order->function_count; i++)
		fg_json_text(w, NULL, order->functions[i].file);
	fg_json_end(w);
	fg_json_begin_array(w, "line");
	for (size_t i = 0; i < order->function_count; i++)
		fg_json_int(w, NULL, (int64_t)order->functions[i].line);
	fg_json_end(w);
	fg_json_end(w);
}

/* In microseconds, like all profiles of a page. */
static void add_nodes(struct fg_json_writer *w, const struct fg_time_order *order)
{
	fg_json_begin_object(w, "nodes");
	fg_json_begin_array(w, "parent");
	for (size_t i = 0; i < order->node_count; i++)
		fg_json_int(w, NULL, (int64_t)(i - order->nodes[i].parent));
	fg_json_end(w);
	fg_json_begin_array(w, "function");
	for (size_t i = 0; i < order->node_count; i++)
		fg_json_int(w, NULL, (int64_t)order->nodes[i].function);
	fg_json_end(w);
	fg_json_begin_array(w, "start");
	for (size_t i = 0; i < order->node_count; i++)
		fg_json_int(w, NULL, llround(order->nodes[i].start_ns / 1e3));
	fg_json_end(w);
	fg_json_begin_array(w, "self");
	for (size_t i = 0; i < order->node_count; i++)
		fg_json_double(w, NULL, fg_report_four_digits(order->nodes[i].self_ns / 1e3));
	fg_json_end(w);
	fg_json_end(w);
}

void fg_report_add_in_time(const struct fg_time_orders *orders, struct fg_json_writer *w)
{
	if (!orders || orders->sides[0].node_count + orders->sides[1].node_count == 0)
		return;
	fg_json_begin_array(w, "in_time");
	for (size_t side = 0; side < 2; side++) {
		const struct fg_time_order *order = &orders->sides[side];

		if (order->node_count == 0) {
			fg_json_null(w, NULL);
			continue;
		}
		fg_json_begin_object(w, NULL);
		fg_json_int(w, "pair", order->pair);
		fg_json_int(w, "step", order->step);
		add_functions(w, order);
		add_nodes(w, order);
		fg_json_end(w);
	}
	fg_json_end(w);
}
