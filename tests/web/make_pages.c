// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the HTML reports of all fixtures, and of a profile with 35,000 call paths, into a folder.
 */
#include "tests/support/fixture_report.h"

enum {
	LARGE_PROFILE_NODES = 35000
};

static int write_page(const struct fg_fixture *fixture, const char *folder, const char *name)
{
	const struct fg_report_options options = {0};
	struct fg_error err = {0};
	char *path = fg_xasprintf("%s/%s.html", folder, name);
	const int status = fg_reporter_write_file(fg_reporter_find("html", &err), &fixture->report,
						  &options, path, &err);

	if (status != FG_OK)
		(void)fprintf(stderr, "make_pages: %s\n", err.message);
	free(path);
	return status;
}

static int write_fixture(const char *folder, const char *name, const char *file, bool large)
{
	struct fg_fixture fixture;
	int status = FG_OK;

	fg_fixture_init(&fixture, name);
	/* Links to the source, like those that a project may configure. */
	if (strcmp(name, "marked") == 0) {
		struct fg_environment *build = &fixture.run.sides[FG_ARM_CANDIDATE].build;

		fixture.run.sides[FG_ARM_CANDIDATE].dirty = false;
		fg_environment_set(build, "link.commit", "https://git.example.org/c/{commit}",
				   false);
		fg_environment_set(build, "link.line",
				   "https://git.example.org/{commit}/{file}#L{line}", false);
	}
	if (large)
		fg_fixture_add_large_profile(&fixture, LARGE_PROFILE_NODES);
	status = write_page(&fixture, folder, file);
	fg_fixture_release(&fixture);
	return status;
}

int main(int argc, char **argv)
{
	int status = FG_OK;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: make_pages FOLDER\n");
		return 2;
	}
	for (size_t i = 0; fg_fixture_names[i] && status == FG_OK; i++)
		status = write_fixture(argv[1], fg_fixture_names[i], fg_fixture_names[i], false);
	if (status == FG_OK)
		status = write_fixture(argv[1], "regression", "large", true);
	return status == FG_OK ? 0 : 1;
}
