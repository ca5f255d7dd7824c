// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "runner/facts/program_file.h"
#include "runner/target.h"

/*
 * Returns a script's interpreter, relative to the arm's root if the interpreter lies below the
 * root, as in a virtual environment.
 */
static const char *interpreter_of(const struct fg_target *target,
				  const struct fg_program_file *program)
{
	const char *path = program->interpreter;

	return fg_text_starts_with(path, target->root) ? path + strlen(target->root) : path;
}

static char *describe(const struct fg_target *target, const struct fg_program_file *program)
{
	if (!program->is_elf && *program->interpreter)
		return fg_xasprintf("a script for %s", interpreter_of(target, program));
	if (!program->is_elf)
		return fg_xstrdup("neither a script nor an ELF program");
	return fg_xasprintf("an ELF program for machine %u%s%s", program->machine,
			    program->sanitizer ? " with " : "",
			    program->sanitizer ? program->sanitizer : "");
}

char *fg_comparability_of_targets(const struct fg_target *baseline,
				  const struct fg_target *candidate)
{
	struct fg_program_file programs[FG_ARM_COUNT];
	char *words[FG_ARM_COUNT];
	char *reason = NULL;

	if (!baseline->program || !candidate->program ||
	    !fg_command_is_same(baseline->command, candidate->command) ||
	    fg_program_file_read(baseline->program, &programs[FG_ARM_BASELINE], NULL) != FG_OK ||
	    fg_program_file_read(candidate->program, &programs[FG_ARM_CANDIDATE], NULL) != FG_OK)
		return NULL;
	words[FG_ARM_BASELINE] = describe(baseline, &programs[FG_ARM_BASELINE]);
	words[FG_ARM_CANDIDATE] = describe(candidate, &programs[FG_ARM_CANDIDATE]);
	if (strcmp(words[FG_ARM_BASELINE], words[FG_ARM_CANDIDATE]) != 0)
		reason = fg_xasprintf("the two sides are of different kinds, so their times say "
				      "nothing about the change: '%s' is %s in the baseline and %s "
				      "in the candidate; if that is the change itself, compare "
				      "them with `fastgate duel`",
				      candidate->command->argv[0], words[FG_ARM_BASELINE],
				      words[FG_ARM_CANDIDATE]);
	free(words[FG_ARM_BASELINE]);
	free(words[FG_ARM_CANDIDATE]);
	return reason;
}

char *fg_comparability_of_builds(const struct fg_target *baseline,
				 const struct fg_target *candidate,
				 const struct fg_build_difference *difference)
{
	if (!difference->is_grave ||
	    (baseline->checkout != NULL) == (candidate->checkout != NULL) ||
	    !fg_command_is_same(baseline->command, candidate->command))
		return NULL;
	return fg_xasprintf(
		"the work tree is not built like the baseline, perhaps because of leftovers of "
		"an earlier build, so the times say nothing about the change: %s; build the work "
		"tree from scratch, or measure a snapshot of it (without in_place)",
		difference->text);
}
