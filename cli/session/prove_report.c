// SPDX-License-Identifier: Apache-2.0
/* The card for people and for programs. */
#include "base/json_write.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/prove.h"

#include <math.h>

enum {
	NAME_MAX_BYTES = 80,
};

static const char *const limits[] = {
	[FG_LIMIT_LENGTH] = "length of the benchmark", [FG_LIMIT_PAIRS] = "number of pairs",
	[FG_LIMIT_NOISE] = "noise of the host",        [FG_LIMIT_LAYOUTS] = "place of the code",
	[FG_LIMIT_MIN_EFFECT] = "minimum effect",
};

static const char *const limit_names[] = {
	[FG_LIMIT_LENGTH] = "length",         [FG_LIMIT_PAIRS] = "pairs",
	[FG_LIMIT_NOISE] = "noise",           [FG_LIMIT_LAYOUTS] = "layouts",
	[FG_LIMIT_MIN_EFFECT] = "min_effect",
};

static void add_name(struct fg_strbuf *text, const char *name)
{
	fg_text_add_clean(text, name, strlen(name), NAME_MAX_BYTES);
}

/* ---- for people ---- */

static void add_percent(struct fg_strbuf *text, double share)
{
	fg_strbuf_printf(text, "%.2g %%", 100 * share);
}

static void add_share(struct fg_strbuf *text, const struct fg_proof_card_share *share)
{
	fg_strbuf_printf(text, "%zu of %zu", share->hits, share->runs);
}

static void add_head(const struct fg_prove *prove, struct fg_strbuf *text)
{
	const struct fg_proof_card *card = &prove->card;

	add_name(text, prove->plan->project ? prove->plan->project : "this project");
	fg_strbuf_printf(text, " on runner %.8s: %zu whole run%s of %.12s\n", prove->fingerprint,
			 card->runs, card->runs == 1 ? "" : "s",
			 prove->commit ? prove->commit : "HEAD");
}

static void add_alarms(const struct fg_proof_card *card, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "false alarms      ");
	add_share(text, &card->alarms);
	fg_strbuf_add_text(text, " runs on equal code; at most ");
	add_percent(text, card->alarms.at_most);
	fg_strbuf_add_char(text, '\n');
}

static void add_sizes(const struct fg_proof_card *card, struct fg_strbuf *text)
{
	for (size_t i = 0; i < card->size_count; i++) {
		const struct fg_proof_card_size *size = &card->sizes[i];

		fg_strbuf_printf(text, "%s%3.0f %%     ", i == 0 ? "slowdowns   " : "            ",
				 100 * size->size);
		add_share(text, &size->found);
		fg_strbuf_add_text(text, " found; at least ");
		add_percent(text, size->found.at_least);
		fg_strbuf_add_char(text, '\n');
	}
	if (card->size_count == 0)
		return;
	if (isfinite(card->smallest)) {
		fg_strbuf_add_text(text, "smallest found    ");
		add_percent(text, card->smallest);
		fg_strbuf_add_text(text, " in 95 % of the runs or more; at least ");
		add_percent(text, card->smallest_at_least);
		fg_strbuf_add_char(text, '\n');
	} else {
		fg_strbuf_add_text(text, "smallest found    none in 95 % of its runs\n");
	}
	if (card->named.runs > 0) {
		fg_strbuf_add_text(text, "function named    right in ");
		add_share(text, &card->named);
		fg_strbuf_add_char(text, '\n');
	}
}

static void add_remedy(const struct fg_proof_card_help *help, struct fg_strbuf *text)
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
		fg_strbuf_printf(text,
				 "a host always as quiet as in its quietest quarter (`fastgate "
				 "doctor`)");
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
	fg_strbuf_add_char(text, '\n');
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
		add_remedy(&card->helps[i], text);
	}
}

