// SPDX-License-Identifier: Apache-2.0
#include "collector/domains.h"

#include "collector/call_values.h"
#include "collector/writer.h"

#include <string.h>

enum {
	LANE_LOW = 16, /* bytes of a vector register that are always saved, */
	LANE_MIDDLE = 32,
	IN_USE_MIDDLE = 4, /* and the components that tell whether the rest is in use */
	IN_USE_HIGH = 64,
	EXPONENT_SHIFT = 32, /* bin 32 begins at 1 */
};

/* As found in memory; `exponent` that of the value, 1 to below 2 having 0. */
struct number {
	double value;
	uint64_t bits;
	int exponent;
	bool is_zero, is_negative, is_denormal, is_infinite, is_nan;
};

static double double_of(uint64_t bits)
{
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static struct number read_double(uint64_t bits)
{
	const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
	const int exponent = (int)(bits >> 52 & 0x7ff);

	return (struct number){
		.value = double_of(bits),
		.bits = bits,
		.exponent = exponent - 1023,
		.is_negative = bits >> 63 != 0,
		.is_zero = exponent == 0 && fraction == 0,
		.is_denormal = exponent == 0 && fraction != 0,
		.is_infinite = exponent == 0x7ff && fraction == 0,
		.is_nan = exponent == 0x7ff && fraction != 0,
	};
}

static struct number read_float(uint32_t bits)
{
	const uint32_t fraction = bits & 0x7fffff;
	const int exponent = (int)(bits >> 23 & 0xff);
	float value = 0;

	memcpy(&value, &bits, sizeof(value));
	return (struct number){
		.value = (double)value,
		.bits = bits,
		.exponent = exponent - 127,
		.is_negative = bits >> 31 != 0,
		.is_zero = exponent == 0 && fraction == 0,
		.is_denormal = exponent == 0 && fraction != 0,
		.is_infinite = exponent == 0xff && fraction == 0,
		.is_nan = exponent == 0xff && fraction != 0,
	};
}

/* Without the x87 unit, whose flags are the program's.  Beyond the range of double: its ends. */
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
		.bits = mantissa ^ (uint64_t)head << 48,
		.exponent = exponent - 16383,
		.is_negative = sign != 0,
		.is_zero = exponent == 0 && mantissa == 0,
		.is_denormal = exponent == 0 && mantissa != 0,
		.is_infinite = exponent == 0x7fff && fraction == 0,
		.is_nan = exponent == 0x7fff && fraction != 0,
	};

	if (scaled >= 0x7ff)
		number.value = double_of(sign | UINT64_C(0x7fefffffffffffff));
	else if (scaled > 0)
		number.value = double_of(sign | (uint64_t)scaled << 52 | mantissa << 1 >> 12);
	else
		number.value = double_of(sign);
	return number;
}

static void note_last(struct fg_call_domain *domain, uint64_t bits)
{
	domain->values++;
	domain->repeats += domain->has_last && domain->last == bits;
	domain->last = bits;
	domain->has_last = true;
}

static void add_finite(struct fg_call_domain *domain, double value, bool is_first)
{
	if (is_first || value < domain->least)
		domain->least = value;
	if (is_first || value > domain->most)
		domain->most = value;
	domain->sum += value;
}

static unsigned clamped_bin(int exponent)
{
	const int bin = exponent + EXPONENT_SHIFT;

	if (bin < 0)
		return 0;
	return (unsigned)bin < FG_DOMAIN_BINS ? (unsigned)bin : FG_DOMAIN_BINS - 1;
}

/* Nearly all numbers: neither zero nor denormal, infinite or NaN. */
static void add_normal(struct fg_call_domain *domain, uint64_t bits, double value, int exponent)
{
	const bool is_first = domain->values == domain->infinities + domain->nans;

	note_last(domain, bits);
	domain->negatives += value < 0;
	domain->bins[clamped_bin(exponent)]++;
	add_finite(domain, value, is_first);
}

static unsigned bin_of(const struct number *number)
{
	return number->is_denormal ? 0 : clamped_bin(number->exponent);
}

