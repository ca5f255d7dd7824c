// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/pattern.h"
#include "tests/support/fg_test.h"

FG_TEST(good_patterns_match_and_bad_ones_are_refused)
{
	static const struct {
		const char *pattern, *subject;
		int status;
		bool matches;
		const char *why;
	} CASES[] = {
		{"fit", "reco::fit(Track&)", FG_OK, true, "anywhere in the name"},
		{"^fit$", "reco::fit", FG_OK, false, "anchored"},
		{"a{2,3}b", "caab", FG_OK, true, "counted"},
		{"(ab){16}", "x", FG_OK, false, "16 is fine"},
		{"[]{999999}]", "x]", FG_OK, true, "braces in a bracket expression are characters"},
		{"[[:alpha:]]+z", "abz", FG_OK, true, "classes"},
		{"(", "", FG_EINVAL, false, "unbalanced"},
		{"[a", "", FG_EINVAL, false, "unbalanced bracket"},
		{"(a)\\1", "", FG_EINVAL, false, "back-reference: exponential"},
		{"(a{99}){99}", "", FG_EINVAL, false, "nested counts multiply"},
		{"((a{20}){20}){20}", "", FG_EINVAL, false, "three levels"},
		{"a{300}", "", FG_EINVAL, false, "a single count too large"},
		{"(a+)+b", "aab", FG_OK, true, "two of them are fine"},
		{"a++++++++++++++++++++", "", FG_EINVAL, false,
		 "every one doubles what is unrolled"},
		{"a{99}*{99}", "", FG_EINVAL, false, "a star between"},
		{"a{99}?{99,}", "", FG_EINVAL, false, "a question mark between"},
		{"a{20}{20}", "", FG_EINVAL, false, "counts of counts"},
		{"(a*b*|c*d*){32}", "", FG_EINVAL, false, "2^32 ways to match nothing"},
		{"x(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)", "", FG_EINVAL,
		 false, "2^9, one behind the other"},
		{"a***{16}", "", FG_EINVAL, false, "stars of stars, then a count"},
		{"^8*+?{16}?.???}$~X", "", FG_EINVAL, false, "repetitions of every kind"},
		{"(a?|b?|c?|){5,}", "", FG_EINVAL, false, "4^5, and a star behind"},
		{"(a*|b*){8}c(a*|b*){8}c", "ccac", FG_OK, true, "a character ends what multiplies"},
		{"(a?b?){32}c*{200}", "x", FG_OK, true, "one way only, however often"},
		{"^(std::)*(.*::)?(map|set|)<.*?>::(at|find)?$", "std::map<int>::at", FG_OK, true,
		 "as people write them"},
		{"^.*?\\b(get|set)\\b.*?x.*?y?.*?$", "a set of xy", FG_OK, true, "words"},
		{"a{99999999999999999999}", "", FG_EINVAL, false, "a count beyond any number"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		struct fg_pattern pattern = {0};
		struct fg_error err = {0};
		int status = fg_pattern_compile(CASES[i].pattern, &pattern, &err);

		if (status != CASES[i].status)
			fail_msg("%s: '%s' gave %d %s", CASES[i].why, CASES[i].pattern, status,
				 err.message);
		if (status == FG_OK)
			assert_int_equal(fg_pattern_matches(&pattern, CASES[i].subject),
					 CASES[i].matches);
		else
			assert_non_null(strstr(err.message, "regular expression"));
		fg_pattern_release(&pattern);
	}
}

FG_TEST(overlong_patterns_and_subjects_are_bounded)
{
	char *text = fg_xcalloc(1, 200001);
	struct fg_pattern pattern = {0};
	struct fg_error err = {0};

	memset(text, 'a', 200000);
	assert_int_equal(fg_pattern_compile(text, &pattern, &err), FG_EINVAL);
	assert_int_equal(fg_pattern_compile("a$", &pattern, &err), FG_OK);
	text[199999] = 'b';
	assert_true(fg_pattern_matches(&pattern, text)); /* only its beginning is examined */
	fg_pattern_release(&pattern);
	free(text);
}

FG_TEST(rules_rewrite_names)
{
	static const struct {
		const char *rule, *subject, *result;
	} CASES[] = {
		{"s/std::__1::/std::/g", "std::__1::a<std::__1::b>", "std::a<std::b>"},
		{"s/a/b/", "banana", "bbnana"},
		{"s/(x+)(y+)/\\2\\1/g", "xxy-xy", "yxx-yx"},
		{"s/fit/[&]/", "refit", "re[fit]"},
		{"s/fit/\\&/", "refit", "re&"},
		{"s|/usr/|/|", "/usr/lib", "/lib"},
		{"s/a\\/b/c/", "a/b", "c"},
		{"s/^a//g", "aaa", "aa"},
		{"s/x*/-/g", "abc", "-a-b-c"},
		{"s/q/r/", "banana", NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		struct fg_rename rename = {0};
		struct fg_strbuf result = {0};
		struct fg_error err = {0};
		bool matched;

		assert_int_equal(fg_rename_parse(CASES[i].rule, &rename, &err), FG_OK);
		matched = fg_rename_apply(&rename, CASES[i].subject, &result);
		assert_int_equal(matched, CASES[i].result != NULL);
		if (matched)
			assert_string_equal(fg_strbuf_text(&result), CASES[i].result);
		fg_strbuf_release(&result);
		fg_rename_release(&rename);
	}
}

FG_TEST(anything_but_a_rule_is_refused)
{
	static const char *const RULES[] = {"",    "s",        "x/a/b/", "s/a/b",
					    "s/a", "s/a/b/gg", "s/(/b/", "s\\a\\b\\"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(RULES); i++) {
		struct fg_rename rename = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_rename_parse(RULES[i], &rename, &err), FG_EINVAL);
		assert_true(err.message[0] != '\0');
		assert_null(rename.replacement);
	}
}

FG_TEST(a_rule_cannot_blow_a_name_up)
{
	struct fg_rename rename = {0};
	struct fg_strbuf result = {0};
	struct fg_error err = {0};
	char subject[8001];

	memset(subject, 'a', 8000);
	subject[8000] = '\0';
	assert_int_equal(fg_rename_parse("s/a/bbbbbbbbbbbbbbbb/g", &rename, &err), FG_OK);
	assert_true(fg_rename_apply(&rename, subject, &result));
	assert_true(result.length <= FG_RENAME_MAX_RESULT);
	fg_strbuf_release(&result);
	fg_rename_release(&rename);
}
