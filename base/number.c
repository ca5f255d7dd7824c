// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

static locale_t c_locale(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	FG_ASSERT(locale);
	return locale;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int fg_parse_int64(const char *text, int64_t *value, struct fg_error *err)
{
	char *end = NULL;
	long long number = 0;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || is_blank(*text))
		return fg_error_set(err, FG_EPARSE, "'%s' is not a whole number", text);
	if (errno == ERANGE)
		return fg_error_set(err, FG_EPARSE, "'%s' is too large", text);
	*value = number;
	return FG_OK;
}

int fg_parse_uint64(const char *text, uint64_t *value, struct fg_error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0')
		return fg_error_set(err, FG_EPARSE, "'%s' is not a whole number of 0 or more",
				    text);
	if (errno == ERANGE)
		return fg_error_set(err, FG_EPARSE, "'%s' is too large", text);
	*value = number;
	return FG_OK;
}

/*
 * Reads a decimal number at the start of the text: digits, a point, an exponent; no hexadecimal, no
 * "inf" or "nan".
 */
static bool take_number(const char *text, const char **end, double *value)
{
	const char *p = text;
	char *stop = NULL;
	double number = 0.0;

	if (*p == '+' || *p == '-')
		p++;
	if (!((*p >= '0' && *p <= '9') || (*p == '.' && p[1] >= '0' && p[1] <= '9')) ||
	    (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')))
		return false;
	number = strtod_l(text, &stop, c_locale());
	if (!isfinite(number))
		return false;
	*value = number;
	*end = stop;
	return true;
}

int fg_parse_double(const char *text, double *value, struct fg_error *err)
{
	const char *end = NULL;
	double number = 0.0;

	if (!take_number(text, &end, &number) || *end != '\0')
		return fg_error_set(err, FG_EPARSE, "'%s' is not a number", text);
	*value = number;
	return FG_OK;
}

int fg_parse_bool(const char *text, bool *value, struct fg_error *err)
{
	static const char *const words[2][4] = {{"false", "no", "off", "0"},
						{"true", "yes", "on", "1"}};

	for (size_t truth = 0; truth < 2; truth++) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(words[0]); i++) {
			if (strcmp(text, words[truth][i]) == 0) {
				*value = truth == 1;
				return FG_OK;
			}
		}
	}
	return fg_error_set(err, FG_EPARSE, "'%s' is neither true nor false", text);
}

struct unit {
	const char *name;
	double factor;
};

/* Reads a number, an optional blank and a unit. A number without a unit is in the first unit. */
static bool parse_with_unit(const char *text, const struct unit *units, size_t count, double *value)
{
	const char *end = NULL;
	double number = 0.0;

	if (!take_number(text, &end, &number))
		return false;
	if (*end == '\0') {
		*value = number * units[0].factor;
		return true;
	}
	if (*end == ' ')
		end++;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(end, units[i].name) == 0) {
			*value = number * units[i].factor;
			return true;
		}
	}
	return false;
}

int fg_parse_duration_ns(const char *text, int64_t *value_ns, struct fg_error *err)
{
	static const struct unit units[] = {
		{.name = "s", .factor = 1e9},    {.name = "ns", .factor = 1.0},
		{.name = "us", .factor = 1e3},   {.name = "µs", .factor = 1e3},
		{.name = "ms", .factor = 1e6},   {.name = "sec", .factor = 1e9},
		{.name = "m", .factor = 60e9},   {.name = "min", .factor = 60e9},
		{.name = "h", .factor = 3600e9}, {.name = "d", .factor = 86400e9},
	};
	double number = 0.0;

	if (!parse_with_unit(text, units, FG_ARRAY_SIZE(units), &number) || number < 0.0)
		return fg_error_set(err, FG_EPARSE,
				    "'%s' is not a duration: write 250ms, 1.5s, 5m or 2h", text);
	if (number > 9e18)
		return fg_error_set(err, FG_EPARSE, "'%s' is too long", text);
	*value_ns = (int64_t)llround(number);
	return FG_OK;
}

