// SPDX-License-Identifier: Apache-2.0
static int next_byte(const volatile char *at)
{
	return *at;
}

int main(void)
{
	return next_byte(0);
}
