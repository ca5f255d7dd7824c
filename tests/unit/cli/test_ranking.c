// SPDX-License-Identifier: Apache-2.0
/*
 * The ranking of `init`, on facts about source packages drawn at random (init_corpus.txt says how).
 * Each line lists a package, the programs that its build files declare, and those that its
 * documentation suggests measuring; "asks" means that a person must choose.
 */
#include "base/fs.h"
#include "cli/init/project.h"
#include "tests/support/fg_test.h"

#include <ctype.h>

struct score {
	size_t packages;
	size_t right;
	size_t sure;  /* chosen without calling it a guess */
	size_t wrong; /* sure, but wrong */
};

/* Cuts off the notes after a program's path: "src/jot(1)". */
static char *cut_notes(char *path)
{
	char *notes = path + strcspn(path, "(");

	if (*notes)
		*notes++ = '\0';
	return notes;
}

/* Writes the manual and the README that the notes describe. */
static void document(struct fg_project *project, const char *programs, struct fg_arena *arena)
{
	struct fg_strbuf pages = {0};
	struct fg_strbuf readme = {0};
	char *copy = fg_xstrdup(programs);
	char *rest = copy;

	for (char *path = strsep(&rest, " "); path; path = strsep(&rest, " ")) {
		const char *notes = cut_notes(path);

		if (isdigit((unsigned char)*notes))
			fg_strbuf_printf(&pages, "%s.%c\n", fg_fs_base_name(path), *notes);
		if (strchr(notes, 'r'))
			fg_strbuf_printf(&readme, "$ ./%s FILE\n", fg_fs_base_name(path));
	}
	project->manual = fg_arena_strdup(arena, fg_strbuf_text(&pages));
	project->readme = fg_arena_strdup(arena, fg_strbuf_text(&readme));
	fg_strbuf_release(&readme);
	fg_strbuf_release(&pages);
	free(copy);
}

/*
 * Returns the program that `init` would try first, or NULL if it would ask. `is_sure`: not a guess.
 */
static const char *choose(const char *name, char *programs, struct fg_arena *arena, bool *is_sure)
{
	struct fg_project project = {.name = name};
	char *rest = programs;

	document(&project, programs, arena);
	project.programs =
		fg_arena_array(arena, FG_PROJECT_MAX_PROGRAMS, sizeof(project.programs[0]));
	for (char *path = strsep(&rest, " "); path; path = strsep(&rest, " ")) {
		struct fg_project_program *program = &project.programs[project.program_count];

		const char *notes = cut_notes(path);

		if (!*path || project.program_count == FG_PROJECT_MAX_PROGRAMS)
			continue;
		program->path = path;
		fg_project_rank(&project, program);
		/* as the trial does before it runs a program */
		if (strchr(notes, 's'))
			program->rank = FG_PROJECT_NEVER_RANK;
		project.program_count++;
	}
	fg_project_prefer_only(&project);
	fg_project_sort(&project);
	*is_sure = project.program_count && project.programs[0].rank >= FG_PROJECT_SURE_RANK;
	return project.program_count && project.programs[0].rank > 0 ? project.programs[0].path
								     : NULL;
}

static bool is_among(const char *choice, char *labels)
{
	char *rest = labels;

	for (char *label = strsep(&rest, " "); label; label = strsep(&rest, " ")) {
		if (strcmp(choice, label) == 0)
			return true;
	}
	return false;
}

static void judge(char *line, struct fg_arena *arena, struct score *score)
{
	char *rest = line;
	const char *name = strsep(&rest, "|");
	char *programs = strsep(&rest, "|");
	char *labels = strsep(&rest, "|");
	const char *choice = NULL;
	bool right = false;
	bool is_sure = false;

	assert_non_null(labels);
	choice = choose(name, programs, arena, &is_sure);
	right = is_among(choice ? choice : "asks", labels);
	if (!right)
		print_message("%s: %s%s\n", name, choice ? choice : "asks",
			      is_sure ? ", sure" : "");
	score->packages++;
	score->right += right;
	score->sure += is_sure;
	score->wrong += is_sure && !right;
}

static void judge_part(const char *heading, size_t least, size_t right_percent)
{
	struct score score = {0};
	struct fg_arena arena = {0};
	char *text = NULL;
	char *rest = NULL;
	bool inside = false;

	assert_int_equal(fg_fs_read(INIT_CORPUS, 1 << 20, &text, NULL, NULL), FG_OK);
	rest = text;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (*line == '[')
			inside = strcmp(line, heading) == 0;
		else if (inside && *line && *line != '#')
			judge(line, &arena, &score);
	}
	print_message("%s %zu packages, %zu right; %zu sure, %zu of them wrong\n", heading,
		      score.packages, score.right, score.sure, score.wrong);
	assert_true(score.packages >= least);
	assert_true(100 * score.right >= right_percent * score.packages);
	assert_true(100 * score.sure >= 10 * score.packages);
	assert_true(100 * score.wrong <= 5 * score.packages);
	free(text);
	fg_arena_release(&arena);
}

FG_TEST(packages_that_the_table_was_made_from)
{
	judge_part("[seen]", 140, 85);
}

FG_TEST(packages_that_were_drawn_afterwards)
{
	judge_part("[held back]", 34, 80);
}
