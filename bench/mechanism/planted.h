// SPDX-License-Identifier: Apache-2.0
#pragma once
#define _GNU_SOURCE
#include "plant.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define SIZE (1u << 20)
static unsigned table[SIZE], at;
static unsigned char guesses[1 << 16];
static volatile unsigned sink, taken;
static volatile double scaled = 1.000001;
static FOLD unsigned fold(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	return x ^ x >> 15;
}
static MIX unsigned mix(unsigned a, unsigned b)
{
	a ^= b << 7;
	a += b >> 3;
	return a * 31 + 7;
}
static __attribute__((noinline)) unsigned probe(unsigned x)
{
	for (unsigned i = 0; i < 8; i++)
		x = x * 1664525u + sink + i;
	return x;
}
static LANE lanes[LANES + 1];
__attribute__((noinline, optimize(VECTORS))) static unsigned add_lanes(unsigned x)
{
	for (unsigned i = 0; i < LANES; i++)
		lanes[i] += x ^ i;
	return lanes[0];
}
static unsigned odd(unsigned n, unsigned x);
__attribute__((noipa, optimize(SIBLINGS))) static unsigned even(unsigned n, unsigned x)
{
	if (n == 0)
		return x;
#if LAST
	return odd(n - 1, x * 3 + n) + LAST;
#else
	return odd(n - 1, x * 3 + n);
#endif
}
__attribute__((noipa)) static unsigned odd(unsigned n, unsigned x)
{
	return n ? even(n - 1, x ^ n) : x;
}
static __attribute__((noinline)) void set_up(void)
{
	unsigned random = 1;
	for (unsigned i = 0; i < SIZE; i += 16)
		table[i] = i * 2654435761u;
	for (unsigned i = 0; i < sizeof(guesses); i++) {
		random = random * 1103515245u + 12345u;
		guesses[i] = random >> 16 & 1;
	}
}
#define LOOK (table[at = (at + STRIDE) & (SIZE - 1)])
#define PLANTS(i)                                            \
 do {                                                        \
  for (unsigned e = 0; e < EXTRA; e++) {                     \
   acc = acc * 1664525u + e;                                 \
   __asm__ volatile("" : "+r"(acc));                         \
  }                                                          \
  UNROLLED                                                   \
  if ((i) % 4 == 0)                                          \
   for (unsigned p = 0; p < PROBES; p++)                     \
    acc += probe(acc);                                       \
  if (guesses[(i) >> GUESS & 65535]) {                       \
   taken = acc;                                              \
   __asm__ volatile("nop");                                  \
  }                                                          \
  if (ALLOCATIONS && (i) % (ALLOCATIONS + 1) == 0) {         \
   char *m = malloc(24 + ((i)&31));                          \
   *m = (char)acc;                                           \
   __asm__ volatile("" ::"r"(m) : "memory");                 \
   free(m);                                                  \
  }                                                          \
  if (ARRAYS && (i) % (ARRAYS + 1) == 0) {                   \
   unsigned *m = calloc(16, 4);                              \
   m[acc & 15] = acc;                                        \
   acc ^= m[3];                                              \
   __asm__ volatile("" ::"r"(m) : "memory");                 \
   free(m);                                                  \
  }                                                          \
  if (LANES && (i) % 16 == 0)                                \
   acc += add_lanes(acc);                                    \
  if (STEPS && (i) % 16 == 0)                                \
   acc += even(STEPS, acc);                                  \
  acc += fold(acc) ^ mix(fold(i), mix(acc, i));              \
  f = f SCALE scaled SCALE scaled SCALE scaled SCALE scaled; \
 } while (0)
#define HOT static __attribute__((noinline)) unsigned
#define BEGIN      \
 double f = 1;     \
 unsigned acc = n; \
 if (WAIT)         \
 usleep(WAIT)
#define END return acc + (unsigned)f
#define MAIN(name)                    \
 int main(void)                       \
 {                                    \
  set_up();                           \
  for (unsigned r = 0; r < RUNS; r++) \
   sink += name(r);                   \
  return 0;                           \
 }
