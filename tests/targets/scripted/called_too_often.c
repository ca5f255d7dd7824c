// SPDX-License-Identifier: Apache-2.0
__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
	return fibonacci(33) < 0;
}