static void add_gaps(const struct fg_prove *prove, struct fg_strbuf *text)
{
	for (size_t i = 0; i < prove->subject_count; i++) {
		const struct fg_prove_subject *subject = &prove->subjects[i];

		if (!subject->not_planted)
			continue;
		fg_strbuf_add_text(text, "not proven        slowdowns of ");
		add_name(text, subject->benchmark->name);
		fg_strbuf_add_text(text, ": ");
		fg_text_add_clean(text, subject->not_planted, strlen(subject->not_planted), 300);
		fg_strbuf_add_char(text, '\n');
	}
}

void fg_prove_write(const struct fg_prove *prove, struct fg_strbuf *text)
{
	const struct fg_proof_card *card = &prove->card;

	add_head(prove, text);
	add_alarms(card, text);
	add_sizes(card, text);
	if (card->runs > 0)
		fg_strbuf_printf(text, "a verdict takes   %.2g min\n", card->minutes);
	add_helps(card, text);
	add_gaps(prove, text);
}

/* ---- for programs ---- */

static void write_share(struct fg_json_writer *w, const char *name, const char *hits,
			const struct fg_proof_card_share *share)
{
	fg_json_begin_object(w, name);
	fg_json_int(w, hits, (int64_t)share->hits);
	fg_json_int(w, "runs", (int64_t)share->runs);
	fg_json_double(w, "at_least", share->at_least);
	fg_json_double(w, "at_most", share->at_most);
	fg_json_end(w);
}

static void write_card(struct fg_json_writer *w, const struct fg_proof_card *card)
{
	write_share(w, "false_alarms", "alarms", &card->alarms);
	fg_json_begin_array(w, "slowdowns");
	for (size_t i = 0; i < card->size_count; i++) {
		fg_json_begin_object(w, NULL);
		fg_json_double(w, "size", card->sizes[i].size);
		write_share(w, "found", "found", &card->sizes[i].found);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_double(w, "smallest_found", card->smallest);
	fg_json_double(w, "smallest_found_at_least", card->smallest_at_least);
	write_share(w, "functions", "named", &card->named);
	fg_json_double(w, "minutes_per_verdict", card->minutes);
	fg_json_text(w, "limiting_benchmark", card->limiting);
	fg_json_begin_array(w, "remedies");
	for (size_t i = 0; i < card->help_count; i++) {
		const struct fg_proof_card_help *help = &card->helps[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "limit", limit_names[help->limit]);
		fg_json_double(w, "is", help->was);
		fg_json_double(w, "remedied", help->by);
		fg_json_double(w, "smallest_found", help->from);
		fg_json_double(w, "expected", help->to);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void write_proof(struct fg_json_writer *w, const struct fg_proof *proof)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "benchmark", proof->benchmark);
	fg_json_text(w, "arm", fg_proof_arm_name(proof->arm));
	fg_json_double(w, "size", proof->size);
	fg_json_text(w, "function", proof->function);
	fg_json_bool(w, "named", proof->is_named);
	fg_json_text(w, "verdict", fg_outcome_name(proof->outcome));
	fg_json_text(w, "schedule", fg_schedule_name(proof->schedule));
	fg_json_double(w, "pairs", proof->pairs);
	fg_json_double(w, "seconds", proof->seconds);
	fg_json_double(w, "ratio", exp(proof->estimate));
	fg_json_double(w, "pair_noise", proof->noise.pair);
	fg_json_end(w);
}

void fg_prove_json(const struct fg_prove *prove, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-prove/1");
	fg_json_text(&w, "project", prove->plan->project);
	fg_json_text(&w, "host_fingerprint", prove->fingerprint);
	fg_json_text(&w, "commit", prove->commit);
	fg_json_int(&w, "seed", (int64_t)prove->seed);
	write_card(&w, &prove->card);
	fg_json_begin_array(&w, "not_planted");
	for (size_t i = 0; i < prove->subject_count; i++) {
		if (!prove->subjects[i].not_planted)
			continue;
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "benchmark", prove->subjects[i].benchmark->name);
		fg_json_text(&w, "why", prove->subjects[i].not_planted);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_begin_array(&w, "runs");
	for (size_t i = 0; i < prove->proof_count; i++)
		write_proof(&w, &prove->proofs[i]);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}
