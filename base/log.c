// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/clock.h"

#include <stdarg.h>

static const char *const domain_names[FG_LOG_DOMAIN_COUNT] = {
	[FG_LOG_CONFIG] = "config", [FG_LOG_RUNNER] = "runner", [FG_LOG_PROFILE] = "profile",
	[FG_LOG_GATE] = "gate",     [FG_LOG_STORE] = "store",   [FG_LOG_REPORT] = "report",
	[FG_LOG_NET] = "net",       [FG_LOG_SERVER] = "server",
};

/* Set once before any thread starts, then only read. */
static int levels[FG_LOG_DOMAIN_COUNT];

static bool set_level(const char *word, size_t length, int level)
{
	const bool all = length == 3 && memcmp(word, "all", 3) == 0;
	bool known = all;

	for (size_t i = 0; i < FG_LOG_DOMAIN_COUNT; i++) {
		if (all || (strlen(domain_names[i]) == length &&
			    memcmp(domain_names[i], word, length) == 0)) {
			levels[i] = level;
			known = true;
		}
	}
	return known;
}

const char *fg_log_init(const char *setting)
{
	const char *unknown = NULL;

	while (setting && *setting) {
		const size_t word = strcspn(setting, ":,");
		const size_t whole = strcspn(setting, ",");
		int level = 1;

		if (setting[word] == ':' && setting[word + 1] >= '0' && setting[word + 1] <= '9')
			level = setting[word + 1] - '0';
		if (!set_level(setting, word, level) && !unknown)
			unknown = setting;
		setting += whole + (setting[whole] == ',' ? 1 : 0);
	}
	return unknown;
}

bool fg_log_enabled(enum fg_log_domain domain, int level)
{
	return FG_UNLIKELY(levels[domain] >= level);
}

void fg_log(enum fg_log_domain domain, int level, const char *format, ...)
{
	char line[1024];
	va_list ap;

	if (!fg_log_enabled(domain, level))
		return;
	va_start(ap, format);
	(void)vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	(void)fprintf(stderr, "%.6f %s: %s\n", (double)fg_clock_monotonic_ns() / 1e9,
		      domain_names[domain], line);
}
