/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of a function's arguments: their number, range and kinds, and a histogram of their
 * exponents, by thread and call path. Arguments are read where the caller left them; the program's
 * floating-point flags and rounding stay as they are.
 */
#ifndef FG_COLLECTOR_DOMAINS_H
#define FG_COLLECTOR_DOMAINS_H

#include "base/attrs.h"
#include "collector/calls/calls.h"
#include "trace/trace_format.h"

struct fg_thread;

enum {
	FG_DOMAIN_ARGUMENTS_MAX = 4,
	FG_SIGNATURE_MAX = 96, /* bytes of a signature's text */
};

/* The place of a floating-point argument. */
enum fg_argument_kind {
	FG_ARGUMENT_DOUBLE = 1, /* the lowest 8 bytes of a vector register */
	FG_ARGUMENT_FLOAT,      /* the lowest 4 bytes of a vector register */
	FG_ARGUMENT_HIGH_FLOAT, /* bytes 4 to 7: the imaginary part of a complex float */
	FG_ARGUMENT_EXTENDED,   /* on the stack */
};

struct fg_argument {
	uint8_t kind;  /* enum fg_argument_kind */
	uint8_t place; /* number of the register, or of the 16-byte slot on the stack */
};

struct fg_signature {
	struct fg_argument arguments[FG_DOMAIN_ARGUMENTS_MAX];
	uint8_t count;
	uint8_t lanes;        /* for a vector function, values in each register; 0: scalar */
	bool is_in_registers; /* all arguments are in registers, none wider than 16 bytes */
	char text[FG_SIGNATURE_MAX];
};

/* Reads "double(double,int)"; false: not understood. */
bool fg_signature_parse(const char *text, struct fg_signature *signature);
/* Finds the signature of a function of libm or libmvec; false: it is not known. */
bool fg_signature_find(const char *name, struct fg_signature *signature);
/* Like fg_signature_find(), including known functions of the C library. */
bool fg_signature_find_any(const char *name, struct fg_signature *signature);
/*
 * Returns false if the symbol shows that its parameters are not where the signature says or, if
 * `callable`, that some may be on the stack.
 */
bool fg_signature_fits(const struct fg_signature *signature, const char *symbol, bool callable);
/* Does struct fg_call_glance contain all arguments to be read? */
bool fg_signature_is_plain(const struct fg_signature *signature);
/*
 * Does the function return twice or look at its caller? If so, do not call it from one of our
 * frames.
 */
bool fg_call_looks_at_caller(const char *name);

/* Part of a sum: the total of mantissas, each shifted left by up to 31 bits. */
__extension__ typedef __int128 fg_domain_sum;

enum {
	FG_DOMAIN_SUMS = 64,  /* each part holds values of 32 exponents, so no part can overflow */
	FG_DOMAIN_SHIFT = 32, /* bin 32 begins at 1 */
};

/*
 * Statistics of one argument. All arithmetic is in integers: it is exact, and does not touch the
 * program's vector registers, floating-point flags or rounding.
 */
struct fg_call_domain {
	_Alignas(64) uint64_t most; /* largest rank of the finite numbers; 0: none */
	uint64_t least;             /* complement of the smallest rank */
	uint64_t last;
	uint64_t repeats; /* number of values equal to the previous value of this thread and path */
	uint64_t negatives, zeros, denormals, infinities, nans;
	bool has_last;
	_Alignas(64) uint64_t bins[FG_DOMAIN_BINS];
	fg_domain_sum sums[FG_DOMAIN_SUMS];
};

/* Maps the bits of a finite number to an integer in the same order. Never 0. */
static inline uint64_t fg_domain_rank(uint64_t bits)
{
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Returns the histogram's bin of a number; its `exponent` is 0 for values from 1 to below 2. */
static inline unsigned fg_domain_bin(int exponent)
{
	const int bin = exponent + FG_DOMAIN_SHIFT;

	if (bin < 0)
		return 0;
	return (unsigned)bin < FG_DOMAIN_BINS ? (unsigned)bin : FG_DOMAIN_BINS - 1;
}

static inline void fg_domain_note_last(struct fg_call_domain *domain, uint64_t bits)
{
	domain->repeats += domain->has_last && domain->last == bits;
	domain->last = bits;
	domain->has_last = true;
}

/* Adds a finite number, given as its rank, its encoded exponent, and its mantissa with the sign. */
static inline void fg_domain_add_finite(struct fg_call_domain *domain, uint64_t rank,
					unsigned exponent, int64_t mantissa)
{
	if (rank > domain->most)
		domain->most = rank;
	if (~rank > domain->least)
		domain->least = ~rank;
	domain->sums[exponent / 32] += (fg_domain_sum)mantissa * (INT64_C(1) << exponent % 32);
}

/* Adds a normal double, given as its bits. */
static inline void fg_domain_add_normal(struct fg_call_domain *domain, uint64_t bits)
{
	const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
	const int64_t mantissa = (int64_t)(fraction | UINT64_C(1) << 52);
	const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
	const bool is_negative = bits >> 63 != 0;

	domain->bins[fg_domain_bin((int)exponent - 1023)]++;
	domain->negatives += is_negative;
	fg_domain_note_last(domain, bits);
	fg_domain_add_finite(domain, fg_domain_rank(bits), exponent,
			     is_negative ? -mantissa : mantissa);
}

/* Adds a zero, denormal, infinity or NaN. */
void fg_domain_add_other_double(struct fg_call_domain *domain, uint64_t bits);
void fg_domain_add_other_float(struct fg_call_domain *domain, uint32_t bits);

static inline void fg_domain_add_double(struct fg_call_domain *domain, uint64_t bits)
{
	if (FG_LIKELY((((bits >> 52) + 1) & 0x7ff) > 1))
		fg_domain_add_normal(domain, bits);
	else
		fg_domain_add_other_double(domain, bits);
}

static inline void fg_domain_add_float(struct fg_call_domain *domain, uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63;
	const uint64_t rest = (uint64_t)(bits & 0x7fffffff) << 29;
	/* difference between the biases of the exponents */
	const uint64_t shift = (UINT64_C(1023) - 127) << 52;

	if (FG_LIKELY((((bits >> 23) + 1) & 0xff) > 1))
		fg_domain_add_normal(domain, sign | (rest + shift));
	else
		fg_domain_add_other_float(domain, bits);
}

struct fg_call_values;

/*
 * Adds each argument to its statistics. If `values` is not NULL, it must have room, and the
 * arguments are added to it as well.
 */
void fg_domains_add(struct fg_call_domain *domains, const struct fg_signature *signature,
		    const struct fg_call_state *state, struct fg_call_values *values);
/* Returns the number of values so far. */
uint64_t fg_domain_values(const struct fg_call_domain *domain);
/* Appends the statistics to the record. */
void fg_domain_append(struct fg_thread *writer, const struct fg_call_domain *domain);
/* Like fg_domain_append(), then clears the statistics. */
void fg_domain_take(struct fg_thread *writer, struct fg_call_domain *domain);

#endif
