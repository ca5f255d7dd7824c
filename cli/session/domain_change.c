// SPDX-License-Identifier: Apache-2.0
#include "cli/session/domain_change.h"

#include "base/number.h"
#include "profile/domains.h"

enum {
	CHANGES_MAX = 8
};

void fg_domain_sums_init(struct fg_domain_sums *sums, const struct fg_profile *profile)
{
	*sums = (struct fg_domain_sums){
		.items = fg_xcalloc(profile->domain_count + 1, sizeof(sums->items[0]))};
	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = fg_domain_name(domain);
		bool is_new = false;
		const size_t at =
			(size_t)*fg_map_add_text(&sums->index, name, sums->count, &is_new);

		if (is_new)
			sums->items[sums->count++] = (struct fg_domain){0};
		fg_domain_join(&sums->items[at], domain);
		free(name);
	}
}

void fg_domain_sums_release(struct fg_domain_sums *sums)
{
	fg_map_release(&sums->index);
	free(sums->items);
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
