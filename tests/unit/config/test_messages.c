// SPDX-License-Identifier: Apache-2.0
/* Messages about a wrong fastgate.yml: every row is a mistake and the line that it must produce. */
#include "tests/unit/config/loaded.h"

#define HEAD "version: 1\nbenchmarks:\n- {name: a, command: ./a}\n"

struct mistake {
	const char *why;
	const char *text;
	const char *message;
};

static void check(const struct mistake *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		load_text(rows[i].text);
		if (loaded.status != FG_EPARSE || loaded.report.count != 1 ||
		    strcmp(loaded.report.items[0].text, rows[i].message) != 0)
			fail_msg("%s:\n got %d, %zu messages, %s\nwant %s", rows[i].why,
				 loaded.status, loaded.report.count,
				 loaded.report.count
					 ? loaded.report.items[loaded.report.count - 1].text
					 : "",
				 rows[i].message);
	}
}

FG_TEST(values_are_judged_with_position_and_expectation)
{
	static const struct mistake rows[] = {
		{"no number", HEAD "gate: { alpha: often }\n",
		 "f.yml:4:16: gate.alpha: found 'often', expected a number from 1e-09 to 0.5"},
		{"out of range", HEAD "gate:\n  alpha: 0.9\n",
		 "f.yml:5:10: gate.alpha: found '0.9', expected a number from 1e-09 to 0.5"},
		{"ratio", HEAD "gate: { function_floor: 120% }\n",
		 "f.yml:4:25: gate.function_floor: found '120%', expected a ratio such as 2% or "
		 "0.02 from 0% to 100%"},
		{"ratio without a unit",
		 HEAD "gate: { metrics: { cpu_time: { min_effect: 5 } } }\n",
		 "f.yml:4:44: gate.metrics.cpu_time.min_effect: found '5': 5 means 500 %: write "
		 "5%, expected a ratio such as 2% or 0.02 from 0% to 1000%"},
		{"another", HEAD "gate: { metrics: { cpu_time: { margin: 2 } } }\n",
		 "f.yml:4:40: gate.metrics.cpu_time.margin: found '2': 2 means 200 %: write 2%, "
		 "expected a ratio such as 2% or 0.02 from 0% to 1000%"},
		{"whole number", HEAD "measure: { pairs: { min: 2.5 } }\n",
		 "f.yml:4:26: measure.pairs.min: found '2.5', expected a whole number from 2 to "
		 "100000"},
		{"word, near", HEAD "measure: { schedule: deut }\n",
		 "f.yml:4:22: measure.schedule: found 'deut'; did you mean 'duet'? Expected auto, "
		 "duet, abba or stored"},
		{"word, far", HEAD "measure: { schedule: monday }\n",
		 "f.yml:4:22: measure.schedule: found 'monday', expected auto, duet, abba or stored"},
		{"boolean", HEAD "measure: { pin: perhaps }\n",
		 "f.yml:4:17: measure.pin: found 'perhaps', expected true or false"},
		{"boolean in words", HEAD "gate: { inconclusive: shrug }\n",
		 "f.yml:4:23: gate.inconclusive: found 'shrug', expected pass or fail"},
		{"nothing", HEAD "project:\n",
		 "f.yml:4:9: project: found nothing, expected a name of 1 to 200 printable "
		 "characters, not beginning with a space or a dash"},
		{"a list for a value", HEAD "project: [a]\n",
		 "f.yml:4:10: project: found a list, expected a name of 1 to 200 printable "
		 "characters, not beginning with a space or a dash"},
		{"a value for a mapping", HEAD "gate: strict\n",
		 "f.yml:4:7: gate: found 'strict', expected a mapping"},
		{"a mapping for a list", "version: 1\nbenchmarks: { name: a }\n",
		 "f.yml:2:13: benchmarks: found a mapping, expected a list: each element begins "
		 "with '- '"},
		{"an empty list", "version: 1\nbenchmarks: []\n",
		 "f.yml:2:13: benchmarks: found an empty list, expected a benchmark"},
		{"version", "version: 2\nbenchmarks:\n- {name: a, command: ./a}\n",
		 "f.yml:1:10: version: found '2', expected 1"},
		{"date", HEAD "gate: { accept: [ { until: tomorrow, reason: r } ] }\n",
		 "f.yml:4:28: gate.accept[1].until: found 'tomorrow', expected a date such as "
		 "2027-03-01"},
		{"URL", HEAD "perfdb: { url: perfdb.example.org }\n",
		 "f.yml:4:16: perfdb.url: found 'perfdb.example.org', expected a URL that begins "
		 "with https:// or http://"},
		{"min above max", HEAD "measure: { pairs: { min: 50, max: 20 } }\n",
		 "f.yml:4:19: measure.pairs: found min 50 above max 20, expected the smaller "
		 "number as min"},
	};

	check(rows, FG_ARRAY_SIZE(rows));
}

