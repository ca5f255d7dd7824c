// SPDX-License-Identifier: Apache-2.0
/* Is it the same code? Compares builds with one difference each, position-independent and not. */
#include "binary/code.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdio.h>
#include <string.h>

struct comparison {
	struct fg_code before;
	struct fg_code after;
	struct fg_code_difference difference;
};

static void compare(struct comparison *c, const char *kind, const char *variant)
{
	char path[4096];
	struct fg_error err;

	(void)snprintf(path, sizeof(path), FG_TEST_CODE_FOLDER "/code_%sbase", kind);
	assert_int_equal(fg_code_read(path, NULL, &c->before, &err), FG_OK);
	(void)snprintf(path, sizeof(path), FG_TEST_CODE_FOLDER "/code_%s%s", kind, variant);
	assert_int_equal(fg_code_read(path, NULL, &c->after, &err), FG_OK);
	fg_code_compare(&c->before, &c->after, &c->difference);
}

static void release(struct comparison *c)
{
	fg_code_difference_release(&c->difference);
	fg_code_release(&c->before);
	fg_code_release(&c->after);
}

static const struct fg_code_item *item_of(const struct comparison *c,
					  const struct fg_code_pair *pair)
{
	return pair->after != FG_CODE_NONE ? &c->after.items[pair->after]
					   : &c->before.items[pair->before];
}

static struct fg_code_pair find(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->difference.pair_count; i++) {
		const struct fg_code_pair *pair = &c->difference.pairs[i];

		if (strcmp(item_of(c, pair)->name, name) == 0)
			return *pair;
	}
	fail_msg("neither build has %s", name);
	return (struct fg_code_pair){0};
}

/* Returns the names of everything that changed, in order, separated by spaces. */
static const char *changed(const struct comparison *c, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < c->difference.pair_count; i++) {
		const struct fg_code_pair *pair = &c->difference.pairs[i];

		if (pair->change == FG_CODE_CHANGED)
			(void)snprintf(text + strlen(text), size - strlen(text), "%s%s",
				       *text ? " " : "", c->after.items[pair->after].name);
	}
	return text;
}

static const char *const kinds[] = {"", "fixed_"};

FG_TEST(nothing_but_the_place_changed)
{
	static const char *const variants[] = {
		"base", "padded", "unused",
#ifdef __aarch64__
		"far", /* called through veneers */
#endif
	};

	for (size_t k = 0; k < FG_ARRAY_SIZE(kinds); k++) {
		for (size_t v = 0; v < FG_ARRAY_SIZE(variants); v++) {
			struct comparison c;
			char text[4096];

			compare(&c, kinds[k], variants[v]);
			assert_string_equal(changed(&c, text, sizeof(text)), "");
			assert_int_equal(c.difference.counts[FG_CODE_REMOVED], 0);
			assert_memory_equal(c.before.digest, c.after.digest, FG_CODE_DIGEST_SIZE);
			assert_int_equal(
				memcmp(c.before.layout, c.after.layout, FG_CODE_DIGEST_SIZE) == 0,
				strcmp(variants[v], "base") == 0);
			assert_false(find(&c, "by_switch").reaches_change);
			assert_false(find(&c, "main").reaches_change);
			release(&c);
		}
	}
}

FG_TEST(a_change_is_found_where_it_is_and_nowhere_else)
{
	/*
	 * On arm64, code may compute an object's address from that of another object, and then
	 * refers to both.
	 */
#ifdef __aarch64__
	static const char apart_from_table[] = "outer";
#else
	static const char apart_from_table[] = "by_name";
#endif
	const struct {
		const char *variant;
		const char *changed;
		const char *reaches; /* an unchanged function that refers to the changed symbol */
		const char *apart;   /* a function that does not refer to the changed symbol */
	} rows[] = {
		{.variant = "limit", .changed = "limited", .reaches = "outer", .apart = "by_name"},
		{.variant = "greeting", .changed = "main", .reaches = "main", .apart = "outer"},
		{.variant = "name", .changed = "names", .reaches = "main", .apart = "outer"},
		{.variant = "table",
		 .changed = "table",
		 .reaches = "by_table",
		 .apart = apart_from_table},
		{.variant = "scale", .changed = "scaled", .reaches = "main", .apart = "by_switch"},
		{.variant = "case", .changed = "by_switch", .reaches = "main", .apart = "outer"},
	};

	for (size_t k = 0; k < FG_ARRAY_SIZE(kinds); k++) {
		for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
			struct comparison c;
			char text[4096];

			compare(&c, kinds[k], rows[r].variant);
			if (strcmp(changed(&c, text, sizeof(text)), "reltable.by_name") == 0)
				assert_string_equal(rows[r].changed, "names"); /* clang's name */
			else
				assert_string_equal(text, rows[r].changed);
			assert_int_equal(c.difference.counts[FG_CODE_CHANGED], 1);
			assert_memory_not_equal(c.before.digest, c.after.digest,
						FG_CODE_DIGEST_SIZE);
			assert_true(find(&c, rows[r].reaches).reaches_change);
			assert_int_equal(find(&c, rows[r].apart).change, FG_CODE_SAME);
			assert_false(find(&c, rows[r].apart).reaches_change);
			release(&c);
		}
	}
}

FG_TEST(new_and_changed_facts_are_distinguished)
{
	struct comparison c;

	compare(&c, "", "unused");
	assert_int_equal(find(&c, "nobody_calls_this").change, FG_CODE_ADDED);
	assert_int_equal(c.difference.counts[FG_CODE_ADDED], 1);
	assert_int_equal(c.difference.counts[FG_CODE_REMOVED], 0);
	release(&c);
}

FG_TEST(anything_but_a_program_is_refused)
{
	static const char elf32[64] = "\x7f"
				      "ELF\x01\x01\x01";
	const struct {
		const char *bytes;
		size_t size;
		int status;
		const char *words;
	} rows[] = {
		{.bytes = "#!/bin/sh\n",
		 .size = 10,
		 .status = FG_EPARSE,
		 .words = "not an ELF file"},
		{.bytes = elf32,
		 .size = 64,
		 .status = FG_EUNSUPPORTED,
		 .words = "only for x86-64 and arm64"},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		struct fg_scratch scratch;
		struct fg_code code;
		struct fg_error err;

		fg_scratch_init(&scratch);
		fg_scratch_write(&scratch, "file", rows[r].bytes, rows[r].size);
		assert_int_equal(fg_code_read(fg_scratch_path(&scratch, "file"), NULL, &code, &err),
				 rows[r].status);
		assert_non_null(strstr(err.message, rows[r].words));
		assert_int_equal(code.item_count, 0);
		fg_scratch_release(&scratch);
	}
}
