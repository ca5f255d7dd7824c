// SPDX-License-Identifier: Apache-2.0
/*
 * All benchmarks of a run share one dictionary. It is one tree: the roots of the benchmarks'
 * profiles are below an unnamed root, and the call paths are below their profile's root. Nodes are
 * numbered from 1, parents before children; a node is written as the distance back to its parent
 * (0: the unnamed root) and its function.
 */
#include "store/bundle.h"

#include "base/strbuf.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/store.h"
#include "store/values.h"

const struct fg_bundle_limits fg_bundle_limits_default = {
	.envelope_bytes = 16 << 20,
	.dictionary_bytes = 256 << 20,
	.values_bytes = 256 << 20,
	.functions = 2 << 20,
	.nodes = 8 << 20,
	.depth = 4096,
};

static void write_dictionary(const struct fg_profile_set *tree, struct fg_bytes *bytes)
{
	fg_bytes_varint(bytes, tree->function_count);
	for (size_t i = 0; i < tree->function_count; i++) {
		const struct fg_profile_function *f = &tree->functions[i];

		fg_bytes_text(bytes, f->name);
		fg_bytes_text(bytes, f->library);
		fg_bytes_text(bytes, f->linkage);
		fg_bytes_text(bytes, f->file);
		fg_bytes_varint(bytes, f->line);
		fg_bytes_varint(bytes, f->inlined);
	}
	fg_bytes_varint(bytes, tree->node_count - 1);
	for (size_t i = 1; i < tree->node_count; i++) {
		const uint32_t parent = tree->nodes[i].parent;

		fg_bytes_varint(bytes, parent == 0 ? 0 : i - parent);
		fg_bytes_varint(bytes, tree->nodes[i].function);
	}
}

/*
 * Merges a benchmark's functions and paths into the common tree. Returns the number that each node
 * of the benchmark has in the common tree.
 */
static uint64_t *graft(struct fg_profile_set *tree, const struct fg_profile_set *set)
{
	uint32_t *functions = fg_xcalloc(set->function_count, sizeof(*functions));
	uint64_t *ids = fg_xcalloc(set->node_count, sizeof(*ids));

	for (size_t i = 0; i < set->function_count; i++)
		functions[i] = fg_profile_set_function(tree, &set->functions[i]);
	for (size_t i = 0; i < set->node_count; i++) {
		const uint32_t parent = i == 0 ? 0 : (uint32_t)ids[set->nodes[i].parent];

		ids[i] = fg_profile_set_node(tree, parent, functions[set->nodes[i].function]);
	}
	free(functions);
	return ids;
}

static void write_weights(const struct fg_profile_set *set, uint16_t measure, const uint64_t *ids,
			  struct fg_bytes *bytes)
{
	struct fg_matrix matrix = {0};

	fg_matrix_from_set(&matrix, set, measure, 0, ids);
	fg_matrix_write(&matrix, bytes);
	fg_matrix_release(&matrix);
}

static void write_measures(const struct fg_profile_set *set, const uint64_t *ids,
			   struct fg_bytes *bytes)
{
	const size_t known = fg_measure_count(&set->measures);
	size_t count = 0;

	for (size_t m = 0; m < known; m++)
		count += fg_profile_set_has(set, (uint16_t)m, 0);
	fg_bytes_varint(bytes, count);
	for (size_t m = 0; m < known; m++) {
		if (!fg_profile_set_has(set, (uint16_t)m, 0))
			continue;
		fg_measure_write(fg_measure_at(&set->measures, (uint16_t)m), bytes);
		write_weights(set, (uint16_t)m, ids, bytes);
	}
}

static void write_values(const struct fg_series *series, const struct fg_profile_set *set,
			 const uint64_t *ids, struct fg_bytes *bytes)
{
	fg_repetitions_write(series, 0, bytes);
	fg_bytes_varint(bytes, set ? ids[0] : 0);
	if (!set)
		return;
	write_measures(set, ids, bytes);
	fg_regions_write(set, 0, bytes);
}

int fg_bundle_from_run(const struct fg_stored_run *stored, struct fg_bundle *bundle,
		       struct fg_error *err)
{
	struct fg_bundle made = {0};
	struct fg_profile_set tree = {0};
	struct fg_bytes dictionary = {0};
	struct fg_bytes values = {0};
	int status = FG_OK;

	fg_profile_set_init(&tree, "");
	for (size_t i = 0; i < stored->run.series_count; i++) {
		const struct fg_profile_set *set = stored->profiles ? stored->profiles[i] : NULL;
		uint64_t *ids = set ? graft(&tree, set) : NULL;

		write_values(&stored->run.series[i], set, ids, &values);
		free(ids);
	}
	write_dictionary(&tree, &dictionary);
	fg_envelope_write(stored, &made.envelope);
	status = fg_pack(dictionary.data, dictionary.size, FG_PACK_LEVEL, &made.dictionary, err);
	if (status == FG_OK)
		status = fg_pack_bytes(&values, FG_PACK_LEVEL, &made.values, err);
	fg_bytes_release(&dictionary);
	fg_bytes_release(&values);
	fg_profile_set_release(&tree);
	if (status == FG_OK)
		*bundle = made;
	else
		fg_bundle_release(&made);
	return status;
}