FG_TEST(wrong_keys_are_judged_with_a_suggestion)
{
	static const struct mistake rows[] = {
		{"near", HEAD "gate: { alhpa: 0.01 }\n",
		 "f.yml:4:9: gate: unknown key 'alhpa'; did you mean 'alpha'?"},
		{"near, at the top", HEAD "gates: {}\n",
		 "f.yml:4:1: unknown key 'gates'; did you mean 'gate'?"},
		{"far", HEAD "store: { colour: blue }\n",
		 "f.yml:4:10: store: unknown key 'colour'; known keys: path"},
		{"twice", HEAD "project: a\nproject: b\n",
		 "f.yml:5:1: duplicate key 'project'; the first is on line 4"},
		{"a secret in the file", HEAD "perfdb: { url: \"https://p\", password: x }\n",
		 "f.yml:4:29: perfdb: unknown key 'password': a secret stays in an environment "
		 "variable, whose name goes into 'token_env'"},
		{"a secret as the name of a variable", HEAD "perfdb: { token_env: ghp_abc }\n",
		 "f.yml:4:22: perfdb.token_env: found 'ghp_abc', expected the name of an "
		 "environment variable in capitals, never the secret itself"},
		{"missing version", "benchmarks:\n- {name: a, command: ./a}\n",
		 "f.yml:1:1: the key 'version' is missing"},
		{"missing name", "version: 1\nbenchmarks:\n- command: ./a\n",
		 "f.yml:3:3: benchmarks[1]: the key 'name' is missing"},
		{"missing command", "version: 1\nbenchmarks:\n- name: a\n",
		 "f.yml:3:3: benchmarks.a: the key 'command' is missing"},
		{"an unknown metric", HEAD "gate: { metrics: { cpu_tmie: { margin: 1% } } }\n",
		 "f.yml:4:20: gate.metrics: no benchmark has a metric 'cpu_tmie'; did you mean "
		 "'cpu_time'?"},
		{"an exception for nothing",
		 HEAD "gate: { accept: [ { benchmark: b, until: 2099-01-01, reason: r } ] }\n",
		 "f.yml:4:19: gate.accept: unknown benchmark 'b'"},
		{"a second benchmark of a name", HEAD "- {name: a, command: ./b}\n",
		 "f.yml:4:3: benchmarks: duplicate benchmark 'a'; the first is on line 3"},
		{"two baselines", HEAD "baseline: { branch: main, tag: v1 }\n",
		 "f.yml:4:11: baseline: found 2 of the keys 'against', 'branch', 'tag', 'run' "
		 "and 'file', expected exactly one"},
		{"a comment with a format",
		 HEAD "report: { post: [ { github: check-run, format: junit } ] }\n",
		 "f.yml:4:48: report.post[1].format: only a webhook has a format: comments are "
		 "Markdown, and a commit status is one line"},
		{"no place to post to", HEAD "report: { post: [ { required: true } ] }\n",
		 "f.yml:4:19: report.post[1]: found 0 of the keys 'github', 'gitlab' and "
		 "'webhook', expected exactly one"},
	};

	check(rows, FG_ARRAY_SIZE(rows));
}

#define ONE_BENCHMARK(keys) "version: 1\nbenchmarks:\n- { name: a, " keys " }\n"

