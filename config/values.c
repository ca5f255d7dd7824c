// SPDX-License-Identifier: Apache-2.0
/* Scalars: parsing, names and editor patterns of each kind. */
#include "config/values.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/pattern.h"
#include "base/text.h"
#include "config/schema.h"

#include <ctype.h>
#include <limits.h>
#include <regex.h>

enum {
	MAX_NAME_LENGTH = 200,
	MAX_TEXT_LENGTH = 64 * 1024
};

static int check_bounds(const struct fg_key *key, double value, struct fg_error *err)
{
	if (key->minimum >= key->maximum || (value >= key->minimum && value <= key->maximum))
		return FG_OK;
	return fg_error_set(err, FG_EINVAL, "out of range");
}

static int word_index(const struct fg_key *key, const char *text)
{
	for (int i = 0; key->words[i]; i++) {
		if (strcmp(key->words[i], text) == 0)
			return i;
	}
	return -1;
}

static int parse_bool(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	const int index = key->words ? word_index(key, text) : 0;

	(void)arena;
	if (!key->words)
		return fg_parse_bool(text, target, err);
	if (index < 0)
		return fg_error_set(err, FG_EINVAL, "unknown word");
	*(bool *)target = index == 1;
	return FG_OK;
}

static int parse_text(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	(void)key;
	if (strlen(text) > MAX_TEXT_LENGTH)
		return fg_error_set(err, FG_ELIMIT, "longer than %d bytes", MAX_TEXT_LENGTH);
	*(const char **)target = fg_arena_strdup(arena, text);
	return FG_OK;
}

static int parse_path(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	if (*text == '\0' || strlen(text) >= PATH_MAX)
		return fg_error_set(err, FG_EINVAL, "empty or too long");
	return parse_text(key, text, target, arena, err);
}

static int parse_name(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	bool is_fine =
		*text != '\0' && *text != ' ' && *text != '-' && strlen(text) <= MAX_NAME_LENGTH;

	for (const char *c = text; *c && is_fine; c++)
		is_fine = (unsigned char)*c >= ' ' && *c != 0x7f;
	if (!is_fine || (key->words && word_index(key, text) < 0))
		return fg_error_set(err, FG_EINVAL, "not a name");
	return parse_text(key, text, target, arena, err);
}

static int parse_url(const struct fg_key *key, const char *text, void *target,
		     struct fg_arena *arena, struct fg_error *err)
{
	const char *host = strstr(text, "://");

	if (!fg_text_starts_with(text, "https://") && !fg_text_starts_with(text, "http://"))
		return fg_error_set(err, FG_EINVAL, "not a URL");
	if (!isalnum((unsigned char)host[3]) && host[3] != '[')
		return fg_error_set(err, FG_EINVAL, "the host is missing");
	if (strpbrk(text, " \t\r\n\"<>"))
		return fg_error_set(err, FG_EINVAL,
				    "contains white space, a double quote, '<' or '>'");
	return parse_text(key, text, target, arena, err);
}

static int parse_variable_name(const struct fg_key *key, const char *text, void *target,
			       struct fg_arena *arena, struct fg_error *err)
{
	bool is_fine =
		*text != '\0' && !isdigit((unsigned char)*text) && strlen(text) <= MAX_NAME_LENGTH;

	/* Only capitals are accepted, which catches a token pasted here by mistake. */
	for (const char *c = text; *c && is_fine; c++)
		is_fine = (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
	if (!is_fine)
		return fg_error_set(
			err, FG_EINVAL,
			"expected the name of an environment variable: capital letters, digits and '_'");
	return parse_text(key, text, target, arena, err);
}

static int parse_regex(const struct fg_key *key, const char *text, void *target,
		       struct fg_arena *arena, struct fg_error *err)
{
	const char *excess = fg_pattern_excess(text);
	char problem[128] = "";
	regex_t regex;
	int status = 0;

