// SPDX-License-Identifier: Apache-2.0
#define KEPT __attribute__((noinline, noclone))
static volatile int sink;
KEPT static int leaf(int x)
{
	for (int i = 0; i < 50; i++)
		sink += x;
	return sink;
}
KEPT static int mid(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}
KEPT static int fib(int n)
{
	int sum = n;
	if (n > 1) {
		sum = fib(n - 1);
		sum += fib(n - 2);
	}
	sink += sum;
	return sum;
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		sink += mid(i % 10);
	sink += fib(10);
	sink += leaf(3);
	return 3;
}
