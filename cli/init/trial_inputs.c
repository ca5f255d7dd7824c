// SPDX-License-Identifier: Apache-2.0
/* Tries calls and files to find out how a program is called and what it reads. */
#include "base/fs.h"
#include "cli/init/inputs.h"
#include "cli/init/trial.h"
#include "cli/init/uses.h"
#include "runner/build/git.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TIMES = 10, /* factor by which each step increases the number of copies */
	COPIES_MAX = 100000,
	COPIED_BYTES_MAX = 256 << 20,
	COMPARED_BYTES = 4 << 20,
	ARGUMENT_BYTES_MAX = 64 << 10,
	SHAPES_MAX = 3,
	TIMEOUTS_MAX = 3,
};

struct found {
	const struct fg_project_input *input; /* NULL until an input works */
	bool as_argument;
	enum fg_project_input_kind kind;
	bool is_harmful; /* the program changes or removes its input files */
	double cpu_s;
	bool works[FG_PROJECT_MAX_INPUTS]; /* by index, for inputs of `kind` */
};

/* A program that waits for a person, or never ends, is not tried with more files. */
static bool is_over(const struct fg_project_trying *t)
{
	return t->timeouts >= TIMEOUTS_MAX || fg_project_is_over(t);
}

static void stat_input(const char *tree, struct fg_project_input *input)
{
	char *path = fg_fs_join(tree, input->path);
	struct stat facts = {0};

	(void)stat(path, &facts);
	input->size = facts.st_size;
	input->written = facts.st_mtim;
	free(path);
}

/* Is the input still unchanged? If not, restores it if git tracks it. */
static bool is_untouched(const char *tree, struct fg_project_input *input)
{
	const struct fg_git git = {.folder = tree};
	const char *const restore[] = {"checkout", "--", input->path, NULL};
	const struct fg_project_input before = *input;
	char *ignored = NULL;

	stat_input(tree, input);
	if (before.size == input->size && before.written.tv_sec == input->written.tv_sec &&
	    before.written.tv_nsec == input->written.tv_nsec)
		return true;
	if (fg_git_output(&git, restore, &ignored, NULL) == FG_OK)
		stat_input(tree, input);
	free(ignored);
	return false;
}

/* Removes the result of another call, which the program could otherwise read as an input. */
static void remove_result(const struct fg_project_trying *t)
{
	char *path = fg_fs_join(t->tree, FG_PROJECT_OUTPUT_NAME);

	(void)unlink(path);
	free(path);
}

/* Makes the input if it has a command, and again if a program changed or removed the input. */
static bool make_input(struct fg_project_trying *t, struct fg_project_input *input)
{
	const struct fg_project_program made = {.input_made = input->made};

	if (!input->made || (input->size > 0 && is_untouched(t->tree, input)))
		return true;
	if (!fg_project_prepare(t, &made))
		return false;
	stat_input(t->tree, input);
	return true;
}

static struct fg_project_program with_input(const struct fg_project_program *program,
					    const struct fg_project_input *input, bool as_argument)
{
	struct fg_project_program with = *program;

	with.input = input->path;
	with.input_made = input->made;
	with.input_is_argument = as_argument;
	return with;
}

/* Returns false if the program fails with this input or damages it. */
static bool try_input(struct fg_project_trying *t, const struct fg_project_program *program,
		      struct fg_project_input *input, struct found *found)
{
	struct fg_project_program with = with_input(program, input, found->as_argument);
	const char *line = fg_project_command(&with, &t->cli->arena);
	struct fg_project_seen seen = {0};
	double cpu_s = HUGE_VAL;

	remove_result(t);
	for (int round = 0; round < 2; round++) {
		const bool works =
			fg_project_execute(t, &with, line, found->as_argument ? NULL : input->path,
					   FG_PROJECT_INPUT_SECONDS, &seen);

		if (!is_untouched(t->tree, input))
			found->is_harmful = true;
		if (!works || found->is_harmful)
			return false;
		cpu_s = fmin(cpu_s, seen.cpu_s);
	}
	/* Inputs are sorted largest first, so a later input must take clearly longer. */
	if (!found->input || cpu_s > FG_PROJECT_CLEARLY * found->cpu_s) {
		found->input = input;
		found->cpu_s = cpu_s;
	}
	return true;
}

