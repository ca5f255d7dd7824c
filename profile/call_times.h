/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls of functions took, by call path: what the collector saw of them. */
#ifndef FG_PROFILE_CALL_TIMES_H
#define FG_PROFILE_CALL_TIMES_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* The durations of this function on this call path, added if they are new. */
struct fg_call_durations *fg_call_durations_of(struct fg_profile *profile, const char *function,
					       uint32_t stack);
void fg_call_durations_join(struct fg_call_durations *durations,
			    const struct fg_call_durations *more);
/*
 * The duration that this share of the calls does not exceed, to a quarter of a power of two and
 * never outside of what was seen; 0 calls: 0.
 */
double fg_call_durations_quantile(const struct fg_call_durations *durations, double share);
/* The range of a bin, for people: "64 ns to 80 ns". */
void fg_call_durations_bin_text(unsigned bin, struct fg_strbuf *text);

#endif
