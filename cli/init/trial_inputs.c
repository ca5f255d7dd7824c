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
	COPIES_MAX = 100000,
	LENGTHEN_MAX = 3,
	COPIED_BYTES_MAX = 256 << 20,
	COMPARED_BYTES = 4 << 20,
	ARGUMENT_BYTES_MAX = 64 << 10,
	SHAPES_MAX = 3,
	TIMEOUTS_MAX = 3,
};

static const double enough_s = 0.05; /* the search ends at an input that takes this long */
static const double smallest_cpu_s = 0.001;
static const double more_cpu = 1.2; /* a larger ratio of CPU times is not due to chance */

/* The best call found so far. */
struct choice {
	struct fg_project_program program;
	double cpu_s; /* CPU time of one execution; 0: no call found */
};

struct found {
	const struct fg_project_input *input; /* NULL until one works */
	bool as_argument;
	enum fg_project_input_kind kind;
	bool is_harmful; /* the program changes or removes its input files */
	double cpu_s;
	bool works[FG_PROJECT_MAX_INPUTS]; /* by index, for inputs of `kind` */
};

/* A program that waits for a person, or never ends, gets no more files. */
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

/* Removes the result of another call, which would otherwise be taken for an input. */
static void remove_result(const struct fg_project_trying *t)
{
	char *path = fg_fs_join(t->tree, FG_PROJECT_OUTPUT_NAME);

	(void)unlink(path);
	free(path);
}

/* Makes the input if it has a command; again if a program changed or removed it. */
static bool make_input(struct fg_project_trying *t, struct fg_project_input *input)
{
	struct fg_project_program setup = {.path = ""};
	struct fg_project_seen seen = {0};

	if (!input->made || (input->size > 0 && is_untouched(t->tree, input)))
		return true;
	if (!fg_project_execute(t, &setup, input->made, NULL, FG_PROJECT_INPUT_SECONDS, &seen))
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

	remove_result(t);
	for (int round = 0; round < 2; round++) {
		const bool works =
			fg_project_execute(t, &with, line, found->as_argument ? NULL : input->path,
					   FG_PROJECT_INPUT_SECONDS, &seen);

		if (!is_untouched(t->tree, input))
			found->is_harmful = true;
		if (!works || found->is_harmful)
			return false;
	}
	/* Inputs are sorted largest first, so a later one must take clearly longer. */
	if (found->input && seen.cpu_s < more_cpu * found->cpu_s + smallest_cpu_s)
		return true;
	found->input = input;
	found->cpu_s = seen.cpu_s;
	return true;
}

/* Executes the program once with this many copies of the input, in one file or as arguments. */
static bool execute_copies(struct fg_project_trying *t, struct fg_project_program *longer,
			   double copies, struct fg_project_seen *seen)
{
	struct fg_project_program setup = {.path = ""};

	longer->input_copies = (unsigned)copies;
	return (longer->input_is_repeated ||
		fg_project_execute(t, &setup, fg_project_input_setup(longer, &t->cli->arena), NULL,
				   FG_PROJECT_INPUT_SECONDS, seen)) &&
	       fg_project_execute(t, longer, fg_project_command(longer, &t->cli->arena),
				  longer->input_is_argument
					  ? NULL
					  : fg_project_input_name(longer->input, &t->cli->arena),
				  FG_PROJECT_TRY_SECONDS, seen);
}

/*
 * If no input takes long, the right one is unknown: a program may reject a text at its first line
 * and still exit with 0. Compares the CPU times for the same number of bytes of each input.
 */
static void compare_inputs(struct fg_project_trying *t, const struct fg_project_program *program,
			   const struct fg_project_inputs *inputs, struct found *found)
{
	double max_s = 0;

	for (size_t i = 0; i < inputs->count && !is_over(t); i++) {
		const struct fg_project_input *input = &inputs->items[i];
		const double copies = ceil(COMPARED_BYTES / (double)input->size);
		struct fg_project_program longer = with_input(program, input, found->as_argument);
		struct fg_project_seen seen = {0};

		if (!found->works[i] || !execute_copies(t, &longer, copies, &seen) ||
		    seen.cpu_s < more_cpu * max_s + smallest_cpu_s)
			continue;
		max_s = seen.cpu_s;
		found->input = input;
		found->cpu_s = seen.cpu_s / copies;
	}
}

