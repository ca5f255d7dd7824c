// SPDX-License-Identifier: Apache-2.0
/*
 * Files of valgrind's callgrind: instructions per function, calls per edge. With
 * `--separate-callers=N` a function's name includes its callers, `fit'loop'main`, which gives a
 * call path; without the option, only the direct caller is known, and only for calls.
 *
 * A recursive call has its depth after the name (`fit'2'main`); all depths of a function are merged
 * here. The input may be several files in a row, one per process: each begins with "version:" or
 * "creator:" and restarts the numbering of names.
 */
#include "binary/demangle.h"
#include "profile/exchange/import_formats.h"

static const uint32_t none = UINT32_MAX;

/* Values of a context. */
enum cost {
	INSTRUCTIONS,
	MISSES,
	FIRST_MISSES,
	BRANCH_MISSES,
	COSTS,
	OTHER = COSTS, /* an event that is ignored */
};

enum {
	COLUMNS_MAX = 32 /* columns that are read; others hold zeros or events of no interest */
};

/* A function with its callers, in one library. */
struct context {
	struct fg_text chain;
	struct fg_text library;
	double costs[COSTS];
};

struct edge {
	uint32_t caller; /* indexes into contexts */
	uint32_t callee;
	double calls;
};

struct reader {
	struct fg_import_sink *sink;
	struct fg_map names; /* kind, number → texts */
	struct fg_text *texts;
	size_t text_count, text_capacity;
	struct fg_map index; /* library NUL chain → contexts */
	struct context *contexts;
	size_t count, capacity;
	struct fg_map owners; /* chain, or the function alone → the first context that has it */
	struct fg_map edge_index;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	size_t positions; /* columns before the costs */
	enum cost columns[COLUMNS_MAX];
	size_t column_count; /* columns up to the last one that is read */
	bool has_events;
	bool has_title;
	struct fg_text library;
	struct fg_text callee_library;
	uint32_t function;
	uint32_t callee;
	double calls; /* calls whose cost is on the next line; negative: none */
};

static bool take(struct fg_text *line, const char *prefix)
{
	const size_t length = strlen(prefix);

	if (line->length < length || memcmp(line->text, prefix, length) != 0)
		return false;
	line->text += length;
	line->length -= length;
	return true;
}

static struct fg_text word(struct fg_text *rest)
{
	struct fg_text taken;

	while (rest->length > 0 && *rest->text == ' ') {
		rest->text++;
		rest->length--;
	}
	taken = (struct fg_text){rest->text, 0};
	while (taken.length < rest->length && rest->text[taken.length] != ' ')
		taken.length++;
	rest->text += taken.length;
	rest->length -= taken.length;
	return taken;
}

/* "(7) name" assigns a name to 7, "(7)" refers to it; "name" stands for itself. `kind`: o or f. */
static int name_of(struct reader *reader, char kind, struct fg_text spec, struct fg_text *name,
		   struct fg_error *err)
{
	const char *close = spec.length ? memchr(spec.text, ')', spec.length) : NULL;
	char key[24] = {kind};
	size_t length = 0;
	uint64_t *known = NULL;

	*name = spec;
	if (spec.length == 0 || *spec.text != '(' || !close || spec.text[1] < '0' ||
	    spec.text[1] > '9')
		return FG_OK;
	length = (size_t)(close - spec.text);
	if (length >= sizeof(key))
		return fg_error_set(err, FG_EPARSE, "a name's number is too long");
	memcpy(key + 1, spec.text + 1, length - 1);
	name->text = close + 1;
	name->length = spec.length - length - 1;
	while (name->length > 0 && *name->text == ' ') {
		name->text++;
		name->length--;
	}
	known = fg_map_get(&reader->names, key, length);
	if (name->length == 0) {
		if (!known)
			return fg_error_set(err, FG_EPARSE, "the name (%.*s) is not defined",
					    (int)length - 1, key + 1);
		*name = reader->texts[*known];
		return FG_OK;
	}
	if (known) {
		reader->texts[*known] = *name;
		return FG_OK;
	}
	(void)fg_map_add(&reader->names, key, length, reader->text_count, NULL);
	FG_APPEND(reader->texts, reader->text_count, reader->text_capacity) = *name;
	return FG_OK;
}

static size_t first_name(struct fg_text chain)
{
	const char *end = memchr(chain.text, '\'', chain.length);

	return end && end > chain.text ? (size_t)(end - chain.text) : chain.length;
}

