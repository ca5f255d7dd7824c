/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arguments a function is called with: how many, from where to where, of which kind, and a
 * histogram of their exponents, by thread and call path.  Arguments are read where the caller left
 * them; the program's floating-point flags and rounding stay as they are.
 */
#ifndef FG_COLLECTOR_DOMAINS_H
#define FG_COLLECTOR_DOMAINS_H

#include "collector/calls.h"
#include "collector/trace_format.h"

struct fg_thread;

enum {
	FG_DOMAIN_ARGUMENTS_MAX = 4,
	FG_SIGNATURE_MAX = 96, /* bytes of its text */
};

/* Where a floating-point argument lies. */
enum fg_argument_kind {
	FG_ARGUMENT_DOUBLE = 1, /* a vector register, its lowest 8 bytes, */
	FG_ARGUMENT_FLOAT,      /* or 4 */
	FG_ARGUMENT_HIGH_FLOAT, /* bytes 4 to 7: the imaginary part of a complex float */
	FG_ARGUMENT_EXTENDED,   /* on the stack */
};

struct fg_argument {
	uint8_t kind;  /* enum fg_argument_kind */
	uint8_t place; /* number of the register, or of the 16 bytes on the stack */
};

struct fg_signature {
	struct fg_argument arguments[FG_DOMAIN_ARGUMENTS_MAX];
	uint8_t count;
	uint8_t lanes;        /* of a vector function: values in each register; 0: a scalar one */
	bool is_in_registers; /* all arguments, and nothing wider than 16 bytes */
	char text[FG_SIGNATURE_MAX];
};

/* "double(double,int)"; false: it is not understood. */
bool fg_signature_parse(const char *text, struct fg_signature *signature);
/* The signature of a function of libm or libmvec; false: it is not known. */
bool fg_signature_find(const char *name, struct fg_signature *signature);
/* The same, and of the C library where that is known. */
bool fg_signature_find_any(const char *name, struct fg_signature *signature);
/*
 * False: the symbol tells that its parameters lie elsewhere than the signature says.  `callable`:
 * false as well where some may be on the stack.
 */
bool fg_signature_fits(const struct fg_signature *signature, const char *symbol, bool callable);
/* Returns twice, or asks who called it: not to be called from a frame of ours. */
bool fg_call_looks_at_caller(const char *name);

/* What was seen of one argument. */
struct fg_call_domain {
	uint64_t values, zeros, negatives, denormals, infinities, nans;
	uint64_t repeats;        /* the same as the one before, of this thread and path */
	double least, most, sum; /* of those that are finite */
	uint64_t last;
	bool has_last;
	uint64_t bins[FG_DOMAIN_BINS];
};

struct fg_call_values;

/* One for each argument; the arguments themselves go to `values`, which has room (NULL: nowhere) */
void fg_domains_add(struct fg_call_domain *domains, const struct fg_signature *signature,
		    const struct fg_call_state *state, struct fg_call_values *values);
/* Appends what was seen to the record, and begins anew. */
void fg_domain_take(struct fg_thread *writer, struct fg_call_domain *domain);

#endif
