// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/domains.h"

#include "collector/calls/call_values.h"
#include "collector/sampler/writer.h"

#include <string.h>

enum {
	LANE_LOW = 16, /* bytes of a vector register that are always saved */
	LANE_MIDDLE = 32,
	IN_USE_MIDDLE = 4, /* components that show whether higher bytes are in use */
	IN_USE_HIGH = 64,
	MANTISSA_BITS = 52, /* bits of a double's mantissa */
	FLOAT_BITS = 23,    /* bits of a float's mantissa */
	DIGIT_BITS = 32,    /* bits per digit of a sum; each digit covers 32 exponents */
	DIGITS = FG_DOMAIN_SUMS + 4,
};

static const uint64_t fraction_mask = (UINT64_C(1) << MANTISSA_BITS) - 1;
static const uint64_t infinite = UINT64_C(0x7ff) << MANTISSA_BITS;

/* A number as read; its `exponent` is 0 for values from 1 to below 2. */
struct number {
	uint64_t value; /* as encoded in a double */
	uint64_t bits;  /* compared with the previous value's, to count repeats */
	int exponent;
	bool is_zero, is_negative, is_denormal, is_infinite, is_nan;
};

static struct number read_double(uint64_t bits)
{
	const uint64_t fraction = bits & fraction_mask;
	const int exponent = (int)(bits >> MANTISSA_BITS & 0x7ff);

	return (struct number){
		.value = bits,
		.bits = bits,
		.exponent = exponent - 1023,
		.is_negative = bits >> 63 != 0,
		.is_zero = exponent == 0 && fraction == 0,
		.is_denormal = exponent == 0 && fraction != 0,
		.is_infinite = exponent == 0x7ff && fraction == 0,
		.is_nan = exponent == 0x7ff && fraction != 0,
	};
}

/* Returns the bits of the double that equals this float. */
static uint64_t widen(uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63;
	const int exponent = (int)(bits >> FLOAT_BITS & 0xff);
	uint64_t fraction = bits & 0x7fffff;
	int shift = 0;

	if (exponent == 0xff)
		return sign | infinite | fraction << (MANTISSA_BITS - FLOAT_BITS);
	if (exponent == 0 && fraction == 0)
		return sign;
	for (; exponent == 0 && !(fraction >> FLOAT_BITS); shift++)
		fraction <<= 1;
	return sign | (uint64_t)(exponent + (exponent == 0) - shift + 1023 - 127) << MANTISSA_BITS |
	       (fraction & 0x7fffff) << (MANTISSA_BITS - FLOAT_BITS);
}

static struct number read_float(uint32_t bits)
{
	const uint64_t value = widen(bits);
	struct number number = read_double(value);

	number.is_denormal = !number.is_zero && (bits >> FLOAT_BITS & 0xff) == 0;
	return number;
}

/*
 * Reads a long double without the x87 unit, whose flags are the program's. A number too large for a
 * double becomes the largest double; a number smaller than every normal double becomes zero.
 */
static struct number read_extended(const uint8_t *at)
{
	uint64_t mantissa = 0;
	uint16_t head = 0;

	memcpy(&mantissa, at, sizeof(mantissa));
	memcpy(&head, at + sizeof(mantissa), sizeof(head));
	const uint64_t sign = (uint64_t)(head >> 15) << 63;
	const int exponent = head & 0x7fff;
	const uint64_t fraction = mantissa << 1;
	const int scaled = exponent - 16383 + 1023;
	struct number number = {
		.value = sign,
		.bits = mantissa ^ (uint64_t)head << 48,
		.exponent = exponent - 16383,
		.is_negative = sign != 0,
		.is_zero = exponent == 0 && mantissa == 0,
		.is_denormal = exponent == 0 && mantissa != 0,
		.is_infinite = exponent == 0x7fff && fraction == 0,
		.is_nan = exponent == 0x7fff && fraction != 0,
	};

	if (scaled >= 0x7ff)
		number.value = sign | (infinite - 1);
	else if (scaled > 0)
		number.value = sign | (uint64_t)scaled << MANTISSA_BITS | mantissa << 1 >> 12;
	return number;
}

