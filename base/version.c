// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

const char *fg_version(void)
{
	return FG_VERSION;
}
