// SPDX-License-Identifier: Apache-2.0
/*
 * What `perf script` prints.  A sample is a line that names the thread and the event, then one line
 * a frame from the leaf to the root, then an empty line:
 *
 *	prog  4711 [000]  1234.567890:    1000000 cpu-clock:u:
 *	            55e0a3c1 fit(Track&)+0x21 (/home/me/prog)
 *	            55e0a2b0 main+0x40 (/home/me/prog)
 *
 * Recorded without call chains, the only frame stands on the line itself.  The clock events count
 * nanoseconds; the period of any other (cycles, cache misses) is not time, so each of its samples
 * weighs the same and a note says so.
 */
#include "base/text.h"
#include "profile/exchange/import_formats.h"
#include "profile/exchange/import_lines.h"
#include "profile/exchange/import_sink.h"

enum {
	DEFAULT_PERIOD_NS = 1000000
};

struct head {
	struct fg_text command;
	struct fg_text thread; /* "4711" or "4711/4712" */
	struct fg_text event;
	struct fg_text frame; /* of a sample without a call chain */
	int64_t time_ns;
	double period; /* as printed; 0: none */
};

struct reader {
	struct fg_import_sink *sink;
	double period_ns;
	struct fg_text *stack; /* frame lines of the sample, leaf first */
	size_t depth;
	size_t capacity;
	struct head head;
	bool in_sample;
	size_t uniform;        /* samples of events that do not count time */
	struct fg_map threads; /* command, blank, number → index */
	int64_t first_ns;
	int64_t last_ns;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct fg_text trim(const char *text, size_t length)
{
	while (length > 0 && is_blank(*text)) {
		text++;
		length--;
	}
	while (length > 0 && is_blank(text[length - 1]))
		length--;
	return (struct fg_text){text, length};
}

static struct fg_text word(struct fg_text *rest)
{
	size_t used = 0;
	struct fg_text taken = {0};

	*rest = trim(rest->text, rest->length);
	while (used < rest->length && !is_blank(rest->text[used]))
		used++;
	taken = (struct fg_text){rest->text, used};
	*rest = trim(rest->text + used, rest->length - used);
	return taken;
}

static bool is_digits(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
	}
	return length > 0;
}

/* "1234.567890:": what every sample line has, and what splits the thread from the event. */
static bool parse_time(struct fg_text w, int64_t *time_ns)
{
	const char *point = w.length > 0 ? memchr(w.text, '.', w.length) : NULL;
	const size_t whole = point ? (size_t)(point - w.text) : 0;
	const size_t digits = point ? w.length - whole - 2 : 0; /* the point and the colon */
	int64_t seconds = 0;
	int64_t fraction = 0;

	if (!point || w.length < whole + 3 || w.text[w.length - 1] != ':' || whole > 9 ||
	    digits > 9 || !is_digits(w.text, whole) || !is_digits(point + 1, digits))
		return false;
	for (size_t i = 0; i < whole; i++)
		seconds = seconds * 10 + (w.text[i] - '0');
	for (size_t i = 0; i < 9; i++)
		fraction = fraction * 10 + (i < digits ? point[1 + i] - '0' : 0);
	*time_ns = seconds * 1000000000 + fraction;
	return true;
}

/* Whether `w` is "4711" or "4711/4712". */
static bool is_thread(struct fg_text w)
{
	const char *slash = memchr(w.text, '/', w.length);

	if (!slash)
		return is_digits(w.text, w.length);
	return is_digits(w.text, (size_t)(slash - w.text)) &&
	       is_digits(slash + 1, w.length - (size_t)(slash - w.text) - 1);
}

/* A command may contain blanks, so it ends before the last word that is a thread number. */
static bool parse_head(const char *line, size_t length, struct head *head)
{
	struct fg_text rest = trim(line, length);
	const char *command_end = NULL;
	const char *start = rest.text;
	bool timed = false;

	*head = (struct head){0};
	while (rest.length > 0 && !timed) {
		const struct fg_text w = word(&rest);

		if (parse_time(w, &head->time_ns)) {
			timed = true;
		} else if (is_thread(w) && w.text > start) {
			command_end = w.text;
			head->thread = w;
		}
	}
	if (!timed || !command_end)
		return false;
	head->command = trim(start, (size_t)(command_end - start));
	head->event = word(&rest);
	if (fg_parse_weight(head->event.text, head->event.length, &head->period))
		head->event = word(&rest);
	if (head->event.length < 2 || head->event.text[head->event.length - 1] != ':')
		return false;
	head->event.length--;
	head->frame = rest;
	return true;
}