/*
 * Repeats the input until an execution takes about a third of a second. The number is found in
 * steps: a short execution is mostly program start, and on a busy machine one may take many times
 * as long as the next. Returns the CPU time of an execution.
 */
static double lengthen_by(struct fg_project_trying *t, struct fg_project_program *program,
			  int64_t size, double cpu_s)
{
	const double most = program->input_is_repeated
				    ? ARGUMENT_BYTES_MAX / (double)(strlen(program->input) + 1)
				    : fmin(COPIES_MAX, (double)COPIED_BYTES_MAX / (double)size);
	const double first_s = cpu_s;
	const struct fg_project_program as_it_was = *program;
	double min_s = fmax(cpu_s, smallest_cpu_s);
	double copies = 1;

	cpu_s = min_s;
	for (int round = 0;
	     round < LENGTHEN_MAX && cpu_s < FG_PROJECT_WANTED_S / 2 && copies < most; round++) {
		struct fg_project_program longer = *program;
		struct fg_project_seen seen = {0};

		copies = fmin(ceil(copies * FG_PROJECT_WANTED_S / cpu_s), most);
		if (!execute_copies(t, &longer, copies, &seen))
			break;
		if (seen.cpu_s >= 2 * min_s)
			*program = longer;
		cpu_s = fmax(seen.cpu_s, smallest_cpu_s);
		min_s = fmin(min_s, cpu_s);
	}
	/* Too fast to have processed this much: it copies its input or does not read most of it. */
	if (!program->input_is_repeated && copies * (double)size > COPIED_BYTES_MAX / 2.0 &&
	    cpu_s < FG_PROJECT_WANTED_S / 2)
		*program = as_it_was;
	/* The shell itself takes some milliseconds for so many arguments. */
	if (program->input_is_repeated && cpu_s < enough_s)
		*program = as_it_was;
	return program->input_copies > 1 ? cpu_s : first_s;
}

/* Concatenates copies if the program accepts that, otherwise names the file many times. */
static double lengthen(struct fg_project_trying *t, struct fg_project_program *program,
		       int64_t size, double cpu_s)
{
	double longer_s = program->input_made ? cpu_s : lengthen_by(t, program, size, cpu_s);

	if (program->input_copies > 1 || !program->input_is_argument ||
	    strchr(fg_project_command(program, &t->cli->arena), '\''))
		return longer_s;
	program->input_is_repeated = true;
	longer_s = lengthen_by(t, program, size, cpu_s);
	program->input_is_repeated = program->input_copies > 1;
	return longer_s;
}

/* Keeps the call that takes longest. Returns true if that is long enough to stop searching. */
static bool offer(struct choice *best, const struct fg_project_program *program, double cpu_s)
{
	if (cpu_s > best->cpu_s)
		*best = (struct choice){.program = *program, .cpu_s = cpu_s};
	return best->cpu_s >= enough_s;
}

/*
 * Chooses the input that takes longest, and repeats it if that is too short. It must take longer
 * than `cpu_s`, the program's CPU time without an input.
 */
static bool find_input_as(struct fg_project_trying *t, const struct fg_project_program *program,
			  struct fg_project_inputs *inputs, struct found found, double cpu_s,
			  struct choice *best)
{
	struct fg_project_program chosen;

	for (size_t i = 0; i < inputs->count && !found.is_harmful && !is_over(t); i++) {
		if (inputs->items[i].kind == found.kind && make_input(t, &inputs->items[i]))
			found.works[i] = try_input(t, program, &inputs->items[i], &found);
	}
	if (!found.input)
		return false;
	if (found.cpu_s < FG_PROJECT_SHORT_S && !found.input->made)
		compare_inputs(t, program, inputs, &found);
	chosen = with_input(program, found.input, found.as_argument);
	if (found.cpu_s < FG_PROJECT_WANTED_S)
		found.cpu_s = lengthen(t, &chosen, found.input->size, found.cpu_s);
	if (chosen.input_copies <= 1 && (found.cpu_s < 2 * cpu_s || found.cpu_s < smallest_cpu_s))
		return false;
	return offer(best, &chosen, found.cpu_s);
}

