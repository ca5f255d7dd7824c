// SPDX-License-Identifier: Apache-2.0
/*
 * Measures the symbolizer; bench/profile/run prints the figures next to those of other tools.
 *
 *	bench_profile_symbols libraries FOLDER
 *		reads and sorts the symbols of every library, then demangles every name
 *	bench_profile_symbols addresses FILE COUNT
 *		prints COUNT random code addresses, one per line: the input of every tool
 *	bench_profile_symbols lines FILE CACHE
 *		turns addresses on stdin into chains, once from scratch and once from the cache
 *	bench_profile_symbols chains FILE
 *		prints the chain of each address on stdin: for the agreement test
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/radix_sort.h"
#include "base/random.h"
#include "binary/demangle.h"
#include "binary/elf_file.h"
#include "binary/symbolizer.h"
#include "profile/profile.h"

#include <inttypes.h>

/*
 * Measures CPU time, so that other jobs do not count. It is close to elapsed time: the benchmark
 * has one thread, and its data are in memory or in the page cache.
 */
static double since_ms(int64_t start_ns)
{
	return (double)(fg_clock_process_cpu_ns() - start_ns) / 1e6;
}

static int fail(const struct fg_error *err)
{
	(void)fprintf(stderr, "%s\n", err->message);
	return 1;
}

static int run_libraries(const char *folder)
{
	struct fg_error err = {0};
	struct fg_elf *libraries;
	char **names;
	size_t count;
	size_t symbols = 0;
	size_t bytes = 0;
	int64_t start;

	if (fg_fs_list(folder, &names, &count, &err) != FG_OK)
		return fail(&err);
	libraries = fg_xcalloc(count + 1, sizeof(libraries[0]));
	start = fg_clock_process_cpu_ns();
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);

		if (fg_elf_read(path, &libraries[i], &err) != FG_OK)
			return fail(&err);
		symbols += libraries[i].symbol_count;
		free(path);
	}
	(void)printf("load_ms %.1f libraries %zu symbols %zu\n", since_ms(start), count, symbols);
	start = fg_clock_process_cpu_ns();
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < libraries[i].symbol_count; k++) {
			struct fg_strbuf name = {0};

			(void)fg_demangle(fg_elf_name(&libraries[i], &libraries[i].symbols[k]),
					  &name);
			bytes += name.length;
			fg_strbuf_release(&name);
		}
	}
	(void)printf("demangle_ms %.1f bytes %zu\n", since_ms(start), bytes);
	for (size_t i = 0; i < count; i++)
		fg_elf_release(&libraries[i]);
	free(libraries);
	fg_fs_list_free(names, count);
	return 0;
}

static int run_addresses(const char *file, const char *count_text)
{
	struct fg_random random;
	struct fg_elf elf;
	struct fg_error err = {0};
	unsigned long count = strtoul(count_text, NULL, 10);

	if (fg_elf_read(file, &elf, &err) != FG_OK)
		return fail(&err);
	fg_random_seed(&random, 20260831);
	for (unsigned long i = 0; i < count; i++)
		(void)printf("0x%" PRIx64 "\n",
			     elf.code_start +
				     fg_random_below(&random, elf.code_end - elf.code_start));
	fg_elf_release(&elf);
	return 0;
}

static struct fg_keyed *read_addresses(size_t *count)
{
	struct fg_keyed *addresses = NULL;
	size_t capacity = 0;
	char line[64];

	*count = 0;
	while (fgets(line, sizeof(line), stdin)) {
		addresses = fg_grow(addresses, &capacity, *count + 1, sizeof(addresses[0]));
		addresses[(*count)++].key = strtoull(line, NULL, 16);
	}
	return addresses;
}

static void print_chain(uint64_t address, const struct fg_symbol *chain, size_t count)
{
	(void)printf("0x%" PRIx64, address);
	for (size_t i = count; i-- > 0;)
		(void)printf("\t%s\t%s:%u",
			     chain[i].flags & FG_FRAME_NAMELESS ? "??"
			     : chain[i].function->linkage       ? chain[i].function->linkage
								: chain[i].function->name,
			     chain[i].at_file ? chain[i].at_file : "??", chain[i].at_line);
	(void)printf("\n");
}

/*
 * Symbolizes in address order, as when reading a trace: neighbours share their unit's tables. The
 * time includes sorting.
 */
static size_t symbolize(const char *file, const char *cache, struct fg_keyed *addresses,
			size_t count, bool print)
{
	const struct fg_symbolizer_options options = {.cache_folder = cache};
	int64_t start = fg_clock_process_cpu_ns();
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	struct fg_symbol_module *module = fg_symbolizer_module(symbolizer, file, NULL, 0, false);
	const struct fg_symbol *chain;
	size_t frames = 0;

	fg_keyed_sort(addresses, count);
	fg_symbolizer_expect(module, count);
	for (size_t i = 0; i < count; i++) {
		size_t length = fg_symbolizer_find(symbolizer, module, addresses[i].key, &chain);

		frames += length;
		if (print)
			print_chain(addresses[i].key, chain, length);
	}
	if (!print)
		(void)printf("lines_ms %.1f addresses %zu frames %zu %s\n", since_ms(start), count,
			     frames, fg_symbol_module_source(module));
	start = fg_clock_process_cpu_ns();
	fg_symbolizer_free(symbolizer);
	if (!print)
		(void)printf("save_ms %.1f\n", since_ms(start));
	return frames;
}

static int run_lines(const char *file, const char *cache)
{
	size_t count;
	struct fg_keyed *addresses = read_addresses(&count);
	struct fg_keyed *again = fg_xcalloc(count + 1, sizeof(again[0]));
	size_t first;
	size_t second;

	if (count > 0)
		memcpy(again, addresses, count * sizeof(again[0]));
	first = symbolize(file, cache, addresses, count, false);
	second = symbolize(file, cache, again, count, false);
	free(addresses);
	free(again);
	return first == second ? 0 : 1;
}

static int run_chains(const char *file)
{
	size_t count;
	struct fg_keyed *addresses = read_addresses(&count);

	(void)symbolize(file, NULL, addresses, count, true);
	free(addresses);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "libraries") == 0)
		return run_libraries(argv[2]);
	if (argc == 4 && strcmp(argv[1], "addresses") == 0)
		return run_addresses(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "lines") == 0)
		return run_lines(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "chains") == 0)
		return run_chains(argv[2]);
	(void)fprintf(stderr, "usage: %s libraries|addresses|lines|chains ...\n", argv[0]);
	return 2;
}