bool fg_import_perf_is(const char *data, size_t size)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	const char *line = NULL;
	size_t length = 0;
	struct head head = {0};

	if (!fg_is_text(data, size))
		return false;
	while (fg_lines_next(&lines, &line, &length)) {
		if (length > 0 && line[0] != '#')
			return parse_head(line, length, &head);
	}
	return false;
}

static bool is_text(struct fg_text w, const char *text)
{
	return w.length == strlen(text) && memcmp(w.text, text, w.length) == 0;
}

/* Cuts "(/usr/lib/libc.so.6)" off the end. */
static void take_library(struct fg_text *rest, struct fg_perf_frame *frame)
{
	size_t open = rest->length;

	if (rest->length == 0 || rest->text[rest->length - 1] != ')')
		return;
	while (open > 0 &&
	       !(rest->text[open - 1] == '(' && (open == 1 || is_blank(rest->text[open - 2]))))
		open--;
	if (open == 0)
		return;
	frame->library = (struct fg_text){rest->text + open, rest->length - open - 1};
	*rest = trim(rest->text, open - 1);
	frame->inlined = is_text(frame->library, "inlined");
	if (frame->inlined || is_text(frame->library, "[unknown]"))
		frame->library = (struct fg_text){0};
}

/* Cuts "+0x1f" off the end. */
static void take_offset(struct fg_text *name)
{
	for (size_t i = name->length; i-- > 1;) {
		if (name->text[i] == '+' && i + 2 < name->length && name->text[i + 1] == '0' &&
		    name->text[i + 2] == 'x') {
			name->length = i;
			return;
		}
	}
}

/* "55e0a3c1 fit(Track&)+0x21 (/home/me/prog)" */
static int frame_of(struct reader *reader, struct fg_text text, uint32_t *index,
		    struct fg_error *err)
{
	struct fg_map *known = &reader->sink->known;
	const uint64_t *seen = fg_map_get(known, text.text, text.length);
	struct fg_text rest = text;
	const struct fg_text address = word(&rest);
	struct fg_perf_frame frame = {0};
	int status = FG_OK;

	if (seen) {
		*index = (uint32_t)*seen;
		return FG_OK;
	}
	if (rest.length == 0)
		rest = address; /* a name alone */
	take_library(&rest, &frame);
	take_offset(&rest);
	frame.name = rest;
	frame.nameless = is_text(rest, "[unknown]");
	status = fg_sink_frame(reader->sink, &frame, index, err);
	if (status != FG_OK)
		return status;
	(void)fg_map_add(known, text.text, text.length, *index, NULL);
	return FG_OK;
}

static int add_frame(struct reader *reader, struct fg_text text, struct fg_error *err)
{
	uint32_t index = 0;
	int status = frame_of(reader, text, &index, err);

	return status == FG_OK ? fg_sink_push(reader->sink, index, err) : status;
}

static uint32_t number_of(struct fg_text text)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text.length && number <= UINT32_MAX; i++)
		number = number * 10 + (uint64_t)(text.text[i] - '0');
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static uint32_t thread_of(struct reader *reader, const struct head *head)
{
	struct fg_profile *profile = reader->sink->profile;
	const char *slash = memchr(head->thread.text, '/', head->thread.length);
	const size_t process = slash ? (size_t)(slash - head->thread.text) : head->thread.length;
	const struct fg_text tid =
		slash ? (struct fg_text){slash + 1, head->thread.length - process - 1}
		      : head->thread;
	struct fg_strbuf name = {0};
	bool is_new = false;
	uint64_t *place = NULL;

	fg_text_add_clean(&name, head->command.text, head->command.length, FG_IMPORT_MAX_NAME);
	fg_strbuf_add_char(&name, ' ');
	fg_strbuf_add(&name, head->thread.text, head->thread.length);
	place = fg_map_add(&reader->threads, name.data, name.length, profile->thread_count,
			   &is_new);
	if (is_new) {
		struct fg_process_info *owner = fg_profile_add_process(profile);
		struct fg_thread_info *thread = fg_profile_add_thread(profile);

		owner->pid = number_of((struct fg_text){head->thread.text, process});
		thread->process = (uint32_t)profile->process_count - 1;
		thread->tid = number_of(tid);
		name.data[name.length - head->thread.length - 1] = '\0';
		thread->name = fg_profile_text(profile, name.data);
		owner->executable = thread->name;
		owner->command = thread->name;
	}
	fg_strbuf_release(&name);
	return (uint32_t)*place;
}

static bool counts_time(struct fg_text event)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(clocks); i++) {
		const size_t length = strlen(clocks[i]);

		if (event.length >= length && memcmp(event.text, clocks[i], length) == 0)
			return true;
	}
	return false;
}

