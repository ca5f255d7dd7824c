/* SPDX-License-Identifier: Apache-2.0 */
/* Runs for a few milliseconds in a separate function. */
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
