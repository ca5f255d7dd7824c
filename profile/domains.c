// SPDX-License-Identifier: Apache-2.0
#include "profile/domains.h"

#include "base/number.h"

#include <math.h>

enum {
	MANY = 1000, /* values before a hint is worth it */
	BIN_OF_ONE = 32,
};

struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key)
{
	struct fg_strbuf text = {0};
	bool is_new = false;
	const uint64_t *at = NULL;

	fg_strbuf_printf(&text, "%s/%u/%u", key->function, key->argument, key->stack);
	at = fg_map_add_text(&profile->domain_index, text.data, profile->domain_count, &is_new);
	fg_strbuf_release(&text);
	if (!is_new)
		return &profile->domains[*at];
	profile->domains = fg_grow(profile->domains, &profile->domain_capacity,
				   profile->domain_count + 1, sizeof(profile->domains[0]));
	profile->domains[profile->domain_count] = (struct fg_domain){
		.function = fg_profile_text(profile, key->function),
		.signature = fg_profile_text(profile, key->signature),
		.argument = key->argument,
		.stack = key->stack,
	};
	return &profile->domains[profile->domain_count++];
}

char *fg_domain_name(const struct fg_domain *domain)
{
	return domain->argument ? fg_xasprintf("%s #%u", domain->function, domain->argument + 1)
				: fg_xstrdup(domain->function);
}

double fg_domain_finite(const struct fg_domain *domain)
{
	return domain->values - domain->infinities - domain->nans;
}

void fg_domain_join(struct fg_domain *domain, const struct fg_domain *more)
{
	const bool is_first = !(fg_domain_finite(domain) > 0);

	if (fg_domain_finite(more) > 0) {
		domain->least = is_first ? more->least : fmin(domain->least, more->least);
		domain->most = is_first ? more->most : fmax(domain->most, more->most);
		domain->sum += more->sum;
	}
	domain->values += more->values;
	domain->zeros += more->zeros;
	domain->negatives += more->negatives;
	domain->denormals += more->denormals;
	domain->infinities += more->infinities;
	domain->nans += more->nans;
	domain->repeats += more->repeats;
	for (unsigned i = 0; i < FG_DOMAIN_BINS; i++)
		domain->bins[i] += more->bins[i];
}

const char *fg_domain_bin_text(unsigned bin, char text[FG_NUMBER_TEXT_SIZE])
{
	const int exponent = (int)bin - BIN_OF_ONE;

	if (bin == 0)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "below 2^%d", exponent + 1);
	else if (bin == FG_DOMAIN_BINS - 1)
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "2^%d and above", exponent);
	else
		(void)snprintf(text, FG_NUMBER_TEXT_SIZE, "2^%d to 2^%d", exponent, exponent + 1);
	return text;
}

/* ---- hints ---- */

/* Functions whose value over a short range is one of a polynomial; float and long double, too. */
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

static void hint_range(const struct fg_domain *domain, struct fg_strbuf *text)
{
	char least[FG_NUMBER_TEXT_SIZE];
	char most[FG_NUMBER_TEXT_SIZE];

	if (!is_transcendental(domain->function) || domain->infinities > 0 || domain->nans > 0 ||
	    domain->values < MANY || domain->most - domain->least > 1)
		return;
	(void)snprintf(least, sizeof(least), "%.6g", domain->least);
	(void)snprintf(most, sizeof(most), "%.6g", domain->most);
	if (domain->least < domain->most)
		fg_strbuf_printf(text, "always in [%s, %s]: a polynomial would do\n", least, most);
}

static void hint_repeats(const struct fg_domain *domain, struct fg_strbuf *text)
{
	char count[FG_NUMBER_TEXT_SIZE];

	if (domain->values < MANY || domain->repeats < 0.9 * domain->values)
		return;
	if (domain->repeats >= domain->values - 1)
		fg_strbuf_printf(text, "called %s times with the same argument\n",
				 fg_format_count(domain->values, count));
	else
		fg_strbuf_printf(text, "%.3g %% of %s calls have the argument of the call before\n",
				 100 * domain->repeats / domain->values,
				 fg_format_count(domain->values, count));
}

void fg_domain_hint(const struct fg_domain *domain, struct fg_strbuf *text)
{
	char count[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	if (domain->nans > 0)
		fg_strbuf_printf(text, "%s of %s arguments are no number (NaN)\n",
				 fg_format_count(domain->nans, count),
				 fg_format_count(domain->values, whole));
	if (domain->denormals > 0)
		fg_strbuf_printf(text, "%s of %s arguments are denormal: slow on most processors\n",
				 fg_format_count(domain->denormals, count),
				 fg_format_count(domain->values, whole));
	hint_repeats(domain, text);
	hint_range(domain, text);
}