int fg_parse_size_bytes(const char *text, uint64_t *value_bytes, struct fg_error *err)
{
	static const struct unit units[] = {
		{.name = "B", .factor = 1.0},          {.name = "K", .factor = 1024.0},
		{.name = "KiB", .factor = 1024.0},     {.name = "kB", .factor = 1e3},
		{.name = "KB", .factor = 1e3},         {.name = "M", .factor = 1048576.0},
		{.name = "MiB", .factor = 1048576.0},  {.name = "MB", .factor = 1e6},
		{.name = "G", .factor = 1073741824.0}, {.name = "GiB", .factor = 1073741824.0},
		{.name = "GB", .factor = 1e9},         {.name = "TiB", .factor = 1099511627776.0},
	};
	double number = 0.0;

	if (!parse_with_unit(text, units, FG_ARRAY_SIZE(units), &number) || number < 0.0)
		return fg_error_set(err, FG_EPARSE,
				    "'%s' is not a size: write 4096, 64K, 10MB or 2GiB", text);
	if (number > 9e18)
		return fg_error_set(err, FG_EPARSE, "'%s' is too large", text);
	*value_bytes = (uint64_t)llround(number);
	return FG_OK;
}

int fg_parse_ratio(const char *text, double *value, struct fg_error *err)
{
	static const struct unit units[] = {
		{.name = "", .factor = 1.0},
		{.name = "%", .factor = 0.01},
	};
	double number = 0.0;

	if (!parse_with_unit(text, units, FG_ARRAY_SIZE(units), &number))
		return fg_error_set(err, FG_EPARSE,
				    "'%s' is not a percentage or a fraction: write 2%% or 0.02",
				    text);
	if (number > 1.0 && !strchr(text, '%'))
		return fg_error_set(err, FG_ELIMIT, "%s means %g %%: write %s%%", text,
				    100.0 * number, text);
	*value = number;
	return FG_OK;
}

/* Prints three significant digits without an exponent. */
static void print_three(char *text, double value, const char *unit)
{
	const double size = fabs(value);
	const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;

	(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.*f%s%s", size < 1e-12 ? 0 : decimals, value,
		       *unit ? " " : "", unit);
}

/* Prints "2 min 5 s"; from an hour on "1 h 47 min", without seconds. */
static void print_long(char text[FG_NUMBER_TEXT_SIZE], double size_ns, const char *sign)
{
	const double seconds = round(size_ns / 1e9);
	const double minutes = round(size_ns / 60e9);

	if (seconds < 3600.0)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s%.0f min %.0f s", sign,
			       floor(seconds / 60.0), fmod(seconds, 60.0));
	else if (fmod(minutes, 60.0) < 0.5)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s%.0f h", sign, minutes / 60.0);
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s%.0f h %.0f min", sign,
			       floor(minutes / 60.0), fmod(minutes, 60.0));
}

/* Replaces printf()'s minus with the typographic minus. */
static const char *with_minus(char text[FG_NUMBER_TEXT_SIZE])
{
	const size_t length = strlen(text);

	if (text[0] == '-' && length + sizeof(FG_MINUS) <= FG_NUMBER_TEXT_SIZE) {
		memmove(text + sizeof(FG_MINUS) - 1, text + 1, length);
		memcpy(text, FG_MINUS, sizeof(FG_MINUS) - 1);
	}
	return text;
}

const char *fg_format_sign(double value)
{
	return value < 0 ? FG_MINUS : "+";
}

const char *fg_format_without_sign(const char *text)
{
	const size_t minus = sizeof(FG_MINUS) - 1;

	if (strncmp(text, FG_MINUS, minus) == 0)
		return text + minus;
	return text[0] == '+' ? text + 1 : text;
}

const char *fg_format_signed(double value, int digits, char text[FG_NUMBER_TEXT_SIZE])
{
	/* With two digits, 150 must not become 1.5e+02. */
	if (fabs(value) >= pow(10, digits) - 0.5)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%+.0f", value);
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%+.*g", digits, value);
	return with_minus(text);
}

const char *fg_format_duration(double value_ns, char text[FG_NUMBER_TEXT_SIZE])
{
	static const struct unit units[] = {
		{.name = "s", .factor = 1e9},
		{.name = "ms", .factor = 1e6},
		{.name = "µs", .factor = 1e3},
	};
	const double size = fabs(value_ns);

	if (!isfinite(value_ns)) {
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "?");
		return with_minus(text);
	}
	if (size >= 119.5e9) {
		print_long(text, size, value_ns < 0 ? FG_MINUS : "");
		return with_minus(text);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (size >= units[i].factor * 0.9995) {
			print_three(text, value_ns / units[i].factor, units[i].name);
			return with_minus(text);
		}
	}
	if (size < 99.95 && fabs(size - round(size)) > 1e-9)
		print_three(text, value_ns, "ns");
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.0f ns", value_ns);
	return with_minus(text);
}

