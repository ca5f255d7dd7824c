// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"
#include "tests/support/fg_test.h"

struct values {
	bool loud;
	const char *file;
	const char *library;
	struct fg_option_list sets;
	unsigned rate;
	int64_t offset;
	double factor;
	double share;
	int64_t budget_ns;
	uint64_t room_bytes;
	int clock;
	struct fg_option_range pairs;
};

static const char *const clocks[] = {"cpu", "wall", NULL};

#define ROW(option_kind, member) .kind = (option_kind), .offset = offsetof(struct values, member)
static const struct fg_option options[] = {
	{.name = "loud", .letter = 'l', ROW(FG_OPTION_FLAG, loud), .help = "be loud"},
	{.name = "file",
	 .letter = 'f',
	 ROW(FG_OPTION_TEXT, file),
	 .argument = "FILE",
	 .help = "where"},
	{.name = "library",
	 .letter = 'L',
	 ROW(FG_OPTION_TEXT, library),
	 .argument = "NAME",
	 .alone = "libm",
	 .help = "which one"},
	{.name = "set",
	 .letter = 's',
	 ROW(FG_OPTION_LIST, sets),
	 .argument = "KEY=VALUE",
	 .help = "a key"},
	{.name = "rate",
	 ROW(FG_OPTION_UNSIGNED, rate),
	 .argument = "HZ",
	 .initial = "1000",
	 .minimum = 1,
	 .maximum = 20000,
	 .help = "samples"},
	{.name = "offset", ROW(FG_OPTION_INT64, offset), .argument = "N", .help = "offset"},
	{.name = "factor", ROW(FG_OPTION_DOUBLE, factor), .argument = "X", .help = "factor"},
	{.name = "share",
	 ROW(FG_OPTION_RATIO, share),
	 .argument = "R",
	 .minimum = 0,
	 .maximum = 1,
	 .help = "share"},
	{.name = "budget",
	 ROW(FG_OPTION_DURATION, budget_ns),
	 .argument = "TIME",
	 .initial = "5m",
	 .help = "budget"},
	{.name = "room", ROW(FG_OPTION_SIZE, room_bytes), .argument = "SIZE", .help = "room"},
	{.name = "clock",
	 ROW(FG_OPTION_CHOICE, clock),
	 .argument = "CLOCK",
	 .initial = "wall",
	 .choices = clocks,
	 .help = "which clock"},
	{.name = "pairs",
	 ROW(FG_OPTION_RANGE, pairs),
	 .argument = "MIN:MAX",
	 .minimum = 2,
	 .maximum = 1000,
	 .help = "pairs"},
	{.name = NULL},
};

struct outcome {
	int status;
	struct values values;
	struct fg_option_words words;
	struct fg_error err;
	struct fg_arena arena;
};

static void parse(struct outcome *outcome, enum fg_option_style style, const char *const *argv)
{
	const struct fg_option_set set = {options, &outcome->values};
	const struct fg_option_grammar grammar = {&set, 1, style};
	char *copy[32] = {NULL};

	*outcome = (struct outcome){0};
	for (size_t i = 0; argv[i]; i++)
		copy[i] = fg_arena_strdup(&outcome->arena, argv[i]);
	assert_int_equal(fg_options_initialise(&set, &outcome->err), FG_OK);
	outcome->status =
		fg_options_parse(&grammar, copy, &outcome->arena, &outcome->words, &outcome->err);
}

#define PARSE(outcome, ...) \
 parse(outcome, FG_OPTIONS_ANYWHERE, (const char *const[]){__VA_ARGS__, NULL})

