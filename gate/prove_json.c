// SPDX-License-Identifier: Apache-2.0
#include "gate/prove_json.h"

#include "base/json_exchange.h"

#include <math.h>

enum {
	PROOF_MAX_BYTES = 64 << 10,
};

static const char *const limit_names[] = {
	[FG_LIMIT_LENGTH] = "length",         [FG_LIMIT_PAIRS] = "pairs",
	[FG_LIMIT_NOISE] = "noise",           [FG_LIMIT_LAYOUTS] = "layouts",
	[FG_LIMIT_MIN_EFFECT] = "min_effect",
};

/* ---- a run ---- */

static void exchange_proof(const struct fg_exchange *with, struct fg_proof *proof)
{
	fg_exchange_flag(with, "hidden", &proof->is_hidden);
	fg_exchange_text(with, "benchmark", &proof->benchmark);
	fg_exchange_text(with, "function", &proof->function);
	fg_exchange_text(with, "symbol", &proof->symbol);
	fg_exchange_text(with, "library", &proof->library);
	fg_exchange_number(with, "per_iteration", &proof->per_iteration);
	fg_exchange_text(with, "blamed", &proof->blamed);
	fg_exchange_number(with, "size", &proof->size);
	fg_exchange_number(with, "seconds", &proof->seconds);
	fg_exchange_number(with, "pairs", &proof->pairs);
	fg_exchange_number(with, "level_ns", &proof->level_ns);
	fg_exchange_number(with, "estimate", &proof->estimate);
	fg_exchange_number(with, "half_width", &proof->half);
	fg_exchange_number(with, "alpha", &proof->alpha);
	fg_exchange_number(with, "min_effect", &proof->min_effect);
	fg_exchange_number(with, "layouts", &proof->layouts);
	fg_exchange_number(with, "pair_noise", &proof->noise.pair);
	fg_exchange_number(with, "quiet_noise", &proof->noise.quiet);
	fg_exchange_number(with, "noise_exponent", &proof->noise.exponent);
}

void fg_proof_write(struct fg_json_writer *w, const char *name, const struct fg_proof *proof)
{
	const struct fg_exchange with = {.w = w};
	struct fg_proof copy = *proof;

	fg_json_begin_object(w, name);
	fg_json_text(w, "arm", fg_proof_arm_name(proof->arm));
	fg_json_text(w, "verdict", fg_outcome_name(proof->outcome));
	fg_json_text(w, "schedule", fg_schedule_name(proof->schedule));
	exchange_proof(&with, &copy);
	fg_json_end(w);
}

static int read_proof(const struct fg_exchange *with, struct fg_proof *proof, struct fg_error *err)
{
	const cJSON *json = with->json;

	exchange_proof(with, proof);
	if (!proof->benchmark ||
	    !fg_proof_arm_parse(fg_json_text_or(json, "arm", ""), &proof->arm) ||
	    !fg_outcome_parse(fg_json_text_or(json, "verdict", ""), &proof->outcome) ||
	    !fg_schedule_parse(fg_json_text_or(json, "schedule", ""), &proof->schedule))
		return fg_error_set(
			err, FG_EPARSE,
			"the benchmark, arm, verdict or schedule of a proof is missing or unknown");
	return FG_OK;
}

int fg_proof_read(const char *text, size_t size, struct fg_arena *arena, struct fg_proof *proof,
		  struct fg_error *err)
{
	struct fg_exchange with = {.arena = arena};
	cJSON *json = NULL;
	int status = FG_OK;

	FG_TRY(fg_json_parse(text, size, PROOF_MAX_BYTES, &json, err));
	*proof = (struct fg_proof){0};
	with.json = json;
	status = read_proof(&with, proof, err);
	cJSON_Delete(json);
	return status;
}

/* ---- the card ---- */

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

void fg_proof_card_write(struct fg_json_writer *w, const struct fg_proof_card *card)
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
	fg_json_double(w, "alarm_evidence", card->alarm_evidence);
	fg_json_double(w, "blind_evidence", card->blind_evidence);
	fg_json_bool(w, "broken", card->is_broken);
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