static int push_stack(struct reader *reader, struct fg_error *err)
{
	const struct head *head = &reader->head;
	const struct fg_perf_frame command = {.name = head->command};
	uint32_t index = 0;
	int status = fg_sink_frame(reader->sink, &command, &index, err);

	fg_sink_begin(reader->sink);
	if (status != FG_OK)
		return status;
	status = fg_sink_push(reader->sink, index, err);
	if (status != FG_OK)
		return status;
	for (size_t i = reader->depth; i-- > 0 && status == FG_OK;)
		status = add_frame(reader, reader->stack[i], err);
	if (status != FG_OK)
		return status;
	if (head->frame.length > 0 && reader->depth == 0)
		return add_frame(reader, head->frame, err);
	return FG_OK;
}

static int end_sample(struct reader *reader, struct fg_error *err)
{
	const struct head *head = &reader->head;
	struct fg_sample *sample = NULL;
	double weight = reader->period_ns;
	int status = FG_OK;

	if (!reader->in_sample)
		return FG_OK;
	reader->in_sample = false;
	status = push_stack(reader, err);
	if (status != FG_OK)
		return status;
	if (head->period > 0 && counts_time(head->event))
		weight = head->period;
	else
		reader->uniform++;
	if (reader->sink->profile->sample_count == 0 || head->time_ns < reader->first_ns)
		reader->first_ns = head->time_ns;
	if (head->time_ns > reader->last_ns)
		reader->last_ns = head->time_ns;
	sample = fg_sink_end(reader->sink, 0, weight, 1);
	if (sample) {
		sample->thread = thread_of(reader, head);
		sample->time_ns = head->time_ns;
	}
	return FG_OK;
}

static int by_thread_and_time(const void *left, const void *right)
{
	const struct fg_sample *a = left;
	const struct fg_sample *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/*
 * Times become times since the first sample, and samples stand in the order that a profile
 * promises.
 */
static void set_times(struct reader *reader)
{
	struct fg_profile *profile = reader->sink->profile;

	for (size_t i = 0; i < profile->sample_count; i++)
		profile->samples[i].time_ns -= reader->first_ns;
	if (profile->sample_count > 1)
		qsort(profile->samples, profile->sample_count, sizeof(*profile->samples),
		      by_thread_and_time);
	profile->has_times = profile->sample_count > 0;
	profile->duration_ns = reader->last_ns - reader->first_ns;
}

static int take_line(struct reader *reader, const char *line, size_t length, struct fg_error *err)
{
	const struct fg_text text = trim(line, length);
	struct head head = {0};
	const bool is_head = parse_head(line, length, &head);

	if (text.length == 0)
		return end_sample(reader, err);
	if (is_head || !is_blank(line[0]) || !reader->in_sample) {
		int status = end_sample(reader, err);

		if (status != FG_OK)
			return status;
		if (!is_head)
			return fg_error_set(err, FG_EPARSE,
					    "'%.*s' is not the start of a sample (command, thread, "
					    "time and event)",
					    (int)fg_min_size(length, 60), line);
		reader->head = head;
		reader->in_sample = true;
		reader->depth = 0;
		return FG_OK;
	}
	if (reader->depth >= FG_IMPORT_MAX_DEPTH)
		return fg_error_set(err, FG_ELIMIT, "a stack of more than %d frames",
				    FG_IMPORT_MAX_DEPTH);
	reader->stack = fg_grow(reader->stack, &reader->capacity, reader->depth + 1,
				sizeof(*reader->stack));
	reader->stack[reader->depth++] = text;
	return FG_OK;
}

int fg_import_perf_read(const char *data, size_t size, const struct fg_import_options *options,
			struct fg_import_sink *sink, struct fg_error *err)
{
	struct fg_text_lines lines = {.at = data, .end = data + size};
	struct reader reader = {
		.sink = sink,
		.period_ns = (double)(options->period_ns ? options->period_ns : DEFAULT_PERIOD_NS),
	};
	const char *line = NULL;
	size_t length = 0;
	int status = FG_OK;

	while (status == FG_OK && fg_lines_next(&lines, &line, &length)) {
		if (length > 0 && line[0] == '#')
			continue;
		status = take_line(&reader, line, length, err);
	}
	if (status == FG_OK)
		status = end_sample(&reader, err);
	if (status != FG_OK)
		fg_error_prefix(err, "line %zu", lines.number);
	else
		set_times(&reader);
	if (status == FG_OK && reader.uniform > 0 && options->period_ns == 0)
		fg_profile_add_note(
			sink->profile,
			"%zu samples of events that do not count time are taken as 1 ms "
			"each (--period changes it)",
			reader.uniform);
	fg_map_release(&reader.threads);
	free(reader.stack);
	return status;
}