FG_TEST(every_kind_is_read)
{
	struct outcome o;

	PARSE(&o, "--loud", "--file=a b", "--set", "x=1", "-sy=2", "--rate", "99", "--offset=-7",
	      "--factor", "1.5", "--share=2%", "--budget=90s", "--room", "64K", "--clock=cpu",
	      "--pairs=10:80", "word");
	assert_int_equal(o.status, FG_OK);
	assert_true(o.values.loud);
	assert_string_equal(o.values.file, "a b");
	assert_int_equal(o.values.sets.count, 2);
	assert_string_equal(o.values.sets.items[0], "x=1");
	assert_string_equal(o.values.sets.items[1], "y=2");
	assert_int_equal(o.values.rate, 99);
	assert_int_equal(o.values.offset, -7);
	assert_true(o.values.factor == 1.5);
	assert_true(o.values.share == 0.02);
	assert_int_equal(o.values.budget_ns, INT64_C(90000000000));
	assert_true(o.values.room_bytes >= 64000);
	assert_int_equal(o.values.clock, 0);
	assert_int_equal(o.values.pairs.min, 10);
	assert_int_equal(o.values.pairs.max, 80);
	assert_int_equal(o.words.count, 1);
	assert_string_equal(o.words.items[0], "word");
	assert_null(o.words.items[1]);
	fg_arena_release(&o.arena);
}

FG_TEST(missing_options_have_their_initial_value_or_zero)
{
	struct outcome o;

	PARSE(&o, "word");
	assert_int_equal(o.status, FG_OK);
	assert_int_equal(o.values.rate, 1000);
	assert_int_equal(o.values.clock, 1);
	assert_int_equal(o.values.budget_ns, INT64_C(300000000000));
	assert_null(o.values.file);
	assert_int_equal(o.values.pairs.max, 0);
	fg_arena_release(&o.arena);
}

FG_TEST(short_flags_join_and_take_values)
{
	struct outcome o;

	PARSE(&o, "-lfname", "-f", "other");
	assert_int_equal(o.status, FG_OK);
	assert_true(o.values.loud);
	assert_string_equal(o.values.file, "other");
	fg_arena_release(&o.arena);
}

FG_TEST(one_number_is_both_ends_of_a_range)
{
	struct outcome o;

	PARSE(&o, "--pairs=20");
	assert_int_equal(o.values.pairs.min, 20);
	assert_int_equal(o.values.pairs.max, 20);
	fg_arena_release(&o.arena);
}

FG_TEST(two_dashes_end_the_options)
{
	struct outcome o;

	PARSE(&o, "a", "--", "--loud", "-");
	assert_int_equal(o.status, FG_OK);
	assert_false(o.values.loud);
	assert_true(o.words.ended);
	assert_int_equal(o.words.count, 3);
	assert_string_equal(o.words.items[1], "--loud");
	fg_arena_release(&o.arena);
}

FG_TEST(an_option_alone_has_its_own_value)
{
	const struct {
		const char *words[4];
		const char *library;
		size_t count;
	} cases[] = {
		{{"--library", "--", "./prog"}, "libm", 1},
		{{"-L", "--loud", "./prog"}, "libm", 1},
		{{"./prog", "--library"}, "libm", 1},
		{{"--library", "libc", "./prog"}, "libc", 1},
		{{"--library=libc", "--", "./prog"}, "libc", 1},
		{{"./prog"}, NULL, 1},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct outcome o;

		parse(&o, FG_OPTIONS_ANYWHERE, cases[i].words);
		assert_int_equal(o.status, FG_OK);
		assert_int_equal(o.words.count, cases[i].count);
		if (cases[i].library)
			assert_string_equal(o.values.library, cases[i].library);
		else
			assert_null(o.values.library);
		fg_arena_release(&o.arena);
	}
}

FG_TEST(a_lone_dash_is_a_word)
{
	struct outcome o;

	PARSE(&o, "-f", "-", "-");
	assert_int_equal(o.status, FG_OK);
	assert_string_equal(o.values.file, "-");
	assert_int_equal(o.words.count, 1);
	fg_arena_release(&o.arena);
}

