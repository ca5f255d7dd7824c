// SPDX-License-Identifier: Apache-2.0
double fit(int rounds, double x, float y)
{
	return rounds + x + (double)y;
}
