// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json_write.h"
#include "cli/framework/command.h"
#include "cli/prove/prove.h"
#include "cli/session/plan.h"
#include "runner/doctor.h"

#include <math.h>

struct options {
	struct fg_cli_config config;
	const char *root;
};

/* ---- findings ---- */

static const char *paint(const struct fg_cli *cli, enum fg_severity severity)
{
	static const char *const colors[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};

	return cli->color_out ? colors[severity] : "";
}

static void print_finding(const struct fg_cli *cli, const struct fg_finding *finding,
			  struct fg_strbuf *text)
{
	const char *end = cli->color_out ? "\033[0m" : "";

	fg_strbuf_printf(text, "%s%-8s%s %s: %s\n", paint(cli, finding->severity),
			 fg_severity_name(finding->severity), end, finding->subject,
			 finding->evidence);
	if (finding->meaning)
		fg_strbuf_printf(text, "         %s\n", finding->meaning);
	if (finding->remedy)
		fg_strbuf_printf(text, "         fix: %s\n", finding->remedy);
}

static void write_json(const struct fg_diagnosis *diagnosis, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-doctor/1");
	fg_json_text(&w, "worst", fg_severity_name(fg_diagnosis_worst(diagnosis)));
	fg_json_begin_array(&w, "findings");
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct fg_finding *finding = &diagnosis->items[i];

		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "id", finding->id);
		fg_json_text(&w, "subject", finding->subject);
		fg_json_text(&w, "severity", fg_severity_name(finding->severity));
		fg_json_text(&w, "evidence", finding->evidence);
		fg_json_text(&w, "meaning", finding->meaning);
		fg_json_text(&w, "remedy", finding->remedy);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

static void print_words(const struct fg_cli *cli, const struct fg_diagnosis *diagnosis,
			struct fg_strbuf *text)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		if (!cli->quiet || diagnosis->items[i].severity > FG_SEVERITY_OK)
			print_finding(cli, &diagnosis->items[i], text);
	}
}

/* ---- the card of `fastgate prove` ---- */

static char *card_words(const struct fg_proof_card *card)
{
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "%zu of %zu runs on equal code were false alarms; ",
			 card->alarms.hits, card->alarms.runs);
	if (isfinite(card->smallest))
		fg_strbuf_printf(
			&text,
			"the smallest slowdown found in at least 95 %% of its runs is %.2g %%",
			100 * card->smallest);
	else
		fg_strbuf_add_text(&text, "none of the planted slowdowns was found in at least "
					  "95 % of its runs");
	if (card->help_count > 0) {
		fg_strbuf_add_text(&text, "; best remedy: ");
		fg_prove_add_remedy(&card->helps[0], &text);
	}
	return fg_xstrndup(fg_strbuf_text(&text), text.length);
}

static struct fg_finding judge_card(const struct fg_proof_card *card)
{
	struct fg_finding finding = {.id = "proof",
				     .subject = "gate, according to `fastgate prove`"};

	if (card->runs == 0) {
		finding.severity = FG_SEVERITY_NOTE;
		finding.evidence = fg_xstrdup("this project's gate was not proven on this runner");
		finding.meaning = "the smallest slowdown that the gate finds here is unknown";
		finding.remedy = "fastgate prove";
		return finding;
	}
	finding.evidence = card_words(card);
	if (card->is_broken) {
		finding.severity = FG_SEVERITY_PROBLEM;
		finding.meaning =
			"the gate is broken: it has too many false alarms, or no longer finds "
			"slowdowns that it used to find";
		finding.remedy = "fastgate prove --nightly, which shows the limits of the gate";
	} else if (!isfinite(card->smallest)) {
		finding.severity = FG_SEVERITY_WARNING;
		finding.meaning = "even a slowdown of 10 % may go undetected";
		finding.remedy = "fastgate prove --nightly, which shows the best remedy";
	}
	return finding;
}

static void examine_card(struct fg_plan *plan, struct fg_diagnosis *diagnosis)
{
	struct fg_stored_proofs list = {0};
	struct fg_proof_card card = {0};
	struct fg_proof *proofs = NULL;
	struct fg_finding *grown = NULL;
	size_t count = 0;

	if (!plan->config_path)
		return;
	if (fg_prove_load(plan, &list, NULL) != FG_OK)
		return;
	count = fg_prove_read(&list, &plan->arena, &proofs);
	fg_prove_card(plan, proofs, count, &card);
	grown = fg_grow(diagnosis->items, &diagnosis->capacity, diagnosis->count + 1,
			sizeof(*grown));
	diagnosis->items = grown;
	grown[diagnosis->count++] = judge_card(&card);
	free(proofs);
	fg_stored_proofs_release(&list);
}

/* ---- the command ---- */

static void examine(struct fg_cli *cli, const struct options *given, struct fg_plan *plan)
{
	struct fg_diagnosis diagnosis = {0};
	struct fg_strbuf text = {0};

	fg_doctor_host(given->root ? given->root : "", &diagnosis);
	if (!given->root)
		fg_doctor_process(&diagnosis);
	for (size_t i = 0; i < plan->benchmark_count; i++)
		fg_doctor_benchmark(&plan->benchmarks[i], plan->root ? plan->root : ".",
				    &diagnosis);
	if (!given->root)
		examine_card(plan, &diagnosis);
	if (cli->json)
		write_json(&diagnosis, &text);
	else
		print_words(cli, &diagnosis, &text);
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
	fg_diagnosis_release(&diagnosis);
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_plan plan = {0};
	int status = FG_EXIT_PASS;

	if (given->root && !fg_fs_is_folder(given->root))
		return fg_cli_usage(cli, "'%s' is not a folder", given->root);
	status = fg_cli_load_plan(cli, &given->config, true, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	examine(cli, given, &plan);
	fg_plan_release(&plan);
	return FG_EXIT_PASS;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_NAME(struct options, root, "root", 0, "FOLDER", FG_COMPLETE_FOLDER,
		    "examine another host, whose /proc and /sys were copied below FOLDER"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate doctor", "find sources of noise on this host, and their fixes"},
	{"fastgate doctor --json | jq .worst", "for a script"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_doctor = {
	.name = "doctor",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "find sources of noise and limits of the sampler on this host, and their "
		   "fixes",
	.description = "Looks at frequency policy, load, stolen time, SMT, address space "
		       "randomisation, perf, quotas, memory and the benchmarks' own programs. Each "
		       "finding lists the observation, its effect, and the command that fixes it. "
		       "Nothing is changed. With --quiet only problems are shown.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exits = 0,
	.has_json = true,
	.run = run,
};
