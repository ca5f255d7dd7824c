// SPDX-License-Identifier: Apache-2.0
#include "cli/session/domain_change.h"

#include "base/number.h"
#include "profile/domains.h"

#include <stdlib.h>

enum {
	CHANGES_MAX = 8,
	FUNCTIONS_MAX = 8,
	HINTS_MAX = 4
};

void fg_domain_sums_init(struct fg_domain_sums *sums, const struct fg_profile *profile)
{
	*sums = (struct fg_domain_sums){
		.items = fg_xcalloc(profile->domain_count + 1, sizeof(sums->items[0])),
		.paths = fg_xcalloc(profile->domain_count + 1, sizeof(sums->paths[0]))};
	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = fg_domain_name(domain);
		bool is_new = false;
		const size_t at =
			(size_t)*fg_map_add_text(&sums->index, name, sums->count, &is_new);

		if (is_new)
			sums->items[sums->count++] = (struct fg_domain){0};
		fg_domain_join(&sums->items[at], domain);
		sums->paths[at]++;
		free(name);
	}
}

void fg_domain_sums_release(struct fg_domain_sums *sums)
{
	fg_map_release(&sums->index);
	free(sums->items);
	free(sums->paths);
	*sums = (struct fg_domain_sums){0};
}

/* Values of a kind that the baseline has none of. */
static void compare_kind(struct fg_strbuf *text, const char *kind, double before, double after,
			 double values)
{
	char count[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	if (after > 0 && !(before > 0))
		fg_strbuf_printf(text, "%s%s of %s arguments are %s, none in the baseline",
				 text->length ? ", " : "", fg_format_count(after, count),
				 fg_format_count(values, whole), kind);
}

static void compare(struct fg_strbuf *text, const struct fg_domain *before,
		    const struct fg_domain *after)
{
	const bool both = fg_domain_finite(before) > 0 && fg_domain_finite(after) > 0;

	compare_kind(text, "NaN", before->nans, after->nans, after->values);
	compare_kind(text, "infinite", before->infinities, after->infinities, after->values);
	compare_kind(text, "denormal", before->denormals, after->denormals, after->values);
	if (both && (after->least < before->least || after->most > before->most))
		fg_strbuf_printf(text, "%sin [%.6g, %.6g], in the baseline in [%.6g, %.6g]",
				 text->length ? ", " : "", after->least, after->most, before->least,
				 before->most);
}

char *fg_domain_change_text(const struct fg_domain_sums *baseline,
			    const struct fg_domain_sums *candidate)
{
	struct fg_strbuf all = {0};
	unsigned said = 0;

	for (size_t i = 0; i < candidate->count && said < CHANGES_MAX; i++) {
		const char *name = candidate->index.entries[i].key;
		const uint64_t *at = fg_map_get_text(&baseline->index, name);
		struct fg_strbuf text = {0};

		if (at)
			compare(&text, &baseline->items[*at], &candidate->items[i]);
		if (text.length) {
			fg_strbuf_printf(&all, "%s%s: %s", all.length ? "; " : "", name, text.data);
			said++;
		}
		fg_strbuf_release(&text);
	}
	return all.length ? fg_strbuf_detach(&all) : NULL;
}

/* ---- what there is to say of one side ---- */

static void add_count(struct fg_strbuf *text, double count, const char *what)
{
	char number[FG_NUMBER_TEXT_SIZE];

	if (count > 0)
		fg_strbuf_printf(text, ", %s %s", fg_format_count(count, number), what);
}

static void describe(struct fg_strbuf *text, const char *name, const struct fg_domain *domain,
		     size_t paths)
{
	char number[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(text, "%s%s: %s argument%s", text->length ? "; " : "", name,
			 fg_format_count(domain->values, number), domain->values > 1 ? "s" : "");
	if (fg_domain_finite(domain) > 0)
		fg_strbuf_printf(text, " in [%.6g, %.6g]", domain->least, domain->most);
	add_count(text, domain->nans, "NaN");
	add_count(text, domain->infinities, "infinite");
	add_count(text, domain->denormals, "denormal");
	fg_strbuf_printf(text, ", from %zu call path%s", paths, paths == 1 ? "" : "s");
}

/* The most frequent of those that were not said yet; `count`: there is none. */
static size_t next_of(const struct fg_domain_sums *sums, const bool *said)
{
	size_t best = sums->count;

	for (size_t i = 0; i < sums->count; i++)
		if (!said[i] &&
		    (best == sums->count || sums->items[i].values > sums->items[best].values))
			best = i;
	return best;
}

char *fg_domain_sums_text(const struct fg_domain_sums *sums)
{
	struct fg_strbuf text = {0};
	bool *said = fg_xcalloc(sums->count + 1, sizeof(*said));
	size_t at = 0;

	for (unsigned i = 0; i < FUNCTIONS_MAX && (at = next_of(sums, said)) < sums->count; i++) {
		describe(&text, sums->index.entries[at].key, &sums->items[at], sums->paths[at]);
		said[at] = true;
	}
	if (sums->count > FUNCTIONS_MAX)
		fg_strbuf_printf(&text, "; and %zu more", sums->count - FUNCTIONS_MAX);
	free(said);
	return text.length ? fg_strbuf_detach(&text) : NULL;
}

static int most_called(const void *left, const void *right)
{
	const struct fg_domain *a = *(const struct fg_domain *const *)left;
	const struct fg_domain *b = *(const struct fg_domain *const *)right;

	return (a->values < b->values) - (a->values > b->values);
}

/* Returns how many hints there were. */
static unsigned add_hints(struct fg_strbuf *text, const struct fg_profile *profile,
			  const struct fg_domain *domain)
{
	struct fg_strbuf hint = {0};
	char *name = fg_domain_name(domain);
	char *rest = NULL;
	unsigned count = 0;

	fg_domain_hint(domain, &hint);
	for (char *line = hint.length ? strtok_r(hint.data, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest), count++) {
		fg_strbuf_printf(text, "%s%s in ", text->length ? "; " : "", name);
		fg_profile_add_path(text, profile, domain->stack);
		fg_strbuf_printf(text, ": %s", line);
	}
	fg_strbuf_release(&hint);
	free(name);
	return count;
}

char *fg_domain_hints_text(const struct fg_profile *profile)
{
	const size_t count = profile->domain_count;
	const struct fg_domain **order = fg_xcalloc(count + 1, sizeof(order[0]));
	struct fg_strbuf text = {0};
	unsigned said = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = &profile->domains[i];
	qsort(order, count, sizeof(order[0]), most_called);
	for (size_t i = 0; i < count && said < HINTS_MAX; i++)
		said += add_hints(&text, profile, order[i]);
	free(order);
	return text.length ? fg_strbuf_detach(&text) : NULL;
}
