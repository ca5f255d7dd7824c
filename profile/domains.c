// SPDX-License-Identifier: Apache-2.0
#include "profile/domains.h"

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

/* Outermost first; to be freed. */
static const char **frames_of(const struct fg_profile *profile, uint32_t stack, size_t *count)
{
	const char **frames = NULL;

	*count = 0;
	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent)
		++*count;
	frames = fg_xcalloc(*count + 1, sizeof(const char *));
	for (size_t i = *count; i-- > 0; stack = profile->stacks[stack].parent) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[stack].frame];

		frames[i] = profile->functions[frame->function].name;
	}
	return frames;
}

void fg_domains_sum_up(const struct fg_profile *profile, unsigned side,
		       struct fg_argument_sums *sums)
{
	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = fg_domain_name(domain);
		struct fg_argument_call call = {.name = name,
						.signature = domain->signature,
						.side = side,
						.figures = &domain->seen};
		const char **frames = frames_of(profile, domain->stack, &call.frame_count);

		call.frames = frames;
		fg_argument_sums_add(sums, &call);
		free(frames);
		free(name);
	}
}
