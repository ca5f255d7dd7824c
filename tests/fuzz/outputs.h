/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is made of a profile that came from outside: every export, every view.  All must end, and
 * break nothing.
 */
#ifndef FG_TESTS_FUZZ_OUTPUTS_H
#define FG_TESTS_FUZZ_OUTPUTS_H

#include "profile/profile.h"

/* Nothing when it has so many samples that one input would take seconds. */
void fg_fuzz_write_everything(const struct fg_profile *profile);

#endif