const char *fg_format_size(double value_bytes, char text[FG_NUMBER_TEXT_SIZE])
{
	static const struct unit units[] = {
		{.name = "GiB", .factor = 1073741824.0},
		{.name = "MiB", .factor = 1048576.0},
		{.name = "KiB", .factor = 1024.0},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (fabs(value_bytes) >= units[i].factor) {
			print_three(text, value_bytes / units[i].factor, units[i].name);
			return with_minus(text);
		}
	}
	(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.0f B", value_bytes);
	return with_minus(text);
}

const char *fg_format_count(double value, char text[FG_NUMBER_TEXT_SIZE])
{
	static const struct unit units[] = {
		{.name = "G", .factor = 1e9},
		{.name = "M", .factor = 1e6},
	};
	const double size = fabs(value);

	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (size >= units[i].factor) {
			print_three(text, value / units[i].factor, units[i].name);
			return with_minus(text);
		}
	}
	if (size >= 9999.5) {
		const long long whole = llround(size);

		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s%lld %03lld",
			       value < 0 ? FG_MINUS : "", whole / 1000, whole % 1000);
	} else if (fabs(value - round(value)) < 1e-9) {
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.0f", value);
	} else {
		print_three(text, value, "");
	}
	return with_minus(text);
}

static void format_percent(const char *sign, double ratio, char text[FG_NUMBER_TEXT_SIZE])
{
	const double percent = fabs(ratio) * 100.0;

	if (!isfinite(percent))
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "?");
	else if (percent < 0.005)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s0.0 %%", sign);
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s%.*f %%", sign,
			       percent < 0.095   ? 2
			       : percent < 999.5 ? 1
						 : 0,
			       percent);
}

const char *fg_format_change(double ratio_minus_one, char text[FG_NUMBER_TEXT_SIZE])
{
	char count[FG_NUMBER_TEXT_SIZE];

	if (ratio_minus_one >= 9.995) {
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "×%.*s",
			       (int)(FG_NUMBER_TEXT_SIZE - sizeof("×")),
			       fg_format_count(round(ratio_minus_one + 1), count));
		return text;
	}
	format_percent(ratio_minus_one <= -0.00005 ? FG_MINUS : "+", ratio_minus_one, text);
	return text;
}

const char *fg_format_value(double value, const char *unit, char text[FG_NUMBER_TEXT_SIZE])
{
	char number[FG_NUMBER_TEXT_SIZE];

	if (!isfinite(value)) {
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "?");
		return text;
	}
	if (strcmp(unit, "ns") == 0)
		return fg_format_duration(value, text);
	if (strcmp(unit, "bytes") == 0)
		return fg_format_size(value, text);
	if (strcmp(unit, "1") == 0 || *unit == '\0')
		return fg_format_count(value, text);
	(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%s %.20s", fg_format_count(value, number), unit);
	return text;
}

/* Writes the digits of a whole number backwards from `end`; returns their start. */
static char *put_digits(char *end, uint64_t value, size_t least)
{
	char *at = end;

	while (value > 0 || (size_t)(end - at) < least) {
		*--at = (char)('0' + value % 10);
		value /= 10;
	}
	return at;
}

/*
 * Fast path for numbers with few decimals. Most numbers have few, because they were rounded for
 * display. An integer below 2^53 divided by a power of ten up to 10^22 is the double nearest to
 * that decimal, so comparing with the quotient shows whether these digits stand for the value; with
 * at most 15 digits "%.15g" would give the same.
 */
static bool format_short(double value, char text[FG_NUMBER_TEXT_SIZE])
{
	static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
	const double size = fabs(value);

	if (!(size >= 1e-4))
		return false;
	for (size_t k = 0; k < FG_ARRAY_SIZE(powers); k++) {
		const double scaled = rint(size * powers[k]);
		char digits[24];
		char *end = digits + sizeof(digits);
		char *at = NULL;
		size_t whole = 0;

		if (scaled >= 1e15)
			return false;
		if (scaled / powers[k] < size || scaled / powers[k] > size)
			continue;
		at = put_digits(end, (uint64_t)scaled, k + 1);
		whole = (size_t)(end - at) - k;
		if (value < 0)
			*text++ = '-';
		memcpy(text, at, whole);
		if (k) {
			text[whole] = '.';
			memcpy(text + whole + 1, at + whole, k);
		}
		text[whole + k + (k > 0)] = '\0';
		return true;
	}
	return false;
}

const char *fg_format_double(double value, char text[FG_NUMBER_TEXT_SIZE])
{
	if (format_short(value, text))
		return text;
	for (int digits = 15; digits <= 17; digits++) {
		const char *end = NULL;
		double back = 0.0;

		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "%.*g", digits, value);
		if (take_number(text, &end, &back) && !(back < value) && !(back > value))
			break;
	}
	return text;
}
