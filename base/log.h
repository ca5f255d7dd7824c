/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for those who look inside: FASTGATE_DEBUG=runner,store:2 switches domains on (":2" for
 * more detail, "all" for everything).  They go to stderr, one line each, with a time.  Off, a call
 * costs one load and a branch. This is not how users are told anything: that is the command line's
 * task.
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

/*
 * Reads the setting; an unknown domain is reported through the return value (the unknown word),
 * NULL when all are known.
 */
const char *fg_log_init(const char *setting);
bool fg_log_enabled(enum fg_log_domain domain, int level);
void fg_log(enum fg_log_domain domain, int level, const char *format, ...) FG_PRINTF(3, 4);

#endif
