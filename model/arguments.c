// SPDX-License-Identifier: Apache-2.0
#include "model/arguments.h"

#include <math.h>
#include <string.h>

enum {
	MANY = 1000, /* hints need at least this many values */
};

double fg_argument_finite(const struct fg_argument_figures *figures)
{
	return figures->values - figures->infinities - figures->nans;
}

void fg_argument_join(struct fg_argument_figures *figures, const struct fg_argument_figures *more)
{
	const bool is_first = !(fg_argument_finite(figures) > 0);

	if (fg_argument_finite(more) > 0) {
		figures->least = is_first ? more->least : fmin(figures->least, more->least);
		figures->most = is_first ? more->most : fmax(figures->most, more->most);
		figures->sum += more->sum;
	}
	figures->values += more->values;
	figures->zeros += more->zeros;
	figures->negatives += more->negatives;
	figures->denormals += more->denormals;
	figures->infinities += more->infinities;
	figures->nans += more->nans;
	figures->repeats += more->repeats;
	for (unsigned i = 0; i < FG_ARGUMENT_BINS; i++)
		figures->bins[i] += more->bins[i];
}

const char *fg_argument_bin_text(unsigned bin, char text[FG_NUMBER_TEXT_SIZE])
{
	const int exponent = (int)bin - FG_ARGUMENT_BIN_OF_ONE;

	if (bin == 0)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "below 2^%d", exponent + 1);
	else if (bin == FG_ARGUMENT_BINS - 1)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "2^%d and above", exponent);
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "2^%d to 2^%d", exponent, exponent + 1);
	return text;
}

/* ---- hints ---- */

/*
 * Functions that a polynomial approximates over a short range; includes their float and long double
 * variants.
 */
static bool is_transcendental(const char *name)
{
	static const char *const names[] = {
		"acos", "acosh", "asin", "asinh", "atan", "atanh",  "cbrt",   "cos",    "cosh",
		"erf",  "erfc",  "exp",  "exp10", "exp2", "expm1",  "log",    "log10",  "log1p",
		"log2", "sin",   "sinh", "tan",   "tanh", "tgamma", "lgamma", "sincos",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		const size_t size = strlen(names[i]);

		if (strncmp(name, names[i], size) == 0 &&
		    (name[size] == '\0' ||
		     ((name[size] == 'f' || name[size] == 'l') && name[size + 1] == '\0')))
			return true;
	}
	return false;
}

static void hint_range(const char *function, const struct fg_argument_figures *figures,
		       struct fg_strbuf *text)
{
	char least[FG_NUMBER_TEXT_SIZE];
	char most[FG_NUMBER_TEXT_SIZE];

	if (!is_transcendental(function) || figures->infinities > 0 || figures->nans > 0 ||
	    figures->values < MANY || figures->most - figures->least > 1)
		return;
	(void)snprintf(least, sizeof(least), "%.6g", figures->least);
	(void)snprintf(most, sizeof(most), "%.6g", figures->most);
	if (figures->least < figures->most)
		fg_strbuf_printf(text,
				 "always in [%s, %s]: a polynomial could replace the function\n",
				 least, most);
}

static void hint_repeats(const struct fg_argument_figures *figures, struct fg_strbuf *text)
{
	char count[FG_NUMBER_TEXT_SIZE];

	if (figures->values < MANY || figures->repeats < 0.9 * figures->values)
		return;
	if (figures->repeats >= figures->values - 1)
		fg_strbuf_printf(text, "called %s times with the same argument\n",
				 fg_format_count(figures->values, count));
	else
		fg_strbuf_printf(text,
				 "%.3g %% of %s calls repeat the argument of the previous call\n",
				 100 * figures->repeats / figures->values,
				 fg_format_count(figures->values, count));
}

void fg_argument_hint(const char *function, const struct fg_argument_figures *figures,
		      struct fg_strbuf *text)
{
	char count[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	if (figures->nans > 0)
		fg_strbuf_printf(text, "%s of %s arguments are not a number (NaN)\n",
				 fg_format_count(figures->nans, count),
				 fg_format_count(figures->values, whole));
	if (figures->denormals > 0)
		fg_strbuf_printf(text, "%s of %s arguments are denormal: slow on most processors\n",
				 fg_format_count(figures->denormals, count),
				 fg_format_count(figures->values, whole));
	hint_repeats(figures, text);
	hint_range(function, figures, text);
}