static void add(struct fg_call_domain *domain, const struct number *number)
{
	const uint64_t fraction = number->value & fraction_mask;
	const unsigned exponent = (unsigned)(number->value >> MANTISSA_BITS) & 0x7ff;
	const int64_t mantissa =
		(int64_t)(exponent ? fraction | UINT64_C(1) << MANTISSA_BITS : fraction);

	fg_domain_note_last(domain, number->bits);
	domain->zeros += number->is_zero;
	domain->denormals += number->is_denormal;
	domain->infinities += number->is_infinite;
	domain->nans += number->is_nan;
	domain->negatives += number->is_negative && !number->is_zero && !number->is_nan;
	if (number->is_nan || number->is_infinite)
		return;
	if (!number->is_zero)
		domain->bins[number->is_denormal ? 0 : fg_domain_bin(number->exponent)]++;
	/* Positive and negative zero have the same rank. */
	fg_domain_add_finite(domain, fg_domain_rank(number->is_zero ? 0 : number->value),
			     exponent ? exponent : 1, number->value >> 63 ? -mantissa : mantissa);
}

void fg_domain_add_other_double(struct fg_call_domain *domain, uint64_t bits)
{
	const struct number number = read_double(bits);

	add(domain, &number);
}

void fg_domain_add_other_float(struct fg_call_domain *domain, uint32_t bits)
{
	const struct number number = read_float(bits);

	add(domain, &number);
}

/* Was this part of a register saved? A part that is not in use is zero, and is not saved. */
static bool is_saved(const struct fg_call_state *state, size_t at)
{
	if (at < LANE_LOW)
		return true;
	return at < LANE_MIDDLE ? (state->in_use & (IN_USE_MIDDLE | IN_USE_HIGH)) != 0
				: (state->in_use & IN_USE_HIGH) != 0;
}

static struct number read_at(const struct fg_call_state *state, const struct fg_argument *argument,
			     size_t lane)
{
	const uint8_t *from = state->vectors[argument->place];
	const size_t size = argument->kind == FG_ARGUMENT_DOUBLE ? sizeof(double) : sizeof(float);
	const size_t at = argument->kind == FG_ARGUMENT_HIGH_FLOAT ? size : lane * size;
	uint64_t bits = 0;

	if (is_saved(state, at))
		memcpy(&bits, from + at, size);
	return size == sizeof(double) ? read_double(bits) : read_float((uint32_t)bits);
}

static struct number read_argument(const struct fg_call_state *state,
				   const struct fg_argument *argument, size_t lane)
{
	if (argument->kind == FG_ARGUMENT_EXTENDED)
		return read_extended((const uint8_t *)state->rsp + sizeof(uintptr_t) +
				     (size_t)16 * argument->place);
	return read_at(state, argument, lane);
}

static void add_argument(struct fg_call_domain *domain, const struct fg_call_state *state,
			 const struct fg_argument *argument, size_t lane)
{
	const struct number number = read_argument(state, argument, lane);

	add(domain, &number);
}

/* Adds the lowest number in a register; false: the argument is of another kind. */
static bool add_plain(struct fg_call_domain *domain, const struct fg_call_state *state,
		      const struct fg_argument *argument)
{
	uint64_t bits = 0;

	memcpy(&bits, state->vectors[argument->place], sizeof(bits));
	if (argument->kind == FG_ARGUMENT_DOUBLE)
		fg_domain_add_double(domain, bits);
	else if (argument->kind == FG_ARGUMENT_FLOAT)
		fg_domain_add_float(domain, (uint32_t)bits);
	else
		return false;
	return true;
}

static void keep_all(struct fg_call_values *values, const struct fg_signature *signature,
		     const struct fg_call_state *state)
{
	const size_t lanes = signature->lanes ? signature->lanes : 1;

	for (size_t lane = 0; lane < lanes; lane++) {
		uint64_t arguments[FG_DOMAIN_ARGUMENTS_MAX];

		for (size_t i = 0; i < signature->count; i++)
			arguments[i] = read_argument(state, &signature->arguments[i], lane).value;
		fg_call_values_add(values, arguments, signature->count);
	}
}