/* Executes the program once with copies of its input. */
static bool execute_copies(struct fg_project_trying *t, struct fg_project_program *longer,
			   struct fg_project_seen *seen)
{
	return fg_project_prepare(t, longer) &&
	       fg_project_execute(t, longer, fg_project_command(longer, &t->cli->arena),
				  fg_project_stdin(longer, &t->cli->arena), FG_PROJECT_TRY_SECONDS,
				  seen);
}

/*
 * If no input takes long, the right input is unknown: a program may reject its input at the first
 * line and still exit with 0. Compares the work on the same number of bytes of each input.
 */
static void compare_inputs(struct fg_project_trying *t, const struct fg_project_program *program,
			   const struct fg_project_inputs *inputs, struct found *found)
{
	double max_s = 0;

	for (size_t i = 0; i < inputs->count && !is_over(t); i++) {
		const struct fg_project_input *input = &inputs->items[i];
		struct fg_project_program longer = with_input(program, input, found->as_argument);

		if (!found->works[i] || input->size <= 0)
			continue;
		longer.input_copies = (unsigned)ceil(COMPARED_BYTES / (double)input->size);
		if (fg_project_prepare(t, &longer) &&
		    fg_project_measure(t, &longer, FG_PROJECT_TRY_SECONDS) &&
		    longer.work_s > FG_PROJECT_CLEARLY * max_s) {
			max_s = longer.work_s;
			found->input = input;
		}
	}
}

/*
 * Repeats the input 10, 100, 1000 ... times until the program's work takes long enough, or takes no
 * longer although there is much more to read. A number computed from the measured time would differ
 * from one trial to the next.
 */
static void repeat_input(struct fg_project_trying *t, struct fg_project_program *program,
			 int64_t size, double most)
{
	struct fg_project_program longer = *program;
	double copies = 1;
	double first_s = 0;

	while (longer.work_s < FG_PROJECT_WANTED_S && copies < most && !is_over(t)) {
		struct fg_project_seen seen = {0};

		copies = fmin(TIMES * copies, most);
		longer.input_copies = (unsigned)copies;
		if (!execute_copies(t, &longer, &seen))
			break;
		first_s = first_s > 0 ? first_s : seen.cpu_s;
		if (copies > TIMES && copies * (double)size >= COMPARED_BYTES &&
		    seen.cpu_s < FG_PROJECT_CLEARLY * first_s)
			break;
		/* One execution is enough to show that the call is still too short. */
		if (FG_PROJECT_CLEARLY * seen.cpu_s >= FG_PROJECT_WANTED_S &&
		    fg_project_measure(t, &longer, FG_PROJECT_TRY_SECONDS) &&
		    !fg_project_is_short(&longer))
			*program = longer;
	}
}

/* Concatenates copies if the program accepts the result, or else names the file many times. */
static void lengthen(struct fg_project_trying *t, struct fg_project_program *program, int64_t size)
{
	struct fg_project_program named = *program;

	if (program->input_made || !fg_project_is_short(program))
		return;
	repeat_input(t, program, size,
		     fmin(COPIES_MAX, floor((double)COPIED_BYTES_MAX / (double)size)));
	if (program->input_copies > 1 || !program->input_is_argument ||
	    strchr(fg_project_command(program, &t->cli->arena), '\''))
		return;
	named.input_is_repeated = true;
	repeat_input(t, &named, size,
		     floor(ARGUMENT_BYTES_MAX / (double)(strlen(named.input) + 1)));
	if (named.input_copies > 1)
		*program = named;
}

/*
 * Measures a call, with its input repeated if the call is short. Keeps the call in `best` if its
 * work takes clearly longer than `idle_s`. Returns true once `best` is long enough to stop
 * searching.
 */
static bool offer(struct fg_project_trying *t, const struct fg_project_program *program,
		  int64_t size, double idle_s, struct fg_project_program *best)
{
	struct fg_project_program call = *program;

	if (!fg_project_measure(t, &call, FG_PROJECT_TRY_SECONDS))
		return false;
	if (call.input)
		lengthen(t, &call, size);
	if (call.work_s > FG_PROJECT_CLEARLY * idle_s && fg_project_is_longer(&call, best))
		*best = call;
	return !fg_project_is_short(best);
}

/* Chooses the input that takes longest. */
static bool find_input_as(struct fg_project_trying *t, const struct fg_project_program *program,
			  struct fg_project_inputs *inputs, struct found found,
			  struct fg_project_program *best)
{
	struct fg_project_program chosen;

