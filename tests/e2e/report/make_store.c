// SPDX-License-Identifier: Apache-2.0
/* Puts a fixture into a store: make_store FILE [FIXTURE], "mixed" unless another is named. */
#include "store/store.h"
#include "tests/support/fixture_report.h"

int main(int argc, char **argv)
{
	const struct fg_report_options plain = {0};
	struct fg_store *store = NULL;
	struct fg_fixture fixture;
	struct fg_strbuf json = {0};
	struct fg_error err = {0};
	struct fg_profile_set *profiles[FG_FIXTURE_MAX_BENCHMARKS] = {0};
	int status = FG_OK;

	if (argc != 2 && argc != 3) {
		(void)fprintf(stderr, "usage: make_store FILE [FIXTURE]\n");
		return 2;
	}
	fg_fixture_init(&fixture, argc == 3 ? argv[2] : "mixed");
	for (size_t i = 0; i < FG_FIXTURE_MAX_BENCHMARKS; i++)
		profiles[i] = fixture.profiles[i] ? &fixture.sets[i] : NULL;
	fg_reporter_find("json", NULL)->write(&fixture.report, &plain, &json);
	status = fg_store_open(argv[1], 0, &store, &err);
	if (status != FG_OK)
		goto out;
	status = fg_store_save(store, &fixture.run, profiles, fg_strbuf_text(&json), &err);
out:
	if (status != FG_OK)
		(void)fprintf(stderr, "make_store: %s\n", err.message);
	fg_store_close(store);
	fg_strbuf_release(&json);
	fg_fixture_release(&fixture);
	return status == FG_OK ? 0 : 1;
}
