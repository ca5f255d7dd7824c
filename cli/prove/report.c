// SPDX-License-Identifier: Apache-2.0
/* Writes the card, for people and as JSON. */
#include "base/json_write.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/prove/prove.h"
#include "gate/prove_json.h"

#include <math.h>

enum {
	NAME_MAX_BYTES = 80,
};

static const char *const limits[] = {
	[FG_LIMIT_LENGTH] = "length of the benchmark", [FG_LIMIT_PAIRS] = "number of pairs",
	[FG_LIMIT_NOISE] = "noise of the host",        [FG_LIMIT_LAYOUTS] = "code placement",
	[FG_LIMIT_MIN_EFFECT] = "minimum effect",
};

static void add_name(struct fg_strbuf *text, const char *name)
{
	fg_text_add_clean(text, name, strlen(name), NAME_MAX_BYTES);
}

/* ---- for people ---- */

static void add_percent(struct fg_strbuf *text, double share)
{
	fg_strbuf_printf(text, "%.*g %%", share < 0.995 ? 2 : 3, 100 * share);
}

static void add_share(struct fg_strbuf *text, const struct fg_proof_card_share *share)
{
	fg_strbuf_printf(text, "%zu of %zu", share->hits, share->runs);
}

static void add_head(const struct fg_prove *prove, struct fg_strbuf *text)
{
	const struct fg_proof_card *card = &prove->card;

	add_name(text, prove->plan->project ? prove->plan->project : "this project");
	fg_strbuf_printf(text, " on runner %.8s: %zu complete run%s of %.12s\n", prove->fingerprint,
			 card->runs, card->runs == 1 ? "" : "s",
			 prove->commit ? prove->commit : "HEAD");
}

static void add_alarms(const struct fg_proof_card *card, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "false alarms      ");
	add_share(text, &card->alarms);
	fg_strbuf_add_text(text, " runs on equal code; true rate at most ");
	add_percent(text, card->alarms.at_most);
	fg_strbuf_add_text(text, " (95 % confidence)\n");
}

/* Can a slowdown be planted in any benchmark? */
static bool is_any_chosen(const struct fg_prove *prove)
{
	for (size_t i = 0; i < prove->subject_count; i++) {
		if (prove->subjects[i].chosen)
			return true;
	}
	return false;
}

static void add_sizes(const struct fg_prove *prove, struct fg_strbuf *text)
{
	const struct fg_proof_card *card = &prove->card;

	for (size_t i = 0; i < card->size_count; i++) {
		const struct fg_proof_card_size *size = &card->sizes[i];

		fg_strbuf_printf(text, "%s%3.0f %%     ", i == 0 ? "slowdowns   " : "            ",
				 100 * size->size);
		add_share(text, &size->found);
		fg_strbuf_add_text(text, " found; true rate at least ");
		add_percent(text, size->found.at_least);
		fg_strbuf_add_text(text, " (95 % confidence)\n");
	}
	if (card->size_count == 0 && is_any_chosen(prove))
		fg_strbuf_add_text(text, "slowdowns         none was measured: the budget ran "
					 "out first (--budget)\n");
	if (card->size_count == 0)
		return;
	if (isfinite(card->smallest)) {
		fg_strbuf_add_text(text, "smallest found    ");
		add_percent(text, card->smallest);
		fg_strbuf_add_text(text, " (found in at least 95 % of its runs; lower bound ");
		add_percent(text, card->smallest_at_least);
		fg_strbuf_add_text(text, ")\n");
	} else {
		fg_strbuf_add_text(text, "smallest found    no size was found in 95 % of its "
					 "runs\n");
	}
	if (card->named.runs > 0) {
		fg_strbuf_add_text(text, "function named    correctly in ");
		add_share(text, &card->named);
		fg_strbuf_add_char(text, '\n');
	}
}

void fg_prove_add_remedy(const struct fg_proof_card_help *help, struct fg_strbuf *text)
{
	char was[FG_NUMBER_TEXT_SIZE];
	char by[FG_NUMBER_TEXT_SIZE];

	switch (help->limit) {
	case FG_LIMIT_LENGTH:
		fg_strbuf_printf(text, "a benchmark of %s instead of %s",
				 fg_format_duration(help->by, by),
				 fg_format_duration(help->was, was));
		break;
	case FG_LIMIT_PAIRS:
		fg_strbuf_printf(text,
				 "%.0f pairs instead of %.0f (measure.pairs.max, measure.budget)",
				 help->by, help->was);
		break;
	case FG_LIMIT_NOISE:
		fg_strbuf_printf(
			text,
			"a host that is always as quiet as in the quietest quarter of the runs "
			"(`fastgate doctor`)");
		break;
	case FG_LIMIT_LAYOUTS:
		fg_strbuf_add_text(text, "measure.layouts: always");
		break;
	case FG_LIMIT_MIN_EFFECT:
		fg_strbuf_printf(text, "gate.metrics.cpu_time.min_effect: %.2g%% instead of %.2g%%",
				 100 * help->by, 100 * help->was);
		break;
	case FG_LIMIT_COUNT:
		break;
	}
	fg_strbuf_add_text(text, ": ");
	add_percent(text, help->from);
	fg_strbuf_add_text(text, " → ");
	add_percent(text, help->to);
}