	for (size_t i = 0; i < inputs->count && !found.is_harmful && !is_over(t); i++) {
		if (inputs->items[i].kind == found.kind && make_input(t, &inputs->items[i]))
			found.works[i] = try_input(t, program, &inputs->items[i], &found);
	}
	if (!found.input)
		return false;
	if (FG_PROJECT_CLEARLY * found.cpu_s < FG_PROJECT_WANTED_S && !found.input->made)
		compare_inputs(t, program, inputs, &found);
	chosen = with_input(program, found.input, found.as_argument);
	return offer(t, &chosen, found.input->size, program->work_s, best);
}

/*
 * Standard input is tried before file names: a program that only reads cannot do harm. Sources come
 * last: if a patch changes a source, the two sides would not do the same work.
 */
static bool try_inputs(struct fg_project_trying *t, const struct fg_project_program *program,
		       struct fg_project_inputs *inputs, struct fg_project_program *best)
{
	for (unsigned way = 0; way < 2u * FG_INPUT_KIND_COUNT && !is_over(t); way++) {
		const struct found found = {
			.as_argument = way >= FG_INPUT_KIND_COUNT,
			.kind = (enum fg_project_input_kind)(way % FG_INPUT_KIND_COUNT),
		};

		/* Tests get only samples: files in folders of tests, examples or data. */
		if (program->rank <= FG_PROJECT_TEST_RANK && found.kind > FG_INPUT_BINARY_SAMPLE)
			continue;
		if (find_input_as(t, program, inputs, found, best))
			return true;
	}
	return false;
}

/* ---- calls in the project's tests ---- */

static struct fg_project_program with_use(const struct fg_project_program *program,
					  const struct fg_project_use *use)
{
	struct fg_project_program with = *program;

	with.arguments = *use->before ? use->before : NULL;
	with.tail = *use->after ? use->after : NULL;
	with.input = use->input;
	with.input_is_argument = use->input && use->is_argument;
	return with;
}

/* Measures the call. Returns false if the call fails or changes its input. */
static bool try_use(struct fg_project_trying *t, struct fg_project_program *with)
{
	struct fg_project_input input = {.path = with->input};
	bool works = false;

	remove_result(t);
	if (with->input)
		stat_input(t->tree, &input);
	works = fg_project_measure(t, with, FG_PROJECT_INPUT_SECONDS);
	return (!with->input || is_untouched(t->tree, &input)) && works;
}

/* Chooses the call that takes longest, and repeats its input if the call is too short. */
static bool try_uses(struct fg_project_trying *t, const struct fg_project_program *program,
		     const struct fg_project_uses *uses, struct fg_project_program *best)
{
	const struct fg_project_use *longest = NULL;
	struct fg_project_program chosen;

	for (size_t i = 0; i < uses->count && !is_over(t); i++) {
		struct fg_project_program with = with_use(program, &uses->items[i]);

		if (uses->items[i].wants_file || !try_use(t, &with) ||
		    (!with.input && fg_project_is_short(&with)) ||
		    (longest && !fg_project_is_longer(&with, &chosen)))
			continue;
		longest = &uses->items[i];
		chosen = with;
	}
	return longest && offer(t, &chosen, longest->size, program->work_s, best);
}

/*
 * Tries calls found in the project's files first, then any file with the words of such a call, then
 * a file alone, and last a file followed by a name for the result.
 */
bool fg_project_find_input(struct fg_project_trying *t, struct fg_project_program *program)
{
	struct fg_project_program best = {.work_s = 0};
	struct fg_project_inputs inputs = {0};
	struct fg_project_uses uses;
	struct fg_project_program converting = *program;
	bool found = false;

	converting.tail = FG_PROJECT_OUTPUT_NAME;
	t->timeouts = 0;
	fg_project_uses_find(t->tree, &t->cli->arena, program, &uses);
	found = try_uses(t, program, &uses, &best);
	fg_project_inputs_find(t->tree, &t->cli->arena, &inputs);
	fg_project_inputs_make(&inputs);
	for (size_t i = 0, tried = 0; i < uses.count && tried < SHAPES_MAX && !found; i++) {
		if (uses.items[i].wants_file) {
			const struct fg_project_program with = with_use(program, &uses.items[i]);

			found = try_inputs(t, &with, &inputs, &best);
			tried++;
		}
	}
	if (!found && !try_inputs(t, program, &inputs, &best))
		(void)try_inputs(t, &converting, &inputs, &best);
	if (best.work_s > 0)
		*program = best;
	return best.work_s > 0;
}
