/* SPDX-License-Identifier: Apache-2.0 */
/* A few milliseconds in a function of its own. */
static void spin(void)
{
	for (volatile int i = 0; i < 10000000; i++)
		;
}

int main(void)
{
	spin();
	return 0;
}
