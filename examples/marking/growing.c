/* SPDX-License-Identifier: Apache-2.0 */
#include <fastgate/region.h>
#include <stdlib.h>

static void *kept[101];

int main(void)
{
	for (int event = 1; event <= 100; event++) {
		kept[event] = malloc(1000);
		if (event == 10 || event == 100)
			fg_dump();
	}
	return kept[100] == NULL;
}