	if (excess)
		return fg_error_set(err, FG_EINVAL, "%s", excess);
	status = regcomp(&regex, text, REG_EXTENDED);
	if (status != 0) {
		(void)regerror(status, &regex, problem, sizeof(problem));
		return fg_error_set(err, FG_EINVAL, "%s", problem);
	}
	status = regex.re_nsub >= 1
			 ? FG_OK
			 : fg_error_set(err, FG_EINVAL, "it has no group (...) around the number");
	regfree(&regex);
	return status == FG_OK ? parse_text(key, text, target, arena, err) : status;
}

static int parse_pointer(const struct fg_key *key, const char *text, void *target,
			 struct fg_arena *arena, struct fg_error *err)
{
	if (*text != '/')
		return fg_error_set(err, FG_EINVAL, "not a pointer");
	return parse_text(key, text, target, arena, err);
}

static int parse_unsigned(const struct fg_key *key, const char *text, void *target,
			  struct fg_arena *arena, struct fg_error *err)
{
	uint64_t value = 0;
	int status = FG_OK;

	(void)arena;
	if (key->word_of_zero && strcmp(text, key->word_of_zero) == 0) {
		*(unsigned *)target = 0;
		return FG_OK;
	}
	FG_TRY(fg_parse_uint64(text, &value, err));
	if (value > UINT_MAX)
		return fg_error_set(err, FG_EINVAL, "too large");
	FG_TRY(check_bounds(key, (double)value, err));
	*(unsigned *)target = (unsigned)value;
	return status;
}

static int parse_int(const struct fg_key *key, const char *text, void *target,
		     struct fg_arena *arena, struct fg_error *err)
{
	int64_t value = 0;
	int status = fg_parse_int64(text, &value, err);

	(void)arena;
	if (status != FG_OK)
		return status;
	if (value < INT_MIN || value > INT_MAX)
		return fg_error_set(err, FG_EINVAL, "out of range");
	FG_TRY(check_bounds(key, (double)value, err));
	*(int *)target = (int)value;
	return status;
}

static int parse_number(const struct fg_key *key, const char *text, void *target,
			struct fg_arena *arena, struct fg_error *err)
{
	double value = 0.0;
	int status = key->kind == FG_KEY_RATIO ? fg_parse_ratio(text, &value, err)
					       : fg_parse_double(text, &value, err);

	(void)arena;
	if (status != FG_OK)
		return status;
	FG_TRY(check_bounds(key, value, err));
	*(double *)target = value;
	return status;
}

static int parse_duration(const struct fg_key *key, const char *text, void *target,
			  struct fg_arena *arena, struct fg_error *err)
{
	int64_t value_ns = 0;
	int status = fg_parse_duration_ns(text, &value_ns, err);

	(void)arena;
	if (status != FG_OK)
		return status;
	FG_TRY(check_bounds(key, (double)value_ns / (double)FG_NS_PER_S, err));
	*(int64_t *)target = value_ns;
	return status;
}

static int parse_date(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	(void)key;
	(void)arena;
	return fg_time_parse_utc(text, target) ? FG_OK : fg_error_set(err, FG_EINVAL, "not a date");
}

static int parse_word(const struct fg_key *key, const char *text, void *target,
		      struct fg_arena *arena, struct fg_error *err)
{
	const int index = word_index(key, text);

	(void)arena;
	if (index < 0)
		return fg_error_set(err, FG_EINVAL, "unknown word");
	*(int *)target = index;
	return FG_OK;
}

static int check_version(const struct fg_key *key, const char *text, void *target,
			 struct fg_arena *arena, struct fg_error *err)
{
	int unused = 0;