void fg_bundle_release(struct fg_bundle *bundle)
{
	fg_strbuf_release(&bundle->envelope);
	fg_bytes_release(&bundle->dictionary);
	fg_bytes_release(&bundle->values);
	*bundle = (struct fg_bundle){0};
}

static char *copy(const char *text, size_t length)
{
	return text ? fg_xstrndup(text, length) : NULL;
}

static void read_function(struct fg_byte_reader *reader, struct fg_profile_set *tree)
{
	char *texts[4] = {NULL};
	struct fg_profile_function f = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		const char *text = NULL;
		const size_t length = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &text);

		texts[i] = copy(text, length);
	}
	f.name = texts[0] ? texts[0] : "";
	f.library = texts[1] ? texts[1] : "";
	f.linkage = texts[2];
	f.file = texts[3];
	f.line = (unsigned)fg_read_varint(reader);
	f.inlined = fg_read_varint(reader) != 0;
	if (!reader->failed)
		(void)fg_profile_set_function(tree, &f);
	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++)
		free(texts[i]);
}

static int read_nodes(struct fg_byte_reader *reader, const struct fg_bundle_limits *limits,
		      struct fg_profile_set *tree, struct fg_error *err)
{
	const size_t count = fg_read_count(reader, 2);
	uint32_t *depths = NULL;

	if (count > limits->nodes)
		return fg_error_set(err, FG_ELIMIT, "the run has %zu call paths; the limit is %zu",
				    count, limits->nodes);
	depths = fg_xcalloc(count + 1, sizeof(*depths));
	for (size_t i = 1; i <= count && !reader->failed; i++) {
		const uint64_t back = fg_read_varint(reader);
		const uint64_t function = fg_read_varint(reader);
		const size_t parent = back == 0 || back >= i ? 0 : i - (size_t)back;

		depths[i] = depths[parent] + 1;
		/* A duplicate path would shift all later numbers. */
		if (back >= i || function >= tree->function_count || depths[i] > limits->depth ||
		    fg_profile_set_node(tree, (uint32_t)parent, (uint32_t)function) != i)
			reader->failed = true;
	}
	free(depths);
	return FG_OK;
}

static int read_dictionary(const struct fg_bytes *content, const struct fg_bundle_limits *limits,
			   struct fg_profile_set *tree, struct fg_error *err)
{
	enum {
		MIN_FUNCTION_BYTES = 6
	};
	struct fg_byte_reader reader = {content->data, content->data + content->size, false};
	const size_t functions = fg_read_count(&reader, MIN_FUNCTION_BYTES);

	if (functions > limits->functions)
		return fg_error_set(err, FG_ELIMIT, "the run has %zu functions; the limit is %zu",
				    functions, limits->functions);
	for (size_t i = 0; i < functions && !reader.failed; i++)
		read_function(&reader, tree);
	if (tree->function_count != functions)
		reader.failed = true;
	FG_TRY(read_nodes(&reader, limits, tree, err));
	if (reader.failed || reader.at != reader.end)
		return fg_error_set(err, FG_EPARSE, "the dictionary is damaged or cut short");
	return FG_OK;
}

/* Copies the nodes that these values use from the common tree to the benchmark's own tree. */
static int cut_out(const struct fg_profile_set *tree, uint64_t root, const struct fg_matrix *matrix,
		   uint16_t measure, struct fg_profile_set *set, struct fg_error *err)
{
	uint32_t *places = fg_xcalloc(tree->node_count, sizeof(*places));
	bool *wanted = fg_xcalloc(tree->node_count, sizeof(*wanted));
	uint32_t *indexes = fg_xcalloc(matrix->id_count, sizeof(*indexes));
	uint32_t *functions = NULL; /* index in the set + 1; 0: not looked up yet */
	int status = FG_OK;

	for (size_t i = 0; i < matrix->id_count; i++)
		wanted[matrix->ids[i]] = true;
	for (size_t i = tree->node_count - 1; i > 0; i--) {
		if (wanted[i])
			wanted[tree->nodes[i].parent] = true;
		if (wanted[i] && tree->nodes[i].parent == 0 && i != root)
			status = fg_error_set(err, FG_EPARSE,
					      "values refer to call paths of another benchmark");
	}
	if (status != FG_OK)
		goto out;
	functions = fg_xcalloc(tree->function_count, sizeof(*functions));
	for (size_t i = root + 1; i < tree->node_count; i++) {
		const uint32_t function = tree->nodes[i].function;

		if (!wanted[i])
			continue;
		if (!functions[function])
			functions[function] =
				1 + fg_profile_set_function(set, &tree->functions[function]);
		places[i] = fg_profile_set_node(set, places[tree->nodes[i].parent],
						functions[function] - 1);
	}
	for (size_t i = 0; i < matrix->id_count; i++)
		indexes[i] = places[matrix->ids[i]];
	fg_matrix_to_set(matrix, set, measure, indexes);
out:
	free(functions);
	free(indexes);
	free(wanted);
	free(places);
	return status;
}