static int context_of(struct reader *reader, struct fg_text spec, struct fg_text library,
		      uint32_t *index, struct fg_error *err)
{
	struct fg_text chain = {0};
	struct fg_strbuf key = {0};
	uint64_t *at = NULL;
	bool added = false;

	FG_TRY(name_of(reader, 'f', spec, &chain, err));
	if (chain.length == 0)
		chain = (struct fg_text){"???", 3};
	if (reader->count >= FG_IMPORT_MAX_STACKS)
		return fg_error_set(err, FG_ELIMIT, "the file has more than %d call paths",
				    FG_IMPORT_MAX_STACKS);
	fg_strbuf_add(&key, library.text ? library.text : "", library.length);
	fg_strbuf_add(&key, "", 1);
	fg_strbuf_add(&key, chain.text, chain.length);
	at = fg_map_add(&reader->index, fg_strbuf_text(&key), key.length, reader->count, &added);
	*index = (uint32_t)*at;
	fg_strbuf_release(&key);
	if (!added)
		return FG_OK;
	(void)fg_map_add(&reader->owners, chain.text, chain.length, reader->count, NULL);
	(void)fg_map_add(&reader->owners, chain.text, first_name(chain), reader->count, NULL);
	FG_APPEND(reader->contexts, reader->count, reader->capacity) =
		(struct context){.chain = chain, .library = library};
	return FG_OK;
}

static void add_calls(struct reader *reader)
{
	const uint32_t key[2] = {reader->function, reader->callee};
	bool added = false;
	uint64_t *at = fg_map_add(&reader->edge_index, (const char *)key, sizeof(key),
				  reader->edge_count, &added);

	if (added) {
		FG_APPEND(reader->edges, reader->edge_count, reader->edge_capacity) =
			(struct edge){.caller = key[0], .callee = key[1]};
	}
	reader->edges[*at].calls += reader->calls;
}

static int read_cost(struct reader *reader, struct fg_text line, struct fg_error *err)
{
	struct context *context = NULL;

	if (reader->function == none)
		return fg_error_set(err, FG_EPARSE, "a cost is outside any function");
	/* This line has the cost of a call, which the callee's own lines already count. */
	if (reader->calls >= 0) {
		if (reader->calls > 0)
			add_calls(reader);
		reader->calls = -1;
		return FG_OK;
	}
	for (size_t i = 0; i < reader->positions; i++)
		(void)word(&line);
	context = &reader->contexts[reader->function];
	for (size_t i = 0; i < reader->column_count; i++) {
		const struct fg_text number = word(&line);
		double value = 0;

		if (number.length == 0)
			break; /* zeros at the end may be left out */
		if (reader->columns[i] == OTHER)
			continue;
		if (!fg_parse_weight(number, &value))
			return fg_error_set(err, FG_EPARSE, "'%.*s' is not a count",
					    (int)fg_min_size(number.length, 40), number.text);
		context->costs[reader->columns[i]] += value;
	}
	return FG_OK;
}

static enum cost cost_of(struct fg_text event)
{
	static const struct {
		const char *name;
		enum cost cost;
	} events[] = {
		{"Ir", INSTRUCTIONS},   {"ILmr", MISSES},       {"DLmr", MISSES},
		{"DLmw", MISSES},       {"I1mr", FIRST_MISSES}, {"D1mr", FIRST_MISSES},
		{"D1mw", FIRST_MISSES}, {"Bcm", BRANCH_MISSES}, {"Bim", BRANCH_MISSES},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(events); i++) {
		if (event.length == strlen(events[i].name) &&
		    memcmp(event.text, events[i].name, event.length) == 0)
			return events[i].cost;
	}
	return OTHER;
}

static int read_events(struct reader *reader, struct fg_text line, struct fg_error *err)
{
	bool has_instructions = false;

	reader->column_count = 0;
	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		const struct fg_text event = word(&line);

		if (event.length == 0)
			break;
		reader->columns[i] = cost_of(event);
		if (reader->columns[i] != OTHER)
			reader->column_count = i + 1;
		has_instructions |= reader->columns[i] == INSTRUCTIONS;
	}
	if (!has_instructions)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the file counts no instructions (event 'Ir')");
	reader->has_events = true;
	return FG_OK;
}

/* Begins a file, in which the numbers stand for other names than in the previous file. */
static void begin_file(struct reader *reader)
{
	fg_map_release(&reader->names);
	reader->names = (struct fg_map){0};
	reader->library = reader->callee_library = (struct fg_text){0};
	reader->function = reader->callee = none;
	reader->calls = -1;
	reader->positions = 1;
}

