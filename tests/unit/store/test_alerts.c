// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/serving/alerts.h"
#include "tests/unit/store/fixture.h"

enum {
	MINUTE_S = 60,
	MANY = FG_ALERT_SHOWN_MAX + 7
};

static const int64_t minute_ns = MINUTE_S * FG_NS_PER_S;

static void add_rule(struct fixture *f, unsigned events, const char *benchmark, int64_t silence_ns)
{
	char pattern[64];
	struct fg_alert_rule rule = {.project = (char[]){"tracker"},
				     .events = events,
				     .benchmark = pattern,
				     .metric = (char[]){"*"},
				     .silence_ns = silence_ns,
				     .target = (char[]){"https://hooks.example.org/"},
				     .secret = (char[]){"0123456789abcdef"}};

	(void)snprintf(pattern, sizeof(pattern), "%s", benchmark);
	must(f, fg_store_alert_rule_add(f->store, &rule, &f->err));
	assert_true(rule.id > 0 && rule.created_ns > 0);
}

/* A run with one regression of each of these benchmarks. */
static void tell(struct fixture *f, const char *const *benchmarks, size_t count)
{
	struct fg_alert_finding findings[MANY];
	struct fg_alert_rule_list rules = {0};
	struct fg_alert_news news = {.rules = &rules,
				     .project = "tracker",
				     .run = sample_id(1),
				     .url = "/",
				     .findings = findings,
				     .count = count};

	for (size_t i = 0; i < count; i++)
		findings[i] = (struct fg_alert_finding){.event = FG_ALERT_REGRESSION,
							.benchmark = benchmarks[i],
							.metric = "cpu_time",
							.ratio = 1.5};
	must(f, fg_store_alert_rule_list(f->store, "tracker", &rules, &f->err));
	must(f, fg_store_alerts_put(f->store, &news, &f->err));
	fg_alert_rule_list_release(&rules);
}

static void count_alert(void *context, const struct fg_alert *alert)
{
	size_t *count = context;

	(*count)++;
	(void)alert;
}

static size_t count_alerts(struct fixture *f)
{
	size_t count = 0;

	must(f, fg_store_alert_list(f->store, "tracker", 1000, count_alert, &count, &f->err));
	return count;
}

static void patterns_match_whole_names(void **state)
{
	static const struct {
		const char *pattern;
		const char *text;
		bool matches;
	} cases[] = {
		{"*", "", true},
		{"*", "parse", true},
		{"parse", "parse", true},
		{"parse", "parser", false},
		{"parse*", "parser", true},
		{"p?rse", "parse", true},
		{"p?rse", "prse", false},
		{"*s*e", "parse", true},
		{"*s*x", "parse", false},
		{"a*b*c", "a-b-b-c", true},
		{"", "a", false},
		{"[ab]", "a", false},
	};
	char many[2 * 100 + 2];
	char text[1000];

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		if (fg_alert_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
	}
	/* What takes some matchers for ever. */
	for (size_t i = 0; i < 100; i++)
		memcpy(many + 2 * i, "*a", 2);
	memcpy(many + 200, "b", 2);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(fg_alert_matches(many, text));
}

/* The runs that a history has are the newest: whatever is left for later is older. */
static void newest_notes_are_searched_first(void **state)
{
	enum {
		NOTES = FG_ALERT_SEARCH_RUNS + 3
	};
	struct fixture *f = *state;
	const struct fg_alert_finding place = {
		.event = FG_ALERT_CHANGE, .benchmark = "parse", .metric = "cpu_time"};
	struct fg_alert_search search = {0};
	struct fg_alert_rule_list rules = {0};
	struct fg_alert_news news = {
		.rules = &rules, .project = "tracker", .searches = &place, .search_count = 1};

	add_rule(f, FG_ALERT_CHANGE, "*", 0);
	must(f, fg_store_alert_rule_list(f->store, "tracker", &rules, &f->err));
	for (uint64_t seed = 1; seed <= NOTES; seed++) {
		news.run = sample_id(seed);
		must(f, fg_store_alerts_put(f->store, &news, &f->err));
	}
	must(f, fg_store_alert_search(f->store, 300, &search, &f->err));
	assert_true(search.is_gone); /* no run was stored */
	assert_int_equal(search.count, FG_ALERT_SEARCH_RUNS);
	assert_string_equal(search.runs[0], sample_id(NOTES));
	must(f, fg_store_alert_search_done(f->store, &search, NULL, &f->err));
	fg_alert_search_release(&search);
	must(f, fg_store_alert_search(f->store, 300, &search, &f->err));
	assert_int_equal(search.count, NOTES - FG_ALERT_SEARCH_RUNS);
	must(f, fg_store_alert_search_done(f->store, &search, NULL, &f->err));
	fg_alert_search_release(&search);
	assert_int_equal(fg_store_alert_search(f->store, 300, &search, &f->err), FG_ENOENT);
	fg_alert_rule_list_release(&rules);
}

static void rule_is_silent_about_what_it_told(void **state)
{
	struct fixture *f = *state;
	static const char *const parse[] = {"parse"};
	static const char *const both[] = {"parse", "print"};

	add_rule(f, FG_ALERT_REGRESSION, "p*", 60 * minute_ns);
	tell(f, parse, 1);
	assert_int_equal(count_alerts(f), 1);
	tell(f, parse, 1);
	assert_int_equal(count_alerts(f), 1);
	tell(f, both, 2);
	assert_int_equal(count_alerts(f), 2);
	tell(f, both, 2);
	assert_int_equal(count_alerts(f), 2);
}

