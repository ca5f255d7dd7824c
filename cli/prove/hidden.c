// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/random.h"
#include "cli/prove/prove.h"
#include "cli/session/plan.h"

#include <math.h>

enum {
	NEUTRAL_ONE_IN = 3, /* one in this many hidden runs has no planted slowdown */
};

static const double usual_size = 0.10;

static bool is_calibrated(const struct fg_prove *prove, const struct fg_proof *proof)
{
	return proof->arm == FG_PROOF_PLANTED && proof->per_iteration > 0 &&
	       fg_plan_find(prove->plan, proof->benchmark);
}

/*
 * Draws one of the benchmarks that have a plant, and returns its newest plant, to reuse the plant's
 * calibration.
 */
static const struct fg_proof *draw_plant(const struct fg_prove *prove, struct fg_random *random)
{
	const struct fg_proof *drawn = NULL;
	unsigned seen = 0;

	for (size_t i = prove->proof_count; i-- > 0;) {
		const struct fg_proof *proof = &prove->proofs[i];
		bool is_newest = is_calibrated(prove, proof);

		for (size_t k = i + 1; k < prove->proof_count && is_newest; k++)
			is_newest = !is_calibrated(prove, &prove->proofs[k]) ||
				    strcmp(prove->proofs[k].benchmark, proof->benchmark) != 0;
		if (is_newest && fg_random_below(random, ++seen) == 0)
			drawn = proof;
	}
	return drawn;
}

/*
 * Returns the smallest size that the gate finds reliably if that is at least half of the usual
 * size, or else the usual size.
 */
static double size_of(const struct fg_proof_card *card)
{
	return isfinite(card->smallest) && card->smallest > usual_size / 2 - 1e-6 ? card->smallest
										  : usual_size;
}

static void report(struct fg_prove *prove)
{
	const struct fg_proof_card *card = &prove->card;

	fg_prove_card(prove->plan, prove->proofs, prove->proof_count, &prove->card);
	fg_prove_publish(prove);
	if (!card->is_broken)
		return;
	fg_cli_warn(
		prove->cli,
		"gate.prove: the gate is broken on this runner, because it %s; do not trust this "
		"verdict (`fastgate prove` shows why)",
		card->blind_evidence > card->alarm_evidence
			? "no longer finds slowdowns that it used to find"
			: "fails equal code more often than gate.alpha allows");
}

static int run_hidden(struct fg_prove *prove, uint64_t seed, struct fg_error *err)
{
	const struct fg_proof *plant = NULL;
	struct fg_proof_card card;
	struct fg_prove_subject subject = {0};
	struct fg_benchmark benchmark;
	struct fg_random random;
	bool is_planted = false;

	fg_random_seed(&random, seed);
	plant = draw_plant(prove, &random);
	if (!plant)
		return fg_error_set(err, FG_ENOENT,
				    "no slowdown has been planted on this runner yet: run "
				    "`fastgate prove` once");
	fg_prove_card(prove->plan, prove->proofs, prove->proof_count, &card);
	/*
	 * A neutral run relinks the build; if the program can only be delayed (no symbol), plant a
	 * slowdown.
	 */
	is_planted = !plant->symbol || fg_random_below(&random, NEUTRAL_ONE_IN) != 0;
	benchmark = *fg_plan_find(prove->plan, plant->benchmark);
	benchmark.measure.budget_ns =
		(int64_t)(benchmark.policy.prove_share * (double)benchmark.measure.budget_ns);
	subject.benchmark = &benchmark;
	subject.functions[0] = (struct fg_prove_function){
		.name = plant->function, .symbol = plant->symbol, .library = plant->library};
	subject.function_count = 1;
	subject.chosen = &subject.functions[0];
	subject.per_iteration = plant->per_iteration;
	FG_TRY(fg_prove_arm(prove, &subject, is_planted ? FG_PROOF_PLANTED : FG_PROOF_NEUTRAL,
			    is_planted ? size_of(&card) : 0, err));
	prove->proofs[prove->proof_count - 1].is_hidden = true;
	/*
	 * Discard the run: the build could not be relinked, so it was measured without the plant.
	 */
	if (subject.not_relinked)
		return fg_error_set(err, FG_EUNSUPPORTED, "%s", subject.not_relinked);
	return fg_prove_keep(prove, err);
}

void fg_prove_hidden(struct fg_cli *cli, struct fg_plan *plan, const char *ref, uint64_t seed)
{
	struct fg_prove prove = {.cli = cli, .plan = plan, .ref = ref, .request.nightly = true};
	struct fg_error err = {0};
	int status = FG_OK;

	prove.state_folder = fg_fs_join(plan->root, FG_STATE_FOLDER);
	status = fg_prove_open(&prove, &err);
	if (status == FG_OK)
		status = run_hidden(&prove, seed, &err);
	if (status == FG_OK)
		report(&prove);
	else if (status != FG_EINTERRUPTED)
		fg_cli_warn(cli, "gate.prove: %s", err.message);
	fg_prove_release(&prove);
}