FG_TEST(benchmarks_are_judged)
{
	static const struct mistake rows[] = {
		{"shell words without a shell", ONE_BENCHMARK("command: make && ./a"),
		 "f.yml:3:23: benchmarks.a.command: '&&' needs a shell, but the command runs "
		 "without one: set "
		 "'shell: true', or write the command as a list of words"},
		{"empty command", ONE_BENCHMARK("command: \"\""),
		 "f.yml:3:23: benchmarks.a.command: found an empty string, expected a command"},
		{"empty list", ONE_BENCHMARK("command: []"),
		 "f.yml:3:23: benchmarks.a.command: found an empty list, expected a command"},
		{"a mapping as command", ONE_BENCHMARK("command: { run: x }"),
		 "f.yml:3:23: benchmarks.a.command: found a mapping, expected a command: a string, "
		 "or a list of words"},
		{"a nested list", ONE_BENCHMARK("command: [x, [y]]"),
		 "f.yml:3:27: benchmarks.a.command: found a list, expected a single word of "
		 "the command"},
		{"no group in the expression",
		 ONE_BENCHMARK("command: x, metrics: [ { name: m, regex: 'rate' } ]"),
		 "f.yml:3:55: benchmarks.a.metrics.m.regex: found 'rate': it has no group (...) "
		 "around the number, expected a POSIX extended regular expression with the "
		 "number in its first group"},
		{"too many repetitions",
		 ONE_BENCHMARK("command: x, metrics: [ { name: m, regex: '((a{200}){200})' } ]"),
		 "f.yml:3:55: benchmarks.a.metrics.m.regex: found '((a{200}){200})': nested "
		 "repetition counts or groups multiply to more than 256, expected a POSIX "
		 "extended regular expression with the number in its first group"},
		{"metric from nowhere", ONE_BENCHMARK("command: x, metrics: [ { name: m } ]"),
		 "f.yml:3:37: benchmarks.a.metrics.m: found neither, expected either 'regex' or "
		 "'json' to locate the number"},
		{"metric of a built-in name",
		 ONE_BENCHMARK("command: x, metrics: [ { name: cpu_time, json: /a } ]"),
		 "f.yml:3:37: benchmarks.a.metrics: 'cpu_time' is the name of a built-in metric; "
		 "choose another"},
		{"two metrics of a name",
		 ONE_BENCHMARK(
			 "command: x, metrics: [ { name: m, json: /a }, { name: m, json: /b } ]"),
		 "f.yml:3:60: benchmarks.a.metrics: duplicate metric 'm'"},
		{"labels", ONE_BENCHMARK("command: x, labels: nightly"),
		 "f.yml:3:34: benchmarks.a.labels: found 'nightly', expected a list of words"},
		{"a variable's name", ONE_BENCHMARK("command: x, environment: { 'A=B': c }"),
		 "f.yml:3:41: benchmarks.a.environment.A=B: expected the name of an environment "
		 "variable"},
		{"a fact that is a list", HEAD "build: { record: { a: [b] } }\n",
		 "f.yml:4:23: build.record.a: found a list, expected a value, or { command: \"…\" }"},
		{"name with a line feed",
		 "version: 1\nbenchmarks:\n- { name: \"a\\nb\", command: x }\n",
		 "f.yml:3:11: benchmarks.a�b.name: found 'a�b', expected a name of 1 to 200 "
		 "printable characters, not beginning with a space or a dash"},
	};

	check(rows, FG_ARRAY_SIZE(rows));
}

