// SPDX-License-Identifier: Apache-2.0
#include <math.h>
static volatile double sink;
int main(void)
{
	CALLS
	return 0;
}
