// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <unistd.h>
extern "C" {
int thrower(int n);
int down(int n);
int nap(int ms);
double mixed(int a, double x, long b, float y, const char *text, unsigned c);
int on_the_stack(long a, long b, long c, long d, long e, long f, long g);
int thrower(int n)
{
	if (n % 2)
		throw n;
	return n;
}
static int (*volatile next)(int) = down;
int down(int n)
{
	return n == 0 ? 0 : 1 + next(n - 1);
}
int nap(int ms)
{
	usleep(1000u * static_cast<unsigned>(ms));
	return ms;
}
double mixed(int a, double x, long b, float y, const char *text, unsigned c)
{
	return a + x + b + static_cast<double>(y) + text[0] + c;
}
int on_the_stack(long a, long b, long c, long d, long e, long f, long g)
{
	return static_cast<int>(a + b + c + d + e + f + g);
}
}
