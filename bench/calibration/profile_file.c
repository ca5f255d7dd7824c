// SPDX-License-Identifier: Apache-2.0
#include "bench/calibration/profile_file.h"

#include "base/fs.h"

#include <errno.h>
#include <math.h>

#define FIELDS_MAX 8
#define CELLS_MAX  1000000

void profile_file_init(struct profile_file *file)
{
	struct fg_series *series;

	*file = (struct profile_file){0};
	fg_run_init(&file->run);
	series = fg_run_add_series(&file->run, "many");
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	file->run.has_baseline = true;
	fg_profile_set_init(&file->set, "many");
}

void profile_file_release(struct profile_file *file)
{
	fg_profile_set_release(&file->set);
	fg_run_release(&file->run);
}

uint32_t profile_file_pairs(const struct profile_file *file)
{
	uint32_t count = 0;

	for (size_t i = 0; i < file->set.row_count; i++) {
		if (file->set.rows[i].pair + 1 > count)
			count = file->set.rows[i].pair + 1;
	}
	return count;
}

/* Cuts a line at its tabs. Returns the number of fields. */
static size_t split(char *line, char *fields[FIELDS_MAX])
{
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && count < FIELDS_MAX) {
		char *tab = strchr(line, '\t');

		fields[count++] = line;
		if (tab)
			*tab = '\0';
		line = tab ? tab + 1 : NULL;
	}
	return count;
}

static bool read_cells(struct fg_profile_set *set, struct fg_profile_row *row, size_t count,
		       char *text)
{
	for (size_t i = 0; i < count; i++) {
		row->nodes[i] = (uint32_t)strtoul(text, &text, 10);
		row->samples[i] = (uint32_t)strtoul(text, &text, 10);
		row->values[i] = strtod(text, &text);
		if (row->nodes[i] >= set->node_count || !isfinite(row->values[i]))
			return false;
	}
	row->count = (uint32_t)count;
	return true;
}

static bool read_repetition(struct profile_file *file, char *const fields[FIELDS_MAX])
{
	unsigned long pair = strtoul(fields[1], NULL, 10);
	unsigned long arm = strtoul(fields[2], NULL, 10);
	unsigned long count = strtoul(fields[6], NULL, 10);
	struct fg_profile_row *row;
	struct fg_repetition *r;

	if (pair > 1000000 || arm >= FG_ARM_COUNT || count > CELLS_MAX)
		return false;
	r = fg_series_add_repetition(&file->run.series[0]);
	r->pair = (uint32_t)pair;
	r->arm = (uint8_t)arm;
	r->values[FG_METRIC_CPU_TIME] = strtod(fields[3], NULL);
	r->load = strtof(fields[4], NULL);
	row = fg_profile_set_add_row(&file->set, count);
	row->pair = (uint32_t)pair;
	row->arm = (uint8_t)arm;
	row->total = strtod(fields[5], NULL);
	return read_cells(&file->set, row, count, fields[7]);
}

static bool read_line(struct profile_file *file, char *line)
{
	char *fields[FIELDS_MAX];
	size_t count = split(line, fields);

	if (count == 4 && strcmp(fields[0], "E") == 0) {
		fg_build_facts_set(&file->run.series[0].build[fields[1][0] == '1'], fields[2],
				   fields[3]);
		return true;
	}
	if (count == 3 && strcmp(fields[0], "F") == 0) {
		struct fg_profile_function f = {.name = fields[1], .library = fields[2]};

		(void)fg_profile_set_function(&file->set, &f);
		return true;
	}
	if (count == 3 && strcmp(fields[0], "N") == 0) {
		unsigned long parent = strtoul(fields[1], NULL, 10);
		unsigned long function = strtoul(fields[2], NULL, 10);

		if (parent >= file->set.node_count || function >= file->set.function_count)
			return false;
		(void)fg_profile_set_node(&file->set, (uint32_t)parent, (uint32_t)function);
		return true;
	}
	return count == 8 && strcmp(fields[0], "R") == 0 && read_repetition(file, fields);
}

int profile_file_load(struct profile_file *file, const char *path, struct fg_error *err)
{
	FILE *in = fopen(path, "r");
	struct profile_file made;
	char *line = NULL;
	size_t size = 0;
	int status = FG_OK;

	if (!in)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "cannot read '%s'",
				      path);
	profile_file_init(&made);
	while (status == FG_OK && getline(&line, &size, in) > 0) {
		if (!read_line(&made, line))
			status = fg_error_set(err, FG_EPARSE, "'%s' is damaged", path);
	}
	free(line);
	(void)fclose(in);
	if (status == FG_OK) {
		profile_file_release(file);
		*file = made;
	} else {
		profile_file_release(&made);
	}
	return status;
}

static void write_facts(const struct fg_build_facts *build, int arm, FILE *out)
{
	struct fg_environment facts = {0};

	fg_build_facts_list(build, &facts);
	for (size_t i = 0; i < facts.count; i++)
		(void)fprintf(out, "E\t%d\t%s\t%s\n", arm, facts.facts[i].key,
			      facts.facts[i].value);
	fg_environment_release(&facts);
}

static void write_repetition(const struct fg_repetition *r, const struct fg_profile_row *row,
			     FILE *out)
{
	(void)fprintf(out, "R\t%u\t%d\t%.0f\t%.2f\t%.0f\t%u\t", row->pair, row->arm,
		      r->values[FG_METRIC_CPU_TIME], (double)r->load, row->total, row->count);
	for (uint32_t i = 0; i < row->count; i++)
		(void)fprintf(out, "%u %u %.0f ", row->nodes[i], row->samples[i], row->values[i]);
	(void)fprintf(out, "\n");
}

static void write_all(const struct profile_file *file, FILE *out)
{
	const struct fg_profile_set *set = &file->set;

	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		write_facts(&file->run.series[0].build[arm], arm, out);
	for (size_t i = 1; i < set->function_count; i++)
		(void)fprintf(out, "F\t%s\t%s\n", set->functions[i].name,
			      set->functions[i].library ? set->functions[i].library : "");
	for (size_t i = 1; i < set->node_count; i++)
		(void)fprintf(out, "N\t%u\t%u\n", set->nodes[i].parent, set->nodes[i].function);
	for (size_t i = 0; i < set->row_count; i++)
		write_repetition(&file->run.series[0].repetitions[i], &set->rows[i], out);
}

int profile_file_save(const struct profile_file *file, const char *path, struct fg_error *err)
{
	char *fresh = fg_xasprintf("%s.new", path);
	FILE *out = fopen(fresh, "w");
	int status = FG_OK;

	if (!out) {
		status = fg_error_errno(err, FG_EIO, "cannot write '%s'", fresh);
	} else {
		write_all(file, out);
		if (ferror(out) | fclose(out) || rename(fresh, path) != 0)
			status = fg_error_errno(err, FG_EIO, "cannot write '%s'", path);
	}
	free(fresh);
	return status;
}
