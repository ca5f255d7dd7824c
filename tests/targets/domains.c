// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of mathematical functions with known arguments.  The program checks its rounding mode and
 * floating-point flags, which recording the arguments must not change.
 */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

static volatile double sink;
static volatile float float_sink;
static volatile long double long_sink;
static volatile double nothing;

/* Calls exp with -1, -2, -3, ... -1000. */
FAR_FROM_OPTIMISED void count_up(void)
{
	for (volatile int i = 1; i <= 1000; i = i + 1)
		sink = exp(-(double)i);
	__asm__ volatile("");
}

/*
 * One call of each kind, from one place. The volatile counter keeps the compiler from unrolling the
 * loop.
 */
FAR_FROM_OPTIMISED void kinds(void)
{
	static volatile const double values[] = {0.0,    -0.0,    INFINITY, -INFINITY, NAN,
						 5e-324, -1e-310, 1e300,    -2.5,      1.5};

	for (volatile unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i = i + 1)
		sink = cbrt(values[i]);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void kinds_of_float(void)
{
	static volatile const float values[] = {1e-40F, 3.0F, -4.0F, NAN};

	for (volatile unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i = i + 1)
		float_sink = sinf(values[i]);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void always_the_same(void)
{
	for (volatile int i = 0; i < 2000; i = i + 1)
		sink = log(2.5 + nothing);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void two_arguments(void)
{
	for (volatile int i = 0; i < 100; i = i + 1) {
		sink = pow((double)i, 2.0 + nothing);
		float_sink = atan2f((float)i, -8.0F);
	}
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void others(void)
{
	int exponent = 0;
	double complex z = 3.0 + nothing + 4.0 * I;
	float complex w = 5.0F + (float)nothing - 6.0F * I;

	long_sink = tanhl(0.25L + (long double)nothing);
	sink = ldexp(7.0 + nothing, 3);
	sink = jn(2, 9.0 + nothing);
	sink = lgamma_r(11.0 + nothing, &exponent);
	sink = cabs(z);
	float_sink = cabsf(w);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void keep_the_flags(void)
{
	(void)fesetround(FE_UPWARD);
	(void)feclearexcept(FE_ALL_EXCEPT);
	sink = fabs(sink);
	double (*volatile round_it)(double) = floor;

	for (int i = 0; i < 3; i++) {
		sink = round_it(3.0 + nothing);
		if (fegetround() != FE_UPWARD || fetestexcept(FE_ALL_EXCEPT) != 0)
			abort();
	}
	(void)fesetround(FE_TONEAREST);
	__asm__ volatile("");
}

int main(void)
{
	count_up();
	kinds();
	kinds_of_float();
	always_the_same();
	two_arguments();
	others();
	keep_the_flags();
	return 0;
}
