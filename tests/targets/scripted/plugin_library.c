// SPDX-License-Identifier: Apache-2.0
/* Built under several names and loaded in turn at one address: only the names differ. */
double exp(double);
double NAME(double x);
double NAME(double x)
{
	double sum = 0;
	for (int i = 0; i < 10; i++)
		sum += exp(x);
	return sum;
}