static int read_calls(struct reader *reader, struct fg_text line, struct fg_error *err)
{
	const struct fg_text number = word(&line);

	if (reader->callee == none || reader->function == none)
		return fg_error_set(err, FG_EPARSE, "the called function is not named");
	if (!fg_parse_weight(number, &reader->calls))
		return fg_error_set(err, FG_EPARSE, "'%.*s' is not a number of calls",
				    (int)fg_min_size(number.length, 40), number.text);
	reader->callee_library = reader->library;
	return FG_OK;
}

/* Takes the first program's command as the title. */
static void take_title(struct reader *reader, struct fg_text line)
{
	const char *command = NULL;

	for (; line.length > 0 && *line.text == ' '; line.text++)
		line.length--;
	command = fg_sink_text(reader->sink, line);
	if (command)
		reader->sink->profile->title = command;
	reader->has_title = true;
}

static int read_line(struct reader *reader, struct fg_text line, struct fg_error *err)
{
	if (take(&line, "fn=")) {
		reader->calls = -1;
		return context_of(reader, line, reader->library, &reader->function, err);
	}
	if (take(&line, "cfn="))
		return context_of(reader, line, reader->callee_library, &reader->callee, err);
	if (take(&line, "ob=")) {
		const int status = name_of(reader, 'o', line, &reader->library, err);

		reader->callee_library = reader->library;
		return status;
	}
	if (take(&line, "cob="))
		return name_of(reader, 'o', line, &reader->callee_library, err);
	if (take(&line, "calls="))
		return read_calls(reader, line, err);
	if (take(&line, "jump=") || take(&line, "jcnd=")) {
		reader->calls = 0; /* the next line is the source of the jump, not a cost */
		return FG_OK;
	}
	if (line.length > 0 && *line.text && strchr("0123456789+-*", *line.text))
		return read_cost(reader, line, err);
	if (take(&line, "events:"))
		return read_events(reader, line, err);
	if (take(&line, "positions:")) {
		for (reader->positions = 0; word(&line).length > 0;)
			reader->positions++;
		return FG_OK;
	}
	if (take(&line, "creator:"))
		begin_file(reader);
	else if (!reader->has_title && take(&line, "cmd:"))
		take_title(reader, line);
	return FG_OK; /* other headers, source files, totals */
}

/* ---- stacks ---- */

static bool is_depth(struct fg_text part)
{
	for (size_t i = 0; i < part.length; i++) {
		if (part.text[i] < '0' || part.text[i] > '9')
			return false;
	}
	return part.length > 0;
}

static bool is_nameless(struct fg_text name)
{
	return (name.length > 2 && memcmp(name.text, "0x", 2) == 0) ||
	       (name.length == 3 && memcmp(name.text, "???", 3) == 0);
}

static int push_function(struct reader *reader, struct fg_text name, struct fg_text library,
			 struct fg_error *err)
{
	struct fg_import_sink *sink = reader->sink;
	const char *version = memchr(name.text, '@', name.length);
	struct fg_strbuf text = {0};
	struct fg_strbuf key = {0};
	const uint64_t *known = NULL;
	uint32_t index = 0;
	int status = FG_OK;

	if (version && version > name.text)
		name.length = (size_t)(version - name.text); /* memcpy@@GLIBC_2.14 */
	fg_strbuf_add(&key, library.text ? library.text : "", library.length);
	fg_strbuf_add(&key, "", 1);
	fg_strbuf_add(&key, name.text, name.length);
	known = fg_map_get(&sink->known, fg_strbuf_text(&key), key.length);
	if (known) {
		index = (uint32_t)*known;
	} else {
		struct fg_import_frame frame = {.name = name, .library = library};
		char *linkage = fg_xstrndup(name.text, name.length);

		if (fg_demangle(linkage, &text)) {
			frame.linkage = name;
			frame.name = (struct fg_text){fg_strbuf_text(&text), text.length};
		}
		frame.nameless = is_nameless(name);
		status = fg_sink_frame(sink, &frame, &index, err);
		(void)fg_map_add(&sink->known, fg_strbuf_text(&key), key.length, index, NULL);
		free(linkage);
	}
	fg_strbuf_release(&text);
	fg_strbuf_release(&key);
	return status == FG_OK ? fg_sink_push(sink, index, err) : status;
}

/*
 * Returns the library of a caller, taken from the context with the rest of the chain or, failing
 * that, from any context with the caller's name.
 */
static struct fg_text owner_of(const struct reader *reader, struct fg_text rest)
{
	const uint64_t *found = fg_map_get(&reader->owners, rest.text, rest.length);

	if (!found)
		found = fg_map_get(&reader->owners, rest.text, first_name(rest));
	return found ? reader->contexts[*found].library : (struct fg_text){0};
}

