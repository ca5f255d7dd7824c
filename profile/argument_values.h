/* SPDX-License-Identifier: Apache-2.0 */
/* The values that functions were called with, packed as the collector kept them. */
#ifndef FG_PROFILE_ARGUMENT_VALUES_H
#define FG_PROFILE_ARGUMENT_VALUES_H

#include "profile/profile.h"

/*
 * Unpacks one piece, row after row, into `to`, which has room for all; returns the number of rows:
 * fewer than the piece claims if it is damaged.
 */
uint32_t fg_argument_values_unpack(const struct fg_argument_values *values, double *to);

#endif