FG_TEST(broken_yaml_is_located)
{
	static const struct mistake rows[] = {
		{"tab", "version: 1\nbenchmarks:\n\t- name: a\n",
		 "f.yml:3:1: the line begins with a tab: YAML requires spaces"},
		{"open bracket", "version: [1\n",
		 "f.yml:2:1: not valid YAML: did not find expected ',' or ']', while parsing a "
		 "flow sequence that begins on line 1"},
		{"two documents", HEAD "---\nversion: 1\n",
		 "f.yml:4:1: a second document begins here: only one is allowed"},
		{"tag", "version: !!int 1\n",
		 "f.yml:1:10: tags are not supported: remove 'tag:yaml.org,2002:int'"},
		{"alias to nothing", "version: *v\n",
		 "f.yml:1:10: there is no anchor '&v' above this '*v'"},
		{"alias inside its anchor", "gate: &g { accept: [*g] }\n",
		 "f.yml:1:21: '*g' is inside the value that it repeats"},
		{"a list as a key", "? [a]\n: b\n", "f.yml:1:3: a key must be a word, not a list"},
		{"no mapping", "- a\n",
		 "f.yml:1:1: found a list, expected keys such as 'version: 1'"},
		{"NUL byte", "version: \"1\\0\"\n",
		 "f.yml:1:10: a value must not contain a NUL byte"},
		{"latin 1", "project: caf\xe9\n",
		 "f.yml:1:13: not valid YAML: incomplete UTF-8 octet sequence (expected UTF-8 text)"},
	};

	check(rows, FG_ARRAY_SIZE(rows));
}

FG_TEST(all_mistakes_are_reported_in_the_order_of_the_file)
{
	static const char text[] = "gate: { alpha: x, bogus: 1 }\n"
				   "measure: { warmup: -1 }\n"
				   "benchmarks:\n"
				   "- { name: a, command: ./a, tiemout: 3s }\n"
				   "- { command: ./b }\n"
				   "version: one\n";
	static const unsigned lines[] = {1, 1, 2, 4, 5, 6};

	load_text(text);
	assert_int_equal(loaded.status, FG_EPARSE);
	assert_int_equal(loaded.report.count, FG_ARRAY_SIZE(lines));
	for (size_t i = 0; i < FG_ARRAY_SIZE(lines); i++)
		assert_int_equal(loaded.report.items[i].line, lines[i]);
	assert_non_null(strstr(loaded.err.message,
			       "f.yml has 6 errors; the first: f.yml:1:16: gate.alpha"));
}

FG_TEST(messages_name_the_key_to_explain)
{
	static const char text[] =
		"version: 1\nbenchmarks:\n- { name: a.b, comand: x, timeout: soon }\ngates: 1\n";
	struct fg_strbuf explained = {0};

	load_text(text);
	assert_int_equal(loaded.status, FG_EPARSE);
	/* 'comand' is reported once, and 'command' is not reported as missing */
	assert_int_equal(loaded.report.count, 3);
	assert_non_null(strstr(loaded.report.items[0].text,
			       "unknown key 'comand'; did you mean 'command'?"));
	assert_null(loaded.report.items[2].key);
	assert_int_equal(fg_config_explain("benchmarks.BENCH.timeout", 80, &explained, &loaded.err),
			 FG_OK);
	assert_non_null(strstr(fg_strbuf_text(&explained), " 10m\n"));
	fg_strbuf_clear(&explained);
	assert_int_equal(
		fg_config_explain("gate.metrics.cpu_time.margin", 80, &explained, &loaded.err),
		FG_OK);
	assert_non_null(strstr(fg_strbuf_text(&explained), "FASTGATE_GATE_METRICS_METRIC_MARGIN"));
	fg_strbuf_clear(&explained);
	assert_int_equal(
		fg_config_explain("gate.metrics.heap.peak.tolerated", 80, &explained, &loaded.err),
		FG_OK);
	fg_strbuf_clear(&explained);
	assert_int_equal(
		fg_config_explain("gate.metrics.heap.peak.tolerate", 80, &explained, &loaded.err),
		FG_EINVAL);
	assert_int_equal(fg_config_explain("gate.alpha.x", 80, &explained, &loaded.err), FG_EINVAL);
	assert_int_equal(fg_config_explain("margin", 80, &explained, &loaded.err), FG_EINVAL);
	assert_non_null(strstr(loaded.err.message, "did you mean 'gate.metrics.METRIC.margin'?"));
	fg_strbuf_release(&explained);
}

FG_TEST(every_key_can_be_explained)
{
	struct fg_arena arena = {0};
	const char *const *keys = fg_config_keys(&arena);
	size_t count = 0;

	for (; keys[count]; count++) {
		struct fg_strbuf text = {0};
		struct fg_error err = {0};

		if (fg_config_explain(keys[count], 80, &text, &err) != FG_OK ||
		    strncmp(fg_strbuf_text(&text), keys[count], strlen(keys[count])) != 0)
			fail_msg("%s: %s%s", keys[count], err.message, fg_strbuf_text(&text));
		fg_strbuf_release(&text);
	}
	assert_true(count > 60);
	fg_arena_release(&arena);
}

