/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people write and read them.  Every parser takes the whole text or refuses it with a
 * message that names what was found and what was expected ("'5 minutes' is not a duration: write
 * 300s, 5m or 250ms"). Parsing and printing do not depend on the locale.
 */
#ifndef FG_BASE_NUMBER_H
#define FG_BASE_NUMBER_H

#include "base/base.h"
#include "base/error.h"

int fg_parse_int64(const char *text, int64_t *value, struct fg_error *err) FG_NODISCARD;
int fg_parse_uint64(const char *text, uint64_t *value, struct fg_error *err) FG_NODISCARD;
int fg_parse_double(const char *text, double *value, struct fg_error *err)
	FG_NODISCARD; /* finite only */
int fg_parse_bool(const char *text, bool *value, struct fg_error *err)
	FG_NODISCARD; /* true/false, yes/no, on/off */
/* "250ms", "1.5s", "5m", "2h", "3d", "10us", "7ns"; a bare number is seconds. */
int fg_parse_duration_ns(const char *text, int64_t *value_ns, struct fg_error *err) FG_NODISCARD;
/* "64", "64K", "64KiB", "10MB", "2GiB". */
int fg_parse_size_bytes(const char *text, uint64_t *value_bytes, struct fg_error *err) FG_NODISCARD;
/*
 * "2%" and "0.02" both give 0.02. FG_ELIMIT: above 1 without a unit, which is probably a mistake.
 */
int fg_parse_ratio(const char *text, double *value, struct fg_error *err) FG_NODISCARD;

enum {
	FG_NUMBER_TEXT_SIZE = 48
};
/*
 * Formats with three significant digits and a fitting unit, "210 ms" or "34.1 µs"; from two minutes
 * on, as "2 min 5 s" or "1 h 47 min".
 */
const char *fg_format_duration(double value_ns, char text[FG_NUMBER_TEXT_SIZE]);
const char *fg_format_size(double value_bytes, char text[FG_NUMBER_TEXT_SIZE]); /* "12.4 MiB" */
const char *
fg_format_count(double value,
		char text[FG_NUMBER_TEXT_SIZE]); /* "12 345" up to 6 digits, then "1.23 M" */
/* The minus sign for people; programs read '-'. */
#define FG_MINUS "−"
/* Returns "+" or the minus sign. */
const char *fg_format_sign(double value);
/* Formats with a sign and the given number of significant digits: "+0.0012". */
const char *fg_format_signed(double value, int digits, char text[FG_NUMBER_TEXT_SIZE]);
/* Returns the text of fg_format_signed() without its sign. */
const char *fg_format_without_sign(const char *text);
/*
 * Formats a change: 0.048 is "+4.8 %". Changes below 0.1 % have two decimals, but changes below
 * 0.005 % are "+0.0 %"; changes from +1,000 % on are factors: "×11".
 */
const char *fg_format_change(double ratio_minus_one, char text[FG_NUMBER_TEXT_SIZE]);
/* Formats a value with its unit: "ns" and "bytes" are scaled, any other unit follows the number. */
const char *fg_format_value(double value, const char *unit, char text[FG_NUMBER_TEXT_SIZE]);
/* Formats as the shortest text that reads back as the same double, for files. */
const char *fg_format_double(double value, char text[FG_NUMBER_TEXT_SIZE]);

#endif
