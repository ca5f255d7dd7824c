/* SPDX-License-Identifier: Apache-2.0 */
/* Every export and every view of a foreign profile. All must terminate and break nothing. */
#ifndef FG_TESTS_FUZZ_OUTPUTS_H
#define FG_TESTS_FUZZ_OUTPUTS_H

#include "profile/profile.h"

/* Skips inputs whose samples would take seconds. */
void fg_fuzz_write_everything(const struct fg_profile *profile);

#endif