static void add(struct fg_call_domain *domain, const struct number *number)
{
	const bool is_first =
		domain->values == domain->infinities + domain->nans; /* no finite one yet */

	note_last(domain, number->bits);
	domain->zeros += number->is_zero;
	domain->denormals += number->is_denormal;
	domain->infinities += number->is_infinite;
	domain->nans += number->is_nan;
	domain->negatives += number->is_negative && !number->is_zero && !number->is_nan;
	if (number->is_nan || number->is_infinite)
		return;
	if (!number->is_zero)
		domain->bins[bin_of(number)]++;
	add_finite(domain, number->value, is_first);
}

/* A part of a register that is not in use is zero, and was not saved. */
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

/* Adds the number of a plain argument if it is a normal one; false: it is left to add(). */
static bool add_quickly(struct fg_call_domain *domain, const struct fg_call_state *state,
			const struct fg_argument *argument)
{
	const uint8_t *from = state->vectors[argument->place];
	uint64_t bits = 0;
	uint32_t narrow = 0;
	float value = 0;

	if (argument->kind == FG_ARGUMENT_DOUBLE) {
		memcpy(&bits, from, sizeof(bits));
		const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;

		if (exponent - 1 >= 0x7fe)
			return false;
		add_normal(domain, bits, double_of(bits), (int)exponent - 1023);
		return true;
	}
	memcpy(&narrow, from, sizeof(narrow));
	const unsigned exponent = narrow >> 23 & 0xff;

	if (argument->kind != FG_ARGUMENT_FLOAT || exponent - 1 >= 0xfe)
		return false;
	memcpy(&value, from, sizeof(value));
	add_normal(domain, narrow, (double)value, (int)exponent - 127);
	return true;
}

/* Not inlined: its arithmetic must not leave the part between the two settings of the flags. */
static __attribute__((noinline)) void add_all(struct fg_call_domain *domains,
					      const struct fg_signature *signature,
					      const struct fg_call_state *state)
{
	const size_t lanes = signature->lanes ? signature->lanes : 1;

	for (size_t i = 0; i < signature->count; i++)
		for (size_t lane = 0; lane < lanes; lane++) {
			if (lane == 0 && add_quickly(&domains[i], state, &signature->arguments[i]))
				continue;
			const struct number number =
				read_argument(state, &signature->arguments[i], lane);

			add(&domains[i], &number);
		}
}

static __attribute__((noinline)) void keep_all(struct fg_call_values *values,
					       const struct fg_signature *signature,
					       const struct fg_call_state *state)
{
	const size_t lanes = signature->lanes ? signature->lanes : 1;

	for (size_t lane = 0; lane < lanes; lane++) {
		double arguments[FG_DOMAIN_ARGUMENTS_MAX];

		for (size_t i = 0; i < signature->count; i++)
			arguments[i] = read_argument(state, &signature->arguments[i], lane).value;
		fg_call_values_add(values, arguments, signature->count);
	}
}

void fg_domains_add(struct fg_call_domain *domains, const struct fg_signature *signature,
		    const struct fg_call_state *state, struct fg_call_values *values)
{
	const unsigned flags = 0x3f;
	const unsigned quiet = 0x1f80; /* no traps, rounding to nearest */
	const unsigned saved = __builtin_ia32_stmxcsr();

	if ((saved & ~flags) != quiet)
		__builtin_ia32_ldmxcsr(quiet);
	add_all(domains, signature, state);
	if (values)
		keep_all(values, signature, state);
	/* To set them takes longer than to ask, and what was inexact before mostly is again. */
	if (__builtin_ia32_stmxcsr() != saved)
		__builtin_ia32_ldmxcsr(saved);
}

static uint64_t bits_of(double value)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void fg_domain_take(struct fg_thread *writer, struct fg_call_domain *domain)
{
	const uint64_t numbers[] = {
		domain->values,       domain->zeros,          domain->negatives,
		domain->denormals,    domain->infinities,     domain->nans,
		domain->repeats,      bits_of(domain->least), bits_of(domain->most),
		bits_of(domain->sum),
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fg_record_number(writer, numbers[i]);
	for (unsigned i = 0; i < FG_DOMAIN_BINS; i++) {
		if (!domain->bins[i])
			continue;
		fg_record_number(writer, i);
		fg_record_number(writer, domain->bins[i]);
	}
	*domain = (struct fg_call_domain){.last = domain->last, .has_last = domain->has_last};
}