FG_TEST(a_command_keeps_its_own_options)
{
	const char *const plain[] = {"-l", "ls", "-l", "--file", "--", "x", NULL};
	const char *const dashed[] = {"--", "-odd", "--loud", NULL};
	struct outcome o;

	parse(&o, FG_OPTIONS_BEFORE_WORD, plain);
	assert_int_equal(o.status, FG_OK);
	assert_true(o.values.loud);
	assert_int_equal(o.words.count, 5);
	assert_string_equal(o.words.items[3], "--");
	fg_arena_release(&o.arena);
	parse(&o, FG_OPTIONS_BEFORE_WORD, dashed);
	assert_int_equal(o.status, FG_OK);
	assert_false(o.values.loud);
	assert_int_equal(o.words.count, 2);
	assert_string_equal(o.words.items[0], "-odd");
	fg_arena_release(&o.arena);
}

FG_TEST(wrong_options_are_named_with_a_way_out)
{
	static const struct {
		const char *argv[3];
		const char *message;
		const char *why;
	} rows[] = {
		{{"--lout"},
		 "unknown option '--lout'; did you mean '--loud'?",
		 "a slip of the finger"},
		{{"--entirely-else"}, "unknown option '--entirely-else'", "nothing is near"},
		{{"-z"}, "unknown option '-z'", "unknown letter"},
		{{"--file"}, "option --file needs a value: --file FILE", "the value is missing"},
		{{"-f"}, "option -f needs a value: -f FILE", "the value of a letter is missing"},
		{{"--rate=0"},
		 "option --rate: 0 is out of range: expected 1 to 20000",
		 "too small"},
		{{"--rate", "20001"},
		 "option --rate: 20001 is out of range: expected 1 to 20000",
		 "too large"},
		{{"--clock=cup"},
		 "option --clock: unknown value 'cup'; did you mean 'cpu'? (one of: cpu, wall)",
		 "choice"},
		{{"--clock=sundial"},
		 "option --clock: unknown value 'sundial'; expected one of: cpu, wall",
		 "choice"},
		{{"--pairs=80:10"},
		 "option --pairs: '80:10' is not a range: the smaller number comes first",
		 "turned round"},
		{{"--pairs=1:9"},
		 "option --pairs: 1 is out of range: expected 2 to 1000",
		 "range with bounds"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct outcome o;

		parse(&o, FG_OPTIONS_ANYWHERE, rows[i].argv);
		if (o.status != FG_EINVAL || strcmp(o.err.message, rows[i].message) != 0)
			fail_msg("%s: %d, %s", rows[i].why, o.status, o.err.message);
		fg_arena_release(&o.arena);
	}
}

FG_TEST(values_that_are_not_numbers_are_refused)
{
	static const char *const words[] = {
		"--rate=ten",    "--rate=-1",  "--offset=1x",   "--factor=nan", "--share=200%",
		"--budget=soon", "--room=big", "--pairs=1:2:3", "--pairs=:",    "--loud=maybe"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(words); i++) {
		struct outcome o;

		PARSE(&o, words[i]);
		if (o.status == FG_OK || strncmp(o.err.message, "option --", 9) != 0)
			fail_msg("%s: %d, %s", words[i], o.status, o.err.message);
		fg_arena_release(&o.arena);
	}
}

FG_TEST(help_lists_every_row_with_choices_and_default)
{
	struct fg_strbuf text = {0};

	fg_options_help(options, 100, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "  -f, --file FILE         where\n"));
	assert_non_null(strstr(fg_strbuf_text(&text),
			       "      --rate HZ           samples [default: 1000]\n"));
	assert_non_null(strstr(fg_strbuf_text(&text), "  -L, --library [NAME]    which one\n"));
	assert_non_null(strstr(fg_strbuf_text(&text), "which clock: cpu, wall [default: wall]"));
	assert_non_null(strstr(fg_strbuf_text(&text), "a key (may be repeated)"));
	fg_strbuf_release(&text);
}

FG_TEST(text_is_wrapped_and_keeps_its_line_feeds)
{
	struct fg_strbuf text = {0};

	fg_text_wrap(&text, "one two three four five six seven eight\nnine", 4, 28);
	assert_string_equal(fg_strbuf_text(&text),
			    "one two three four five\n    six seven eight\n    nine");
	fg_strbuf_release(&text);
}
