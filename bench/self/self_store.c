// SPDX-License-Identifier: Apache-2.0
/* Saving runs: each opens the store, as `fastgate run` does, and adds to it. */
#include "base/fs.h"
#include "bench/self/self.h"

enum {
	RUNS = 6
};

int main(void)
{
	struct fg_error err = {0};
	const char *parent = getenv("TMPDIR");
	char *folder = NULL;
	char *path = NULL;

	fg_self_must(
		fg_fs_temporary_folder(parent ? parent : "/tmp", "fastgate-self", &folder, &err),
		&err);
	path = fg_fs_join(folder, "store.db");
	for (uint64_t i = 0; i < RUNS; i++) {
		struct fg_stored_run run = {0};
		struct fg_store *store = NULL;

		fg_self_run(&run, i + 1);
		fg_self_must(fg_store_open(path, 0, &store, &err), &err);
		fg_self_must(fg_store_save(store, &run.run, run.profiles, NULL, &err), &err);
		fg_store_close(store);
		fg_stored_run_release(&run);
	}
	fg_self_must(fg_fs_remove_tree(folder, &err), &err);
	free(path);
	free(folder);
	(void)printf("%d runs\n", RUNS);
	return 0;
}
