/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a launcher talks to the collector: environment variables, read once before main.  The
 * launcher puts the library in front of LD_PRELOAD and sets FG_ENV_OUTPUT; without that variable
 * the library does nothing at all.  Children inherit both and so are followed.  A value that does
 * not parse is ignored and noted in the trace.
 */
#ifndef FG_COLLECTOR_COLLECTOR_ENV_H
#define FG_COLLECTOR_COLLECTOR_ENV_H

#include <stdint.h>

#define FG_COLLECTOR_LIBRARY "libfastgate_collector.so"

#define FG_ENV_OUTPUT \
 "FASTGATE_COLLECTOR_OUTPUT" /* absolute path of an existing folder for the trace files */
#define FG_ENV_RATE \
 "FASTGATE_COLLECTOR_RATE" /* samples a second, 1 to 50000; default 1000 (wall: 100) */
/*
 * Nanoseconds between samples, for rates that are not whole; of this and RATE the later one counts.
 */
#define FG_ENV_PERIOD "FASTGATE_COLLECTOR_PERIOD"
#define FG_ENV_CLOCK \
 "FASTGATE_COLLECTOR_CLOCK" /* what is sampled, and at most which rung of the ladder:
                                                         "cpu" (default), "wall", "jitter", "tick" */
#define FG_ENV_ONLY \
 "FASTGATE_COLLECTOR_ONLY" /* pid: only children of this process are sampled, not theirs */
#define FG_ENV_DELAY \
 "FASTGATE_COLLECTOR_DELAY" /* milliseconds from process start before the first sample */
#define FG_ENV_DURATION \
 "FASTGATE_COLLECTOR_DURATION" /* milliseconds that are sampled, from then on */
#define FG_ENV_UNITS \
 "FASTGATE_COLLECTOR_UNITS" /* "FIRST:LAST", units of work by number, both with:
                                                         sampling is on from the begin of FIRST to the end of LAST */
#define FG_ENV_CONTROL \
 "FASTGATE_COLLECTOR_CONTROL" /* absolute path of a one-byte file, mapped shared: sampling is
                                                         off while that byte is '0' */
#define FG_ENV_PAUSED \
 "FASTGATE_COLLECTOR_PAUSED" /* "1": off until the program calls fg_resume() or
                                                         __itt_resume() */
#define FG_ENV_MAX_BYTES \
 "FASTGATE_COLLECTOR_MAX_BYTES" /* size limit of one trace file; default 268435456 */

#define FG_RATE_DEFAULT_HZ      1000
#define FG_RATE_WALL_DEFAULT_HZ 100
#define FG_RATE_MAX_HZ          50000
#define FG_MAX_BYTES_DEFAULT    (UINT64_C(256) << 20)

#endif
