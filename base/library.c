// SPDX-License-Identifier: Apache-2.0
#include "base/library.h"

#include "base/base.h"

#ifdef FG_PORTABLE
# include <nss.h>
#else
# include <dlfcn.h>
#endif

#ifdef FG_PORTABLE
/*
 * The host's name-service plug-ins belong to another libc: a static program that opens one may
 * crash. Hosts are looked up in /etc/hosts and by DNS, users in /etc/passwd.
 */
static int open_locked(const struct fg_library *library, struct fg_error *err)
{
	(void)library;
	(void)err;
	(void)__nss_configure_lookup("hosts", "files dns");
	(void)__nss_configure_lookup("passwd", "files");
	(void)__nss_configure_lookup("services", "files");
	return FG_OK;
}
#else
static const char *reason(void)
{
	const char *words = dlerror();

	return words ? words : "unknown reason";
}

/* Returns the end of an error message: how to install the library. */
static char *source_of(const struct fg_library *library)
{
	return *library->package ? fg_xasprintf("install the package %s", library->package)
				 : fg_xstrdup("install it");
}

/* Resolves all functions or none. */
static int fill_table(const struct fg_library *library, void *opened, struct fg_error *err)
{
	void **found = fg_xcalloc(library->count, sizeof(*found));
	int status = FG_OK;

	for (size_t i = 0; i < library->count && status == FG_OK; i++) {
		found[i] = dlsym(opened, library->names[i]);
		if (!found[i])
			status = fg_error_set(
				err, FG_EUNSUPPORTED,
				"%s, which is needed %s, has no function %s: unexpected version",
				library->file, library->purpose, library->names[i]);
	}
	if (status == FG_OK)
		memcpy(library->table, found, library->count * sizeof(*found));
	free(found);
	return status;
}

static int open_locked(const struct fg_library *library, struct fg_error *err)
{
	/* RTLD_NOW, as for the program itself: missing symbols are reported at once. */
	void *opened = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	char *source = NULL;
	int status = FG_OK;

	if (opened)
		return fill_table(library, opened, err);
	source = source_of(library);
	status = fg_error_set(err, FG_EUNSUPPORTED, "%s is needed %s but cannot be opened: %s (%s)",
			      library->file, library->purpose, source, reason());
	free(source);
	return status;
}
#endif

int fg_library_open(struct fg_library *library, struct fg_error *err)
{
	int status = FG_OK;

	if (atomic_load_explicit(&library->is_open, memory_order_acquire))
		return FG_OK;
	(void)pthread_mutex_lock(&library->lock);
	if (!atomic_load_explicit(&library->is_open, memory_order_relaxed))
		status = open_locked(library, err);
	if (status == FG_OK)
		atomic_store_explicit(&library->is_open, true, memory_order_release);
	(void)pthread_mutex_unlock(&library->lock);
	return status;
}
