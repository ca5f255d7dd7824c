/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of report.json for the values of functions and call paths: for times the key contains the
 * unit, for other measures the unit stands next to the value. Private to reporters/.
 */
#ifndef FG_REPORTERS_BLAME_KEYS_H
#define FG_REPORTERS_BLAME_KEYS_H

struct fg_blame_keys {
	const char *self;
	const char *inclusive;
	const char *delta;
	const char *interval;
	const char *moved;
	const char *total_delta;
	const char *unattributed;
	const char *everything_else;
};

static const struct fg_blame_keys fg_time_keys = {
	.self = "self_ms",
	.inclusive = "inclusive_ms",
	.delta = "delta_ms",
	.interval = "interval_ms",
	.moved = "moved_ms",
	.total_delta = "total_delta_ms",
	.unattributed = "unattributed_ms",
	.everything_else = "everything_else_ms",
};

static const struct fg_blame_keys fg_measure_keys = {
	.self = "self",
	.inclusive = "inclusive",
	.delta = "delta",
	.interval = "interval",
	.moved = "amount",
	.total_delta = "total_delta",
	.unattributed = "unattributed",
	.everything_else = "everything_else",
};

#endif