void fg_domains_add(struct fg_call_domain *domains, const struct fg_signature *signature,
		    const struct fg_call_state *state, struct fg_call_values *values)
{
	const size_t lanes = signature->lanes ? signature->lanes : 1;

	for (size_t i = 0; i < signature->count; i++)
		for (size_t lane = 0; lane < lanes; lane++)
			if (lane || !add_plain(&domains[i], state, &signature->arguments[i]))
				add_argument(&domains[i], state, &signature->arguments[i], lane);
	if (values)
		keep_all(values, signature, state);
}

/* ---- the sum ---- */

/*
 * Adds the parts, negated if requested, into digits: digit 0 counts units of 2^-1075. Each part
 * carries its overflow into the next digit. Returns whether the result is negative: the digits are
 * then its two's complement.
 */
static bool add_up(const fg_domain_sum *sums, bool is_negated, uint32_t digits[DIGITS])
{
	fg_domain_sum carry = 0;

	for (unsigned i = 0; i < DIGITS; i++) {
		if (i < FG_DOMAIN_SUMS)
			carry += is_negated ? -sums[i] : sums[i];
		digits[i] = (uint32_t)carry;
		carry >>= DIGIT_BITS;
	}
	return carry < 0;
}

static unsigned bit_of(const uint32_t digits[DIGITS], unsigned at)
{
	return digits[at / DIGIT_BITS] >> at % DIGIT_BITS & 1;
}

/*
 * Returns the bits of the double nearest to the number with these digits; ties go to the even
 * mantissa.
 */
static uint64_t nearest(const uint32_t digits[DIGITS])
{
	unsigned top = DIGITS * DIGIT_BITS - 1;
	uint64_t mantissa = 0;
	bool is_beyond_half = false;

	while (top > MANTISSA_BITS && !bit_of(digits, top))
		top--;
	/* Bit 1 stands for the smallest denormal number. */
	const unsigned low = top > MANTISSA_BITS ? top - MANTISSA_BITS : 1;

	for (unsigned i = top; i >= low; i--)
		mantissa = mantissa << 1 | bit_of(digits, i);
	for (unsigned i = 0; i + 1 < low; i++)
		is_beyond_half |= bit_of(digits, i) != 0;
	if (bit_of(digits, low - 1) && (is_beyond_half || mantissa & 1))
		mantissa++;
	/* The mantissa's highest bit increments the exponent, even if rounding set it. */
	mantissa += (uint64_t)(low - 1) << MANTISSA_BITS;
	return mantissa < infinite ? mantissa : infinite;
}

static uint64_t sum_of(const struct fg_call_domain *domain)
{
	uint32_t digits[DIGITS];
	const bool is_negative = add_up(domain->sums, false, digits);

	if (is_negative)
		(void)add_up(domain->sums, true, digits);
	return (uint64_t)is_negative << 63 | nearest(digits);
}

/* ---- writing the trace ---- */

/* Returns the number with this rank. */
static uint64_t of_rank(uint64_t rank)
{
	return rank >> 63 ? rank ^ UINT64_C(1) << 63 : ~rank;
}

uint64_t fg_domain_values(const struct fg_call_domain *domain)
{
	uint64_t values = domain->zeros + domain->infinities + domain->nans;

	for (unsigned i = 0; i < FG_DOMAIN_BINS; i++)
		values += domain->bins[i];
	return values;
}

void fg_domain_append(struct fg_thread *writer, const struct fg_call_domain *domain)
{
	const uint64_t numbers[] = {
		fg_domain_values(domain),
		domain->zeros,
		domain->negatives,
		domain->denormals,
		domain->infinities,
		domain->nans,
		domain->repeats,
		domain->least ? of_rank(~domain->least) : 0,
		domain->most ? of_rank(domain->most) : 0,
		sum_of(domain),
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fg_record_number(writer, numbers[i]);
	for (unsigned i = 0; i < FG_DOMAIN_BINS; i++) {
		if (!domain->bins[i])
			continue;
		fg_record_number(writer, i);
		fg_record_number(writer, domain->bins[i]);
	}
}

void fg_domain_take(struct fg_thread *writer, struct fg_call_domain *domain)
{
	fg_domain_append(writer, domain);
	*domain = (struct fg_call_domain){.last = domain->last, .has_last = domain->has_last};
}
