// SPDX-License-Identifier: Apache-2.0
static double plain(double x)
{
	return x + 1;
}
static double (*choose(void))(double)
{
	return plain;
}
double chosen(double x) __attribute__((ifunc("choose")));
