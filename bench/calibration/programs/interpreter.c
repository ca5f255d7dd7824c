// SPDX-License-Identifier: Apache-2.0
/*
 * Branches: an interpreter of a small byte code that counts primes, with one unpredictable jump per
 * instruction.
 */
#include <stdint.h>
#include <stdio.h>

#ifndef SLOWER_PERMILLE
# define SLOWER_PERMILLE 0
#endif

enum op {
	LOAD,      /* r[a] = number */
	ADD,       /* r[a] += r[b] */
	REMAINDER, /* r[a] = r[b] % r[c] */
	JUMP_IF_ZERO,
	JUMP_IF_LESS, /* r[a] < r[b] */
	COPY,
	JUMP,
	STOP,
};

struct instruction {
	uint8_t op;
	uint8_t a;
	uint8_t b;
	uint8_t c;
	int32_t to; /* number, or jump target */
};

/* for n = 2 ...: for d = 2 ... n-1: if n % d == 0 then next n; count++ */
static const struct instruction program[] = {
	{LOAD, 0, 0, 0, 2},          /*  0: n = 2 */
	{LOAD, 5, 0, 0, 1},          /*  1: one */
	{LOAD, 4, 0, 0, 0},          /*  2: count = 0 */
	{LOAD, 1, 0, 0, 2},          /*  3: d = 2 */
	{JUMP_IF_LESS, 1, 0, 0, 6},  /*  4: d < n? */
	{JUMP, 0, 0, 0, 10},         /*  5: prime */
	{REMAINDER, 2, 0, 1, 0},     /*  6: r = n % d */
	{JUMP_IF_ZERO, 2, 0, 0, 11}, /*  7: not prime */
	{ADD, 1, 5, 0, 0},           /*  8: d++ */
	{JUMP, 0, 0, 0, 4},          /*  9 */
	{ADD, 4, 5, 0, 0},           /* 10: count++ */
	{ADD, 0, 5, 0, 0},           /* 11: n++ */
	{JUMP_IF_LESS, 0, 6, 0, 3},  /* 12: n < limit? */
	{STOP, 0, 0, 0, 0},          /* 13 */
};

__attribute__((noinline)) static int64_t interpret(int64_t limit)
{
	int64_t r[8] = {0};
	int at = 0;

	r[6] = limit;
	for (;;) {
		const struct instruction *i = &program[at++];

		switch ((enum op)i->op) {
		case LOAD:
			r[i->a] = i->to;
			break;
		case ADD:
			r[i->a] += r[i->b];
			break;
		case REMAINDER:
			r[i->a] = r[i->b] % r[i->c];
			break;
		case JUMP_IF_ZERO:
			at = r[i->a] == 0 ? i->to : at;
			break;
		case JUMP_IF_LESS:
			at = r[i->a] < r[i->b] ? i->to : at;
			break;
		case COPY:
			r[i->a] = r[i->b];
			break;
		case JUMP:
			at = i->to;
			break;
		case STOP:
			return r[4];
		}
	}
}

int main(void)
{
	const int rounds = 1000 + SLOWER_PERMILLE;
	int64_t sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += interpret(190 + i % 7);
	printf("%lld\n", (long long)sum);
	return 0;
}
