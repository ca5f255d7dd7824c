// SPDX-License-Identifier: Apache-2.0
/* A test builds this under several names and loads them in turn at one address. */
double exp(double);
double NAME(double x);
double NAME(double x)
{
	double sum = 0;
	for (int i = 0; i < 10; i++)
		sum += exp(x);
	return sum;
}
