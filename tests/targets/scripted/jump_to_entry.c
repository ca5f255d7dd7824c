// SPDX-License-Identifier: Apache-2.0
/* JUMP is an instruction; `jnz turns` leads to the entry of its own function. */
static volatile long sink;

__attribute__((noinline)) static long fit(long n)
{
	long found = 3 * n;

	sink = found;
	return found;
}

long turns(long n);
__asm__("\t.text\n"
	"\t.globl turns\n"
	"\t.type turns, @function\n"
	"turns:\n"
	"\t.cfi_startproc\n"
	"\tmov $1000, %eax\n"
	"\tdec %edi\n"
	"\t" JUMP "\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size turns, . - turns\n");

int main(void)
{
	for (long i = 0; i < FITS; i++)
		sink = fit(i);
	for (long i = 1; i < 10; i++)
		sink = turns(1);
	return 0;
}