	(void)target;
	return parse_word(key, text, &unused, arena, err);
}

#define DURATION_PATTERN "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)?$"
#define RATIO_PATTERN    "^[0-9]+(\\.[0-9]+)?%?$"

#define KIND(name_, expected_, parse_) .name = (name_), .expected = (expected_), .parse = (parse_)

static const struct fg_value_kind kinds[FG_KEY_SCALAR_COUNT] = {
	[FG_KEY_BOOL] = {KIND("true or false", "true or false", parse_bool),
			 .json_type = "boolean"},
	[FG_KEY_TEXT] = {KIND("text", "text", parse_text)},
	[FG_KEY_PATH] = {KIND("path", "a path", parse_path)},
	[FG_KEY_NAME] = {KIND(
		"name",
		"a name of 1 to 200 printable characters, not beginning with a space or "
		"a dash",
		parse_name)},
	[FG_KEY_URL] = {KIND("URL", "a URL that begins with https:// or http://", parse_url),
			.json_pattern = "^https?://"},
	[FG_KEY_VARIABLE_NAME] =
		{KIND("name of an environment variable, never the secret itself",
		      "the name of an environment variable in capitals, never the secret itself",
		      parse_variable_name),
		 .json_pattern = "^[A-Z_][A-Z0-9_]*$"},
	[FG_KEY_REGEX] = {KIND(
		"regular expression",
		"a POSIX extended regular expression with the number in its first group",
		parse_regex)},
	[FG_KEY_POINTER] = {KIND("JSON pointer", "a JSON pointer such as /results/0/time",
				 parse_pointer),
			    .json_pattern = "^/"},
	[FG_KEY_UNSIGNED] = {KIND("whole number", "a whole number", parse_unsigned),
			     .json_type = "integer"},
	[FG_KEY_INT] = {KIND("whole number", "a whole number", parse_int), .json_type = "integer"},
	[FG_KEY_NUMBER] = {KIND("number", "a number", parse_number), .json_type = "number"},
	[FG_KEY_RATIO] = {KIND("ratio", "a ratio such as 2% or 0.02", parse_number),
			  .json_type = "number", .json_pattern = RATIO_PATTERN},
	[FG_KEY_DURATION] = {KIND("duration", "a duration such as 250ms, 90s, 5m or 2h",
				  parse_duration),
			     .json_type = "number", .json_pattern = DURATION_PATTERN},
	[FG_KEY_DATE] = {KIND("date", "a date such as 2027-03-01", parse_date),
			 .json_pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"},
	[FG_KEY_VERSION] = {KIND("number", "the version", check_version), .json_type = "integer"},
	[FG_KEY_WORD] = {KIND("word", "a word", parse_word)},
};

const struct fg_value_kind *fg_value_kind(enum fg_key_kind kind)
{
	FG_ASSERT((size_t)kind < FG_KEY_SCALAR_COUNT);
	return &kinds[kind];
}

static void add_bound(const struct fg_key *key, double value, struct fg_strbuf *text)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (key->kind == FG_KEY_DURATION)
		fg_strbuf_add_text(text, fg_format_duration(value * (double)FG_NS_PER_S, number));
	else if (key->kind == FG_KEY_RATIO)
		fg_strbuf_printf(text, "%s%%", fg_format_double(value * 100.0, number));
	else
		fg_strbuf_add_text(text, fg_format_double(value, number));
}

static void add_value(const struct fg_key *key, const char *kind, struct fg_strbuf *text)
{
	if (key->words) {
		for (size_t i = 0; key->words[i]; i++)
			fg_strbuf_printf(text, "%s%s",
					 i == 0              ? ""
					 : key->words[i + 1] ? ", "
							     : " or ",
					 key->words[i]);
		return;
	}
	if (key->word_of_zero)
		fg_strbuf_printf(text, "%s, or ", key->word_of_zero);
	fg_strbuf_add_text(text, kind);
	if (key->minimum >= key->maximum)
		return;
	fg_strbuf_add_text(text, " from ");
	add_bound(key, key->minimum, text);
	fg_strbuf_add_text(text, " to ");
	add_bound(key, key->maximum, text);
}

void fg_value_expected(const struct fg_key *key, struct fg_strbuf *text)
{
	add_value(key, kinds[key->kind].expected, text);
}

void fg_value_kind_and_range(const struct fg_key *key, struct fg_strbuf *text)
{
	add_value(key, kinds[key->kind].name, text);
}