FG_TEST(messages_have_an_end)
{
	struct fg_strbuf text = {0};

	for (int i = 0; i < 500; i++)
		fg_strbuf_printf(&text, "k%d: 1\n", i);
	load_text(fg_strbuf_text(&text));
	assert_int_equal(loaded.status, FG_EPARSE);
	assert_int_equal(loaded.report.count, FG_CONFIG_MAX_MESSAGES);
	assert_int_equal(loaded.report.error_count, 502);
	fg_strbuf_release(&text);
}

static void expect_refusal(const struct fg_strbuf *text, const char *part)
{
	load_text(fg_strbuf_text(text));
	assert_int_not_equal(loaded.status, FG_OK);
	if (!strstr(loaded.err.message, part))
		fail_msg("%s", loaded.err.message);
}

FG_TEST(input_beyond_the_limits_is_refused)
{
	struct fg_strbuf text = {0};

	for (int i = 0; i < 100; i++)
		fg_strbuf_add_text(&text, "[");
	expect_refusal(&text, "nested deeper than 16 levels");
	fg_strbuf_clear(&text);
	/* ten levels of nine items: 3.5 billion values when written out */
	fg_strbuf_add_text(&text, "a: &a [x, x, x, x, x, x, x, x, x]\n");
	for (int c = 'b'; c < 'k'; c++) {
		fg_strbuf_printf(&text, "%c: &%c [", c, c);
		for (int i = 0; i < 9; i++)
			fg_strbuf_printf(&text, "%s*%c", i ? ", " : "", c - 1);
		fg_strbuf_add_text(&text, "]\n");
	}
	expect_refusal(&text, "more than 50000 values");
	fg_strbuf_clear(&text);
	for (int i = 0; i < 1001; i++)
		fg_strbuf_printf(&text, "k%d: 1\n", i);
	expect_refusal(&text, "more than 1000 keys");
	fg_strbuf_clear(&text);
	fg_strbuf_add_repeated(&text, '#', FG_CONFIG_MAX_BYTES + 1);
	expect_refusal(&text, "larger than 1048576 bytes");
	fg_strbuf_release(&text);
}

FG_TEST(overrides_are_judged_by_their_own_name)
{
	static const struct {
		const char *setting;
		const char *message;
	} rows[] = {
		{"gate.alpha=often", "--set gate.alpha=often: gate.alpha: found 'often', expected "
				     "a number from 1e-09 to 0.5"},
		{"gate.alhpa=1",
		 "--set gate.alhpa=1: gate: unknown key 'alhpa'; did you mean 'alpha'?"},
		{"gate.alpha", "--set gate.alpha: expected KEY=VALUE, such as gate.alpha=0.001"},
		{"gate.alpha.x=1",
		 "--set gate.alpha.x=1: 'alpha' is a single value: it has no 'x'"},
		{"benchmarks.b.timeout=1s",
		 "--set benchmarks.b.timeout=1s: no element of 'benchmarks' "
		 "has the name in 'b.timeout'"},
		{"report.post=[",
		 "--set report.post=[: not valid YAML: did not find expected node content"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_config_source source = {.path = "f.yml",
							.text = HEAD,
							.text_size = strlen(HEAD),
							.settings = &rows[i].setting,
							.setting_count = 1};

		load(&source);
		assert_int_equal(loaded.status, FG_EPARSE);
		assert_string_equal(loaded.err.message, rows[i].message);
	}
}

FG_TEST(an_exception_that_has_ended_is_a_warning)
{
	static const char text[] = HEAD "gate: { accept: [ { until: 2020-01-01, reason: r } ] }\n";

	load_text(text);
	assert_int_equal(loaded.status, FG_OK);
	assert_int_equal(loaded.report.count, 1);
	assert_string_equal(
		loaded.report.items[0].text,
		"f.yml:4:19: gate.accept[1]: this exception has expired and no longer applies");
}