static int read_weights(struct fg_byte_reader *reader, const struct fg_profile_set *tree,
			uint64_t root, uint16_t measure, struct fg_profile_set *set,
			struct fg_error *err)
{
	struct fg_matrix matrix = {0};
	int status = FG_OK;

	FG_TRY(fg_matrix_read(reader, tree->node_count - 1, &matrix, err));
	if (matrix.id_count && matrix.ids[0] < root)
		status = fg_error_set(err, FG_EPARSE,
				      "values refer to call paths of another benchmark");
	else
		status = cut_out(tree, root, &matrix, measure, set, err);
	fg_matrix_release(&matrix);
	return status;
}

static int read_measure(struct fg_byte_reader *reader, const struct fg_profile_set *tree,
			uint64_t root, struct fg_profile_set *set, struct fg_error *err)
{
	const struct fg_measure measure = fg_measure_read(reader, &set->arena);
	uint16_t id = 0;

	if (reader->failed)
		return fg_error_set(err, FG_EPARSE, "a measure of a profile is damaged");
	id = fg_profile_set_measure(set, &measure);
	if (fg_profile_set_has(set, id, 0))
		return fg_error_set(err, FG_EPARSE, "duplicate measure '%s'", measure.name);
	return read_weights(reader, tree, root, id, set, err);
}

static int read_profile(struct fg_byte_reader *reader, const struct fg_profile_set *tree,
			uint64_t root, struct fg_profile_set *set, struct fg_error *err)
{
	const uint64_t count = fg_read_varint(reader);
	int status = FG_OK;

	if (reader->failed || count > FG_MEASURES_MAX)
		return fg_error_set(err, FG_EPARSE, "the measures of a profile are damaged");
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = read_measure(reader, tree, root, set, err);
	if (status != FG_OK)
		return status;
	return fg_regions_read(reader, set, err);
}

static int read_series(struct fg_byte_reader *reader, const struct fg_profile_set *tree,
		       struct fg_series *series, struct fg_profile_set **profile,
		       struct fg_error *err)
{
	uint64_t root = 0;

	FG_TRY(fg_repetitions_read(reader, series, err));
	root = fg_read_varint(reader);
	if (reader->failed || root >= tree->node_count || (root && tree->nodes[root].parent != 0))
		return fg_error_set(err, FG_EPARSE,
				    "the values of benchmark '%s' do not refer to a root call path",
				    series->name);
	if (root == 0)
		return FG_OK;
	*profile = fg_xcalloc(1, sizeof(**profile));
	fg_profile_set_init(*profile, tree->functions[tree->nodes[root].function].name);
	return read_profile(reader, tree, root, *profile, err);
}

static int read_values(const struct fg_bundle *bundle, const struct fg_bundle_limits *limits,
		       const struct fg_profile_set *tree, struct fg_stored_run *stored,
		       struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	int status = fg_unpack(bundle->values.data, bundle->values.size, limits->values_bytes,
			       &content, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "values");
		return status;
	}
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	stored->profiles = fg_xcalloc(stored->run.series_count, sizeof(struct fg_profile_set *));
	for (size_t i = 0; i < stored->run.series_count && status == FG_OK; i++)
		status = read_series(&reader, tree, &stored->run.series[i], &stored->profiles[i],
				     err);
	if (status == FG_OK)
		status = fg_values_end(&reader, err);
	fg_bytes_release(&content);
	return status;
}

static int open_dictionary(const struct fg_bundle *bundle, const struct fg_bundle_limits *limits,
			   struct fg_profile_set *tree, struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = fg_unpack(bundle->dictionary.data, bundle->dictionary.size,
			       limits->dictionary_bytes, &content, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "dictionary");
		return status;
	}
	status = read_dictionary(&content, limits, tree, err);
	fg_bytes_release(&content);
	return status;
}

int fg_bundle_to_run(const struct fg_bundle *bundle, const struct fg_bundle_limits *limits,
		     struct fg_stored_run *stored, struct fg_error *err)
{
	struct fg_stored_run s = {0};
	struct fg_profile_set tree = {0};
	int status = FG_OK;

	FG_TRY(fg_envelope_read(fg_strbuf_text(&bundle->envelope), bundle->envelope.length,
				limits->envelope_bytes, &s, err));
	fg_profile_set_init(&tree, "");
	status = open_dictionary(bundle, limits, &tree, err);
	if (status == FG_OK)
		status = read_values(bundle, limits, &tree, &s, err);
	fg_profile_set_release(&tree);
	if (status == FG_OK)
		*stored = s;
	else
		fg_stored_run_release(&s);
	return status;
}
