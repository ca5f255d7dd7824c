// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>

enum {
	ROUNDS = 25000000
};

__attribute__((noinline)) static uint64_t scan(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++)
		value = (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
	return value;
}

__attribute__((noinline)) static uint64_t digest(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++)
		value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb) + 3;
	return value;
}

__attribute__((noinline)) static uint64_t convert(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++)
		value = (value ^ (value >> 31)) * UINT64_C(0x9e3779b97f4a7c15) + 7;
	return value;
}

int main(void)
{
	printf("%llu\n", (unsigned long long)convert(digest(scan(42))));
	return 0;
}
