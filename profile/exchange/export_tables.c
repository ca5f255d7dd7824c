// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of FAST's SIMPLEPROFILER, in one file of tab-separated sections: functions with
 * library, total and leaf counts; library address ranges; a summary of the samples taken, and of
 * the samples without a usable stack; addresses with their counts. The format, which
 * docs/formats/tables.md describes, is plain enough for awk, sort, gnuplot and R.
 */
#include "base/number.h"
#include "base/printable.h"
#include "base/sort.h"
#include "profile/exchange/export_formats.h"
#include "profile/instruction_samples.h"

#include <inttypes.h>

/* Tabs and line ends would break the table; a spreadsheet would evaluate a formula. */
static void add_field(struct fg_strbuf *out, const char *text)
{
	if (!text || !*text)
		text = "-";
	else if (strchr("=+-@", *text))
		fg_strbuf_add_char(out, '\'');
	for (; *text; text++)
		fg_strbuf_add_char(out, fg_printable(*text));
}

FG_ORDER_BY(by_leaf, struct fg_label_figures, FG_DOWN(self[0].samples),
	    FG_DOWN(inclusive[0].samples), FG_UP(label))

/* Returns "ns", or the name of a measure other than time. */
static const char *unit_of(const struct fg_profile *profile)
{
	const struct fg_measure *measure = &profile->measures[0].is;

	return fg_measure_has_time(measure) ? "ns" : measure->name;
}

static void write_functions(const struct fg_profile *profile, const struct fg_calltree *tree,
			    struct fg_strbuf *out)
{
	struct fg_label_figures *figures = NULL;
	const size_t count = fg_calltree_flat(tree, &figures);

	qsort(figures, count, sizeof(figures[0]), by_leaf);
	fg_strbuf_printf(out,
			 "[functions]\nleaf\ttotal\tleaf_%s\ttotal_%s\tpaths\tlibrary\t"
			 "linkage_name\tname\n",
			 unit_of(profile), unit_of(profile));
	for (size_t i = 0; i < count && figures[i].inclusive[0].samples > 0; i++) {
		const struct fg_label *label = &tree->labels[figures[i].label];

		fg_strbuf_printf(out, "%" PRIu64 "\t%" PRIu64 "\t%.0f\t%.0f\t%" PRIu32 "\t",
				 figures[i].self[0].samples, figures[i].inclusive[0].samples,
				 figures[i].self[0].value, figures[i].inclusive[0].value,
				 figures[i].leaf_paths);
		add_field(out, label->library);
		fg_strbuf_add_char(out, '\t');
		add_field(out, label->linkage ? label->linkage : label->name);
		fg_strbuf_add_char(out, '\t');
		add_field(out, label->name);
		fg_strbuf_add_char(out, '\n');
	}
	free(figures);
}

static void write_libraries(const struct fg_profile *profile, struct fg_strbuf *out)
{
	fg_strbuf_add_text(out, "\n[libraries]\nstart\tend\tprocess\tbuild_id\tpath\n");
	for (size_t i = 1; i < profile->module_count; i++) {
		const struct fg_module_info *module = &profile->modules[i];
		const uint32_t process = module->process;

		fg_strbuf_printf(out, "0x%" PRIx64 "\t0x%" PRIx64 "\t%" PRIu32 "\t", module->start,
				 module->end,
				 process < profile->process_count ? profile->processes[process].pid
								  : 0);
		add_field(out, module->build_id);
		fg_strbuf_add_char(out, '\t');
		add_field(out, module->path);
		fg_strbuf_add_char(out, '\n');
	}
}

static void write_fact(struct fg_strbuf *out, const char *name, double value)
{
	char text[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(out, "%s\t%s\n", name, fg_format_double(value, text));
}

static void write_measure_fact(struct fg_strbuf *out, const struct fg_profile *profile,
			       const char *what, double value)
{
	char *name = fg_xasprintf("%s_%s", what, unit_of(profile));

	write_fact(out, name, value);
	free(name);
}

static void write_summary(const struct fg_profile *profile, const struct fg_calltree *tree,
			  struct fg_strbuf *out)
{
	uint64_t truncated = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		truncated += profile->samples[i].truncated && profile->samples[i].measure == 0
				     ? profile->samples[i].count
				     : 0;
	fg_strbuf_add_text(out, "\n[summary]\n");
	fg_strbuf_add_text(out, "program\t");
	add_field(out, profile->title);
	fg_strbuf_add_text(out, "\nclock\t");
	add_field(out, profile->clock);
	fg_strbuf_add_char(out, '\n');
	write_fact(out, "period_ns", (double)profile->period_ns);
	write_fact(out, "repetitions", (double)profile->repetition_count);
	write_fact(out, "samples", (double)tree->inclusive[0][0].samples);
	write_fact(out, "samples_without_stack", (double)tree->self[0][0].samples);
	write_fact(out, "samples_truncated", (double)truncated);
	write_measure_fact(out, profile, "total", profile->measures[0].total);
	write_measure_fact(out, profile, "lost", profile->measures[0].lost);
	write_measure_fact(out, profile, "truncated", profile->measures[0].truncated);
	write_fact(out, "processes", (double)profile->process_count);
	write_fact(out, "threads", (double)profile->thread_count);
	write_fact(out, "functions", (double)profile->function_count - 1);
	write_fact(out, "call_paths", (double)profile->stack_count - 1);
}

static void write_addresses(const struct fg_profile *profile, struct fg_strbuf *out)
{
	struct fg_instruction_sample *hits = NULL;
	const size_t count = fg_instruction_samples(profile, 0, &hits);

	fg_strbuf_printf(out, "\n[addresses]\naddress\tleaf\tleaf_%s\tlibrary\tname\n",
			 unit_of(profile));
	for (size_t i = 0; i < count; i++) {
		const struct fg_frame *frame = hits[i].frame;

		fg_strbuf_printf(out, "0x%" PRIx64 "\t%" PRIu64 "\t%.0f\t", frame->address,
				 hits[i].weight.samples, hits[i].weight.value);
		add_field(out, profile->modules[frame->module].name);
		fg_strbuf_add_char(out, '\t');
		add_field(out, profile->functions[frame->function].name);
		fg_strbuf_add_char(out, '\n');
	}
	free(hits);
}

int fg_export_tables(const struct fg_profile *profile, const struct fg_export_options *options,
		     struct fg_strbuf *out, struct fg_error *err)
{
	const struct fg_calltree_query everything = {0};
	struct fg_calltree tree;

	(void)options;
	FG_TRY(fg_calltree_build(profile, &everything, &tree, err));
	write_functions(profile, &tree, out);
	write_libraries(profile, out);
	write_summary(profile, &tree, out);
	write_addresses(profile, out);
	fg_calltree_release(&tree);
	return FG_OK;
}
