// SPDX-License-Identifier: Apache-2.0
#include <alloca.h>
#include <math.h>
#include <stdio.h>
static volatile double sum;
#define CALLS(x)        \
 do {                   \
  sum += exp(x);        \
  sum += log(2 + (x));  \
  sum += exp(-(x));     \
  __asm__ volatile(""); \
 } while (0)
__attribute__((noinline)) static void one(double x)
{
	CALLS(x);
}
__attribute__((noinline)) static void two(double x)
{
	CALLS(x);
}
__attribute__((noinline)) static void wide(int size)
{
	volatile char *room = alloca(size);
	room[size - 1] = 1;
	CALLS(1.0);
}
__attribute__((noinline)) static void left(int i)
{
	one(i);
	two(i);
	wide(16 << i % 3);
	__asm__ volatile("");
}
__attribute__((noinline)) static void right(int i)
{
	one(i);
	two(i);
	one(i);
	__asm__ volatile("");
}
__attribute__((noinline)) static void down(int i)
{
	if (i > 0)
		down(i - 1);
	else
		one(0);
	two(1);
	__asm__ volatile("");
}
static void (*volatile const turns[])(double) = {one, two};
__attribute__((noinline)) static void choose(void)
{
	for (int i = 0; i < 30; i++)
		turns[i % 3 == 0](i);
	__asm__ volatile("");
}
int main(void)
{
	choose();
	for (int i = 0; i < 20; i++) {
		left(i);
		right(i);
		down(i % 5);
	}
	printf("%g\n", sum);
	return 0;
}
