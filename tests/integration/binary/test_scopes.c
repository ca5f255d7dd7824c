// SPDX-License-Identifier: Apache-2.0
/* Inlined functions without a linkage name (lambdas, local classes) are named after their scope. */
#include "binary/elf_file.h"
#include "binary/symbolizer.h"
#include "tests/support/fg_test.h"

enum {
	ENTRY_BYTES = 512
};

static uint64_t entry_of(const struct fg_elf *elf)
{
	for (size_t i = 0; i < elf->symbol_count; i++)
		if (strcmp(fg_elf_name(elf, &elf->symbols[i]), "scopes_entry") == 0)
			return elf->symbols[i].value;
	fail_msg("no symbol 'scopes_entry'");
	return 0;
}

/* Is there an inlined frame of this name in the function? */
static bool has_inlined(const char *name)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_symbol_module *module =
		fg_symbolizer_module(symbolizer, FG_TEST_SCOPES_LIBRARY, NULL, 0, false);
	const struct fg_symbol *chain;
	struct fg_error err = {0};
	struct fg_elf elf;
	bool found = false;
	uint64_t start;

	if (fg_elf_read(FG_TEST_SCOPES_LIBRARY, &elf, &err) != FG_OK)
		fail_msg("%s", err.message);
	start = entry_of(&elf);
	for (uint64_t at = start; at < start + ENTRY_BYTES; at++) {
		const size_t count = fg_symbolizer_find(symbolizer, module, at, &chain);

		for (size_t level = 1; level < count; level++)
			found = found || strcmp(chain[level].function->name, name) == 0;
	}
	fg_elf_release(&elf);
	fg_symbolizer_free(symbolizer);
	return found;
}

FG_TEST(a_lambda_is_called_by_its_function_and_its_number)
{
	assert_true(has_inlined("scopes_entry::{lambda#1}::operator()"));
	assert_true(has_inlined("scopes_entry::{lambda#2}::operator()"));
	assert_false(has_inlined("operator()"));
}

FG_TEST(a_function_of_a_local_class_is_called_by_all_around_it)
{
	assert_true(has_inlined("app::(anonymous namespace)::Outside::twice::Local::add"));
	assert_false(has_inlined("add"));
}

FG_TEST(a_template_over_a_lambda_has_its_namespace)
{
	assert_true(has_inlined("app::apply<scopes_entry(unsigned int)::<lambda(unsigned int)> >"));
}