static void add_helps(const struct fg_proof_card *card, struct fg_strbuf *text)
{
	if (card->help_count == 0)
		return;
	fg_strbuf_printf(text, "limited by        %s", limits[card->helps[0].limit]);
	fg_strbuf_add_text(text, " (");
	add_name(text, card->limiting);
	fg_strbuf_add_text(text, ")\n");
	for (size_t i = 0; i < card->help_count; i++) {
		fg_strbuf_add_text(text, i == 0 ? "would help        " : "                  ");
		fg_prove_add_remedy(&card->helps[i], text);
		fg_strbuf_add_char(text, '\n');
	}
}

static void add_evidence(const struct fg_proof_card *card, struct fg_strbuf *text)
{
	if (!card->is_broken)
		return;
	if (card->blind_evidence > card->alarm_evidence)
		fg_strbuf_printf(
			text,
			"BROKEN            the gate no longer finds slowdowns that it used to "
			"find (e-value %.3g)\n",
			card->blind_evidence);
	else
		fg_strbuf_printf(
			text,
			"BROKEN            the gate has more false alarms than gate.alpha allows "
			"(e-value %.3g)\n",
			card->alarm_evidence);
}

static void add_gaps(const struct fg_prove *prove, struct fg_strbuf *text)
{
	for (size_t i = 0; i < prove->subject_count; i++) {
		const struct fg_prove_subject *subject = &prove->subjects[i];
		const bool is_delayed = subject->chosen && !subject->chosen->symbol;
		const char *why = is_delayed ? subject->not_relinked : subject->not_planted;

		if (!is_delayed && !why)
			continue;
		fg_strbuf_printf(text, "%s slowdowns of ",
				 is_delayed ? "weaker           " : "not proven       ");
		add_name(text, subject->benchmark->name);
		if (is_delayed)
			fg_strbuf_add_text(text,
					   " delay the whole program, so names are not proven");
		fg_strbuf_add_text(text, why ? ": " : "");
		if (why)
			fg_text_add_clean(text, why, strlen(why), 300);
		fg_strbuf_add_char(text, '\n');
	}
}

void fg_prove_write(const struct fg_prove *prove, struct fg_strbuf *text)
{
	const struct fg_proof_card *card = &prove->card;
	char duration[FG_NUMBER_TEXT_SIZE];

	add_head(prove, text);
	add_alarms(card, text);
	add_sizes(prove, text);
	if (card->runs > 0)
		fg_strbuf_printf(text, "time per verdict  %s\n",
				 fg_format_duration(60e9 * card->minutes, duration));
	add_evidence(card, text);
	add_helps(card, text);
	add_gaps(prove, text);
}

/* ---- for programs ---- */

static void write_gaps(const struct fg_prove *prove, struct fg_json_writer *w)
{
	fg_json_begin_array(w, "not_planted");
	for (size_t i = 0; i < prove->subject_count; i++) {
		if (!prove->subjects[i].not_planted)
			continue;
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "benchmark", prove->subjects[i].benchmark->name);
		fg_json_text(w, "why", prove->subjects[i].not_planted);
		fg_json_end(w);
	}
	fg_json_end(w);
}

void fg_prove_json_into(const struct fg_prove *prove, const char *name, bool with_runs,
			struct fg_json_writer *w)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "schema", "fastgate-prove/1");
	fg_json_text(w, "project", prove->plan->project);
	fg_json_text(w, "host_fingerprint", prove->fingerprint);
	fg_json_text(w, "card", prove->card_id);
	fg_json_text(w, "commit", prove->commit);
	fg_json_int(w, "seed", (int64_t)prove->seed);
	fg_proof_card_write(w, &prove->card);
	write_gaps(prove, w);
	fg_json_begin_array(w, "runs");
	for (size_t i = 0; with_runs && i < prove->proof_count; i++)
		fg_proof_write(w, NULL, &prove->proofs[i]);
	fg_json_end(w);
	fg_json_end(w);
}

void fg_prove_json(const struct fg_prove *prove, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_prove_json_into(prove, NULL, true, &w);
	fg_strbuf_add_char(text, '\n');
}
