// SPDX-License-Identifier: Apache-2.0
#include "profile/call_times.h"

#include "base/number.h"

#include <math.h>

struct fg_call_durations *fg_call_durations_of(struct fg_profile *profile, const char *function,
					       uint32_t stack)
{
	struct fg_strbuf text = {0};
	bool is_new = false;
	const uint64_t *at = NULL;

	fg_strbuf_printf(&text, "%s/%u", function, stack);
	at = fg_map_add_text(&profile->duration_index, text.data, profile->duration_count, &is_new);
	fg_strbuf_release(&text);
	if (!is_new)
		return &profile->durations[*at];
	profile->durations = fg_grow(profile->durations, &profile->duration_capacity,
				     profile->duration_count + 1, sizeof(profile->durations[0]));
	profile->durations[profile->duration_count] = (struct fg_call_durations){
		.function = fg_profile_text(profile, function), .stack = stack};
	return &profile->durations[profile->duration_count++];
}

void fg_call_durations_join(struct fg_call_durations *durations,
			    const struct fg_call_durations *more)
{
	if (!(more->returned > 0))
		return;
	durations->least_ns = durations->returned > 0 ? fmin(durations->least_ns, more->least_ns)
						      : more->least_ns;
	durations->most_ns = fmax(durations->most_ns, more->most_ns);
	durations->returned += more->returned;
	durations->total_ns += more->total_ns;
	durations->own_ns += more->own_ns;
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++)
		durations->bins[i] += more->bins[i];
}

double fg_call_durations_quantile(const struct fg_call_durations *durations, double share)
{
	double below = 0;

	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++) {
		const double count = durations->bins[i];
		const double start = (double)fg_call_time_bin_start(i);
		const double end = (double)fg_call_time_bin_start(i + 1);

		if (count > 0 && below + count >= share * durations->returned) {
			const double part = (share * durations->returned - below) / count;
			const double ns = start + fmax(part, 0) * (end - start);

			return fmin(fmax(ns, durations->least_ns), durations->most_ns);
		}
		below += count;
	}
	return durations->most_ns;
}

void fg_call_durations_bin_text(unsigned bin, struct fg_strbuf *text)
{
	char start[FG_NUMBER_TEXT_SIZE];
	char end[FG_NUMBER_TEXT_SIZE];

	fg_format_duration((double)fg_call_time_bin_start(bin), start);
	fg_format_duration((double)fg_call_time_bin_start(bin + 1), end);
	if (bin + 1 == FG_CALL_TIME_BINS)
		fg_strbuf_printf(text, "%s and more", start);
	else
		fg_strbuf_printf(text, "%s to %s", start, end);
}
