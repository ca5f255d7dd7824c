/* SPDX-License-Identifier: Apache-2.0 */
/* Compares figures with reference values. */
#ifndef FG_TESTS_STATS_CLOSE_H
#define FG_TESTS_STATS_CLOSE_H

#include "tests/support/fg_test.h"

#include <math.h>

/* Relative for large values, absolute near zero. */
#define assert_close(value, wanted, tolerance)                       \
 do {                                                                \
  double value_ = (value);                                           \
  double wanted_ = (wanted);                                         \
  double room_ = (tolerance)*fmax(fabs(wanted_), 1e-300);            \
  if (!(fabs(value_ - wanted_) <= room_))                            \
   fail_msg("%s is %.17g, expected %.17g", #value, value_, wanted_); \
 } while (0)

#define assert_near(value, wanted, room)                             \
 do {                                                                \
  double value_ = (value);                                           \
  double wanted_ = (wanted);                                         \
  if (!(fabs(value_ - wanted_) <= (room)))                           \
   fail_msg("%s is %.17g, expected %.17g", #value, value_, wanted_); \
 } while (0)

#endif
