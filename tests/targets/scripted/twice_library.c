// SPDX-License-Identifier: Apache-2.0
double exp(double);
double spare(double);
double spare(double x)
{
	return 2 * exp(x);
}
double twice(double x);
double twice(double x)
{
	double sum = 0;
	for (int i = 0; i < COUNT; i++)
		sum += spare(x);
	return sum;
}
__attribute__((constructor)) static void begin(void)
{
	volatile double x = 0;
	for (int i = 0; i < 5; i++)
		x = exp(x);
}
