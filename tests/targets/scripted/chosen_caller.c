// SPDX-License-Identifier: Apache-2.0
double chosen(double);
int main(void)
{
	double x = 0;
	for (int i = 0; i < 9; i++)
		x = chosen(x);
	return x != 9;
}