/*
 * Pushes frames from the root, which is at the end of the chain. A root without a name stands for
 * the kernel's entry into the dynamic linker, which does not call the program but jumps to it.
 */
static int push_chain(struct reader *reader, uint32_t index, struct fg_error *err)
{
	const struct context *context = &reader->contexts[index];
	const struct fg_text chain = context->chain;
	size_t end = chain.length;
	int status = FG_OK;

	while (end > 0 && status == FG_OK) {
		size_t start = end;
		struct fg_text rest;
		struct fg_text name;

		while (start > 0 && chain.text[start - 1] != '\'')
			start--;
		rest = (struct fg_text){chain.text + start, chain.length - start};
		name = (struct fg_text){rest.text, end - start};
		if (name.length > 0 && (start == 0 || !is_depth(name)) &&
		    (start == 0 || end < chain.length || !is_nameless(name)))
			status = push_function(
				reader, name,
				start == 0 ? context->library : owner_of(reader, rest), err);
		end = start > 0 ? start - 1 : 0;
	}
	return status;
}

static int add_edges(struct reader *reader, uint16_t calls, struct fg_error *err)
{
	for (size_t i = 0; i < reader->edge_count; i++) {
		const struct edge *edge = &reader->edges[i];
		const struct fg_text chain = reader->contexts[edge->callee].chain;

		fg_sink_begin(reader->sink);
		if (first_name(chain) == chain.length)
			FG_TRY(push_chain(reader, edge->caller, err));
		FG_TRY(push_chain(reader, edge->callee, err));
		fg_sink_end(reader->sink, calls, edge->calls, edge->calls);
	}
	return FG_OK;
}

/* Finds or adds the measures for the events in the file. */
static void find_measures(const struct reader *reader, uint16_t ids[COSTS])
{
	static const char *const names[COSTS] = {
		[MISSES] = "cache.misses",
		[FIRST_MISSES] = "cache.first_misses",
		[BRANCH_MISSES] = "branch.misses",
	};

	for (size_t i = 0; i < reader->column_count; i++) {
		const enum cost cost = reader->columns[i];

		if (cost == OTHER || cost == INSTRUCTIONS)
			continue;
		const struct fg_measure measure = fg_measure_describe(names[cost], NULL);

		ids[cost] = fg_profile_measure(reader->sink->profile, &measure);
	}
}

static int add_stacks(struct reader *reader, struct fg_error *err)
{
	const struct fg_measure instructions = fg_measure_describe("instructions", NULL);
	const struct fg_measure calls = fg_measure_describe("calls", NULL);
	uint16_t ids[COSTS] = {0};
	uint16_t id = 0;

	fg_profile_set_first_measure(reader->sink->profile, &instructions);
	id = fg_profile_measure(reader->sink->profile, &calls);
	find_measures(reader, ids);
	for (uint32_t i = 0; i < reader->count; i++) {
		const double *costs = reader->contexts[i].costs;

		if (!(costs[INSTRUCTIONS] > 0))
			continue;
		fg_sink_begin(reader->sink);
		FG_TRY(push_chain(reader, i, err));
		for (size_t c = 0; c < COSTS; c++)
			fg_sink_end(reader->sink, ids[c], costs[c],
				    c == INSTRUCTIONS ? 1 : costs[c]);
	}
	return add_edges(reader, id, err);
}

bool fg_import_callgrind_is(const char *data, size_t size)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	struct fg_text line = {0};

	if (!fg_is_text(data, size))
		return false;
	while (lines.number < 8 && fg_lines_next(&lines, &line)) {
		if (take(&line, "# callgrind format") || take(&line, "creator: callgrind"))
			return true;
	}
	return false;
}

int fg_import_callgrind_read(const char *data, size_t size, const struct fg_import_options *options,
			     struct fg_import_sink *sink, struct fg_error *err)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	struct reader reader = {.sink = sink};
	struct fg_text line = {0};
	int status = FG_OK;

	(void)options;
	begin_file(&reader);
	while (fg_lines_next(&lines, &line)) {
		status = read_line(&reader, line, err);
		if (status != FG_OK) {
			fg_error_prefix(err, "line %zu", lines.number);
			goto out;
		}
	}
	if (!reader.has_events) {
		status = fg_error_set(err, FG_EPARSE, "the line 'events:' is missing");
		goto out;
	}
	status = add_stacks(&reader, err);
out:
	fg_map_release(&reader.names);
	fg_map_release(&reader.index);
	fg_map_release(&reader.owners);
	fg_map_release(&reader.edge_index);
	free(reader.texts);
	free(reader.contexts);
	free(reader.edges);
	return status;
}
