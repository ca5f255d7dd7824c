// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec now = {0};

	(void)clock_gettime(id, &now);
	return (int64_t)now.tv_sec * FG_NS_PER_S + now.tv_nsec;
}

int64_t fg_clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t fg_clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t fg_clock_process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void put_number(char *at, int digits, int64_t value)
{
	for (int i = digits; i-- > 0; value /= 10)
		at[i] = (char)('0' + value % 10);
}

/*
 * Faster than gmtime_r(): a trend shows ten thousand dates. Years start in March, so the leap day
 * is the last day of a year; 400 years always have 146,097 days.
 */
void fg_time_format_utc(int64_t wall_ns, char text[FG_TIME_TEXT_SIZE])
{
	enum {
		DAY_S = 86400,
		DAYS_TO_1970 = 719468, /* days from 1 March of the year 0 */
		DAYS_400_YEARS = 146097
	};
	const int64_t seconds = wall_ns / FG_NS_PER_S - (wall_ns % FG_NS_PER_S < 0);
	const int64_t second = (seconds % DAY_S + DAY_S) % DAY_S;
	const int64_t days = (seconds - second) / DAY_S + DAYS_TO_1970;
	const int64_t era = days / DAYS_400_YEARS;
	const int64_t of_era = days % DAYS_400_YEARS;
	const int64_t year =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / (DAYS_400_YEARS - 1)) / 365;
	const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	const int64_t month = (5 * of_year + 2) / 153; /* 0: March */

	memcpy(text, "0000-00-00T00:00:00Z", sizeof("0000-00-00T00:00:00Z"));
	put_number(text, 4, era * 400 + year + (month >= 10));
	put_number(text + 5, 2, month < 10 ? month + 3 : month - 9);
	put_number(text + 8, 2, of_year - (153 * month + 2) / 5 + 1);
	put_number(text + 11, 2, second / 3600);
	put_number(text + 14, 2, second / 60 % 60);
	put_number(text + 17, 2, second % 60);
}

/* Reads exactly `count` digits. */
static bool take_digits(const char **text, int count, int *value)
{
	*value = 0;
	for (int i = 0; i < count; i++) {
		const char c = **text;

		if (c < '0' || c > '9')
			return false;
		*value = *value * 10 + (c - '0');
		(*text)++;
	}
	return true;
}

static bool take_char(const char **text, char wanted)
{
	if (**text != wanted)
		return false;
	(*text)++;
	return true;
}

bool fg_time_parse_utc(const char *text, int64_t *wall_ns)
{
	struct tm tm = {0};
	struct tm back = {0};
	time_t seconds = 0;

	if (!take_digits(&text, 4, &tm.tm_year) || !take_char(&text, '-') ||
	    !take_digits(&text, 2, &tm.tm_mon) || !take_char(&text, '-') ||
	    !take_digits(&text, 2, &tm.tm_mday))
		return false;
	if (*text != '\0' && (!take_char(&text, 'T') || !take_digits(&text, 2, &tm.tm_hour) ||
			      !take_char(&text, ':') || !take_digits(&text, 2, &tm.tm_min) ||
			      !take_char(&text, ':') || !take_digits(&text, 2, &tm.tm_sec) ||
			      !take_char(&text, 'Z') || *text != '\0'))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	back = tm;
	seconds = timegm(&back);
	/* timegm() accepts 31 February; we do not. */
	if (back.tm_mday != tm.tm_mday || back.tm_mon != tm.tm_mon || back.tm_hour != tm.tm_hour ||
	    back.tm_min != tm.tm_min || back.tm_sec != tm.tm_sec)
		return false;
	/* Nanoseconds in 64 bits end in the year 2262. */
	if (seconds > INT64_MAX / FG_NS_PER_S || seconds < INT64_MIN / FG_NS_PER_S)
		return false;
	*wall_ns = (int64_t)seconds * FG_NS_PER_S;
	return true;
}