/*
 * Standard input is tried before file names: a program that only reads cannot do harm. Sources come
 * last: if a patch changes one, the two sides would not do the same work.
 */
static bool try_inputs(struct fg_project_trying *t, const struct fg_project_program *program,
		       struct fg_project_inputs *inputs, double cpu_s, struct choice *best)
{
	for (unsigned way = 0; way < 2u * FG_INPUT_KIND_COUNT && !is_over(t); way++) {
		const struct found found = {
			.as_argument = way >= FG_INPUT_KIND_COUNT,
			.kind = (enum fg_project_input_kind)(way % FG_INPUT_KIND_COUNT),
		};

		/* Tests read only files that lie among the tests. */
		if (program->rank <= FG_PROJECT_TEST_RANK && found.kind > FG_INPUT_BINARY_SAMPLE)
			continue;
		if (find_input_as(t, program, inputs, found, cpu_s, best))
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

/* Does the call work and leave its input unchanged? */
static bool try_use(struct fg_project_trying *t, const struct fg_project_program *with,
		    struct fg_project_seen *seen)
{
	struct fg_project_program tried = *with;
	struct fg_project_input input = {.path = with->input};
	bool works = false;

	remove_result(t);
	if (with->input)
		stat_input(t->tree, &input);
	works = fg_project_execute(t, &tried, fg_project_command(with, &t->cli->arena),
				   with->input_is_argument ? NULL : with->input,
				   FG_PROJECT_INPUT_SECONDS, seen);
	return (!with->input || is_untouched(t->tree, &input)) && works;
}

/* Chooses the call that takes longest, and repeats its input if that is too short. */
static bool try_uses(struct fg_project_trying *t, const struct fg_project_program *program,
		     const struct fg_project_uses *uses, double cpu_s, struct choice *best)
{
	const struct fg_project_use *longest = NULL;
	struct fg_project_program chosen;
	double max_s = 0;

	for (size_t i = 0; i < uses->count && !is_over(t); i++) {
		struct fg_project_program with = with_use(program, &uses->items[i]);
		struct fg_project_seen seen = {0};

		if (uses->items[i].wants_file || !try_use(t, &with, &seen) ||
		    seen.cpu_s < (with.input ? max_s : fmax(max_s, enough_s)))
			continue;
		longest = &uses->items[i];
		max_s = seen.cpu_s;
	}
	if (!longest)
		return false;
	chosen = with_use(program, longest);
	if (max_s < FG_PROJECT_WANTED_S && longest->input)
		max_s = lengthen(t, &chosen, longest->size, max_s);
	if (chosen.input_copies <= 1 && max_s < fmax(2 * cpu_s, smallest_cpu_s))
		return false;
	return offer(best, &chosen, max_s);
}

/*
 * Tries calls found in the tests first, then any file with the words of such a call, then a file
 * alone, and last a file followed by a name for the result.
 */
bool fg_project_find_input(struct fg_project_trying *t, struct fg_project_program *program,
			   double cpu_s)
{
	struct choice best = {.cpu_s = 0};
	struct fg_project_inputs inputs = {0};
	struct fg_project_uses uses;
	struct fg_project_program converting = *program;
	bool found = false;

	converting.tail = FG_PROJECT_OUTPUT_NAME;
	t->timeouts = 0;
	fg_project_uses_find(t->tree, &t->cli->arena, program, &uses);
	found = try_uses(t, program, &uses, cpu_s, &best);
	fg_project_inputs_find(t->tree, &t->cli->arena, &inputs);
	fg_project_inputs_make(&inputs);
	for (size_t i = 0, tried = 0; i < uses.count && tried < SHAPES_MAX && !found; i++) {
		if (uses.items[i].wants_file) {
			const struct fg_project_program with = with_use(program, &uses.items[i]);

			found = try_inputs(t, &with, &inputs, cpu_s, &best);
			tried++;
		}
	}
	if (!found && !try_inputs(t, program, &inputs, cpu_s, &best))
		(void)try_inputs(t, &converting, &inputs, cpu_s, &best);
	if (best.cpu_s > 0)
		*program = best.program;
	return best.cpu_s > 0;
}
