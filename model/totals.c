// SPDX-License-Identifier: Apache-2.0
#include "model/totals.h"

#include <stdlib.h>

void fg_totals_release(struct fg_totals *totals)
{
	free(totals->items);
	*totals = (struct fg_totals){0};
}
