/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug messages: FASTGATE_DEBUG=runner,store:2 switches domains on (":2" for more detail, "all"
 * for everything). They go to stderr, one line each, with a time. When off, a call costs one load
 * and a branch.
 */
#ifndef FG_BASE_LOG_H
#define FG_BASE_LOG_H

#include "base/base.h"

enum fg_log_domain {
	FG_LOG_CONFIG,
	FG_LOG_RUNNER,
	FG_LOG_PROFILE,
	FG_LOG_GATE,
	FG_LOG_STORE,
	FG_LOG_REPORT,
	FG_LOG_NET,
	FG_LOG_SERVER,
	FG_LOG_DOMAIN_COUNT,
};

/* Reads the setting. Returns the first unknown domain, or NULL. */
const char *fg_log_init(const char *setting);
bool fg_log_enabled(enum fg_log_domain domain, int level);
void fg_log(enum fg_log_domain domain, int level, const char *format, ...) FG_PRINTF(3, 4);

#endif