static void other_events_and_benchmarks_are_not_told(void **state)
{
	struct fixture *f = *state;
	static const char *const parse[] = {"parse"};

	add_rule(f, FG_ALERT_ERROR | FG_ALERT_CHANGE, "*", 0);
	add_rule(f, FG_ALERT_REGRESSION, "print", 0);
	tell(f, parse, 1);
	assert_int_equal(count_alerts(f), 0);
}

static void run_that_is_undone_leaves_no_alert_and_no_silence(void **state)
{
	struct fixture *f = *state;
	static const char *const parse[] = {"parse"};

	add_rule(f, FG_ALERT_REGRESSION, "*", 60 * minute_ns);
	must(f, fg_store_batch_begin(f->store, &f->err));
	tell(f, parse, 1);
	fg_store_batch_undo(f->store);
	assert_int_equal(count_alerts(f), 0);
	tell(f, parse, 1);
	assert_int_equal(count_alerts(f), 1);
}

static void claimed_alert_is_nobody_elses_until_the_claim_ends(void **state)
{
	struct fixture *f = *state;
	static const char *const parse[] = {"parse"};
	const int64_t now_ns = fg_clock_wall_ns() + minute_ns;
	const struct fg_alert_outcome late = {.state = FG_ALERT_GIVEN_UP, .reason = "late"};
	const struct fg_alert_outcome done = {.state = FG_ALERT_DELIVERED};
	struct fg_alert_claim first = {0};
	struct fg_alert_claim second = {0};
	int64_t due_ns = 0;

	add_rule(f, FG_ALERT_REGRESSION, "*", 0);
	tell(f, parse, 1);
	must(f, fg_store_alert_claim(f->store, now_ns, now_ns + minute_ns, &first, &f->err));
	assert_string_equal(first.secret, "0123456789abcdef");
	assert_int_equal(
		fg_store_alert_claim(f->store, now_ns, now_ns + minute_ns, &second, &f->err),
		FG_ENOENT);
	must(f, fg_store_alert_next(f->store, &due_ns, &f->err));
	assert_true(due_ns == now_ns + minute_ns);
	must(f, fg_store_alert_claim(f->store, now_ns + 2 * minute_ns, now_ns + 3 * minute_ns,
				     &second, &f->err));
	assert_true(second.id == first.id && second.attempts == 2);
	must(f, fg_store_alert_settle(f->store, &second, &done, &f->err));
	must(f, fg_store_alert_settle(f->store, &first, &late, &f->err));
	must(f, fg_store_alert_next(f->store, &due_ns, &f->err));
	assert_int_equal(due_ns, 0);
	fg_alert_claim_release(&first);
	fg_alert_claim_release(&second);
}

static void waiting_alert_holds_back_the_others_of_its_rule(void **state)
{
	struct fixture *f = *state;
	static const char *const parse[] = {"parse"};
	const int64_t now_ns = fg_clock_wall_ns() + minute_ns;
	struct fg_alert_outcome wait = {.due_ns = now_ns + 5 * minute_ns, .reason = "down"};
	struct fg_alert_claim claim = {0};

	add_rule(f, FG_ALERT_REGRESSION, "*", 0);
	tell(f, parse, 1);
	tell(f, parse, 1);
	must(f, fg_store_alert_claim(f->store, now_ns, now_ns + minute_ns, &claim, &f->err));
	must(f, fg_store_alert_settle(f->store, &claim, &wait, &f->err));
	fg_alert_claim_release(&claim);
	assert_int_equal(fg_store_alert_claim(f->store, now_ns + 2 * minute_ns,
					      now_ns + 3 * minute_ns, &claim, &f->err),
			 FG_ENOENT);
}

static void keep_body(void *context, const struct fg_alert *alert)
{
	fg_strbuf_add_text(context, alert->body);
}

static void long_list_is_cut_and_counted(void **state)
{
	struct fixture *f = *state;
	const char *names[MANY];
	char texts[MANY][16];
	struct fg_strbuf body = {0};

	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "bench%zu", i);
		names[i] = texts[i];
	}
	add_rule(f, FG_ALERT_REGRESSION, "*", 0);
	tell(f, names, MANY);
	must(f, fg_store_alert_list(f->store, "tracker", 1, keep_body, &body, &f->err));
	assert_non_null(strstr(fg_strbuf_text(&body), "\"bench99\""));
	assert_null(strstr(fg_strbuf_text(&body), "\"bench100\""));
	assert_non_null(strstr(fg_strbuf_text(&body), "\"more\":7"));
	fg_strbuf_release(&body);
}

static void project_has_a_limited_number_of_rules(void **state)
{
	struct fixture *f = *state;
	struct fg_alert_rule rule = {.project = (char[]){"tracker"},
				     .events = FG_ALERT_ERROR,
				     .benchmark = (char[]){"*"},
				     .metric = (char[]){"*"},
				     .target = (char[]){"https://hooks.example.org/"}};

	for (int i = 0; i < FG_ALERT_RULES_MAX; i++)
		add_rule(f, FG_ALERT_ERROR, "*", 0);
	assert_int_equal(fg_store_alert_rule_add(f->store, &rule, &f->err), FG_EINVAL);
	rule.project = (char[]){"other"};
	must(f, fg_store_alert_rule_add(f->store, &rule, &f->err));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_whole_names),
		CASE(newest_notes_are_searched_first),
		CASE(rule_is_silent_about_what_it_told),
		CASE(other_events_and_benchmarks_are_not_told),
		CASE(run_that_is_undone_leaves_no_alert_and_no_silence),
		CASE(claimed_alert_is_nobody_elses_until_the_claim_ends),
		CASE(waiting_alert_holds_back_the_others_of_its_rule),
		CASE(long_list_is_cut_and_counted),
		CASE(project_has_a_limited_number_of_rules),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
