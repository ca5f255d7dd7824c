// SPDX-License-Identifier: Apache-2.0
#include "profile/selection.h"

/* ------------------------------------------------------------------ patterns */

static int compile_list(struct fg_patterns *patterns, const char *const *texts, const char *what,
			struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; texts && texts[i]; i++) {
		if (i == FG_MAX_PATTERNS)
			return fg_error_set(err, FG_ELIMIT, "more than %d %s patterns",
					    FG_MAX_PATTERNS, what);
		status = fg_pattern_compile(texts[i], &patterns->items[i], err);
		if (status != FG_OK) {
			fg_error_prefix(err, "%s", what);
			return status;
		}
		patterns->count++;
	}
	return status;
}

static int compile_one(struct fg_patterns *patterns, const char *text, const char *what,
		       struct fg_error *err)
{
	const char *const list[] = {text, NULL};

	return compile_list(patterns, list, what, err);
}

static int compile_renames(struct fg_selection *s, struct fg_error *err)
{
	const char *const *rules = s->query->rename;

	for (size_t i = 0; rules && rules[i]; i++) {
		if (i == FG_MAX_PATTERNS)
			return fg_error_set(err, FG_ELIMIT, "more than %d rename rules",
					    FG_MAX_PATTERNS);
		FG_TRY(fg_rename_parse(rules[i], &s->renames[i], err));
		s->rename_count++;
	}
	return FG_OK;
}

static int compile(struct fg_selection *s, struct fg_error *err)
{
	const struct fg_calltree_query *q = s->query;
	const struct {
		struct fg_patterns *into;
		const char *const *texts; /* NULL: one text */
		const char *text, *what;
	} wanted[] = {
		{&s->focus, q->focus, NULL, "focus"},
		{&s->ignore, q->ignore, NULL, "ignore"},
		{&s->hide, q->hide, NULL, "hide"},
		{&s->ancestors, q->ancestors, NULL, "ancestor"},
		{&s->root, NULL, q->root, "root"},
		{&s->leaf, NULL, q->leaf, "leaf"},
		{&s->thread, NULL, q->thread, "thread"},
		{&s->region, NULL, q->region, "region"},
		{&s->unit_kind, NULL, q->unit_kind, "unit"},
	};
	int status = FG_OK;

	for (size_t i = 0; status == FG_OK && i < FG_ARRAY_SIZE(wanted); i++)
		status =
			wanted[i].texts
				? compile_list(wanted[i].into, wanted[i].texts, wanted[i].what, err)
				: compile_one(wanted[i].into, wanted[i].text, wanted[i].what, err);
	return status == FG_OK ? compile_renames(s, err) : status;
}

/* Returns 1 + the index of the first pattern that matches; 0: none. */
static uint32_t first_match(const struct fg_patterns *patterns, const char *subject)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fg_pattern_matches(&patterns->items[i], subject))
			return (uint32_t)i + 1;
	return 0;
}

static bool looks_at_functions(const struct fg_selection *s)
{
	return s->focus.count + s->ignore.count + s->hide.count + s->ancestors.count +
		       s->root.count + s->leaf.count >
	       0;
}

bool fg_matches_function(const struct fg_pattern *pattern, const char *name, const char *library)
{
	char *whole;
	bool matches;

	if (!pattern->set || fg_pattern_matches(pattern, name) || !library)
		return fg_pattern_matches(pattern, name);
	whole = fg_xasprintf("%s [%s]", name, library);
	matches = fg_pattern_matches(pattern, whole);
	free(whole);
	return matches;
}

/* Returns 1 + the index of the first pattern that matches the function; 0: none. */
static uint32_t first_of_function(const struct fg_patterns *patterns,
				  const struct fg_profile_function *function)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fg_matches_function(&patterns->items[i], function->name, function->library))
			return (uint32_t)i + 1;
	return 0;
}

static void learn_functions(struct fg_selection *s)
{
	s->functions = fg_xcalloc(s->profile->function_count, sizeof(s->functions[0]));
	if (!looks_at_functions(s))
		return;
	for (size_t i = 1; i < s->profile->function_count; i++) {
		const struct fg_profile_function *function = &s->profile->functions[i];
		struct fg_function_facts *facts = &s->functions[i];

		for (size_t f = 0; f < s->focus.count; f++)
			if (fg_matches_function(&s->focus.items[f], function->name,
						function->library))
				facts->focus |= UINT32_C(1) << f;
		facts->ignore = first_of_function(&s->ignore, function) != 0;
		facts->hide = first_of_function(&s->hide, function) != 0;
		facts->root = first_of_function(&s->root, function) != 0;
		facts->leaf = first_of_function(&s->leaf, function) != 0;
		facts->ancestor = first_of_function(&s->ancestors, function);
	}
}

static void learn_stacks(struct fg_selection *s)
{
	const struct fg_profile *profile = s->profile;

	s->stacks = fg_xcalloc(profile->stack_count, sizeof(s->stacks[0]));
	for (size_t i = 1; i < profile->stack_count; i++) {
		uint32_t parent = profile->stacks[i].parent;
		const struct fg_frame *frame = &profile->frames[profile->stacks[i].frame];
		const struct fg_frame *above = &profile->frames[profile->stacks[parent].frame];
		const struct fg_function_facts *facts = &s->functions[frame->function];
		const struct fg_stack_facts *up = &s->stacks[parent];

		s->stacks[i] = (struct fg_stack_facts){
			.focus = up->focus | facts->focus,
			.ignored = up->ignored || facts->ignore,
			.top = up->top || !facts->root ? up->top : (uint32_t)i,
			.cut = facts->leaf ? (uint32_t)i : up->cut,
			.ancestor = s->functions[above->function].ancestor ? parent : up->ancestor,
		};
	}
}

/* --------------------------------------------------------------------- names */

static void shorten(const struct fg_selection *s, struct fg_strbuf *name)
{
	struct fg_strbuf next = {0};

	if (s->query->collapse_templates) {
		fg_name_collapse_templates(fg_strbuf_text(name), &next);
		fg_strbuf_release(name);
		*name = next;
		next = (struct fg_strbuf){0};
	}
	for (size_t i = 0; i < s->rename_count; i++) {
		if (!fg_rename_apply(&s->renames[i], fg_strbuf_text(name), &next))
			continue;
		fg_strbuf_release(name);
		*name = next;
		next = (struct fg_strbuf){0};
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Returns the function's library, or "" if unknown. The kernel counts as a library. */
static const char *library_of(const struct fg_profile_function *function)
{
	if (!*function->library && strcmp(function->name, "[kernel]") == 0)
		return function->name;
	return function->library;
}

static void name_function(const struct fg_selection *s, const struct fg_profile_function *function,
			  struct fg_label *label, struct fg_strbuf *name)
{
	bool mangled = s->query->mangled && function->linkage;

	fg_strbuf_add_text(name, mangled ? function->linkage : function->name);
	label->library = library_of(function);
	label->file = function->file;
	label->line = function->line;
	label->linkage = function->linkage;
}

static void name_scope(const struct fg_profile_function *function, bool outer,
		       struct fg_strbuf *name)
{
	if (outer)
		fg_name_namespace(function->name, name);
	else
		fg_name_scope(function->name, name);
	if (name->length == 0) {
		const char *library = library_of(function);

		/* "[kernel]" and "[JIT]" are not libraries. */
		if (*library != '[')
			fg_strbuf_printf(name, "(global)%s", *library ? " " : "");
		fg_strbuf_add_text(name, library);
	}
}

static void name_line(const struct fg_selection *s, const struct fg_frame *frame,
		      struct fg_label *label, struct fg_strbuf *name)
{
	const struct fg_profile_function *function = &s->profile->functions[frame->function];

	if (!frame->file) {
		name_function(s, function, label, name);
		return;
	}
	fg_strbuf_printf(name, "%s:%u", base_name(frame->file), frame->line);
	label->file = frame->file;
	label->line = frame->line;
	label->library = function->library;
}

void fg_selection_name(const struct fg_selection *s, const struct fg_frame *frame,
		       struct fg_label *label, struct fg_strbuf *name)
{
	const struct fg_profile_function *function = &s->profile->functions[frame->function];

	*label = (struct fg_label){.flags = frame->flags};
	switch (frame->flags & FG_FRAME_MARK ? FG_GROUP_FUNCTION : s->query->group) {
	case FG_GROUP_LINE:
		name_line(s, frame, label, name);
		break;
	case FG_GROUP_CLASS:
	case FG_GROUP_NAMESPACE:
		name_scope(function, s->query->group == FG_GROUP_NAMESPACE, name);
		break;
	case FG_GROUP_LIBRARY:
		fg_strbuf_add_text(name, *library_of(function) ? library_of(function)
							       : "(unknown library)");
		break;
	case FG_GROUP_FILE:
		fg_strbuf_add_text(name, function->file ? function->file : "(unknown file)");
		label->file = function->file;
		break;
	case FG_GROUP_FUNCTION:
	case FG_GROUP_COUNT:
	default:
		name_function(s, function, label, name);
		break;
	}
	shorten(s, name);
	if (s->rename_count > 0)
		label->identity = FG_LABEL_NAME;
	else if (s->query->group == FG_GROUP_LINE && label->file)
		label->identity = FG_LABEL_FILE;
	if (fg_selection_merges_neighbours(s))
		label->line = 0;
}

bool fg_selection_merges_neighbours(const struct fg_selection *s)
{
	return s->query->group != FG_GROUP_FUNCTION && s->query->group != FG_GROUP_LINE;
}

uint32_t fg_selection_ancestor(const struct fg_selection *s, uint32_t stack)
{
	return s->stacks ? s->stacks[stack].ancestor : 0;
}

/* ------------------------------------------------------------------- filters */

static void learn_threads(struct fg_selection *s)
{
	struct fg_strbuf subject = {0};

	s->thread_passes = fg_xcalloc(s->profile->thread_count + 1, sizeof(bool));
	for (size_t i = 0; i < s->profile->thread_count; i++) {
		const struct fg_thread_info *info = &s->profile->threads[i];

		fg_strbuf_clear(&subject);
		fg_strbuf_printf(&subject, "%s (%u)", info->name ? info->name : "thread",
				 info->tid);
		s->thread_passes[i] = first_match(&s->thread, fg_strbuf_text(&subject)) != 0;
	}
	fg_strbuf_release(&subject);
}

static void learn_regions(struct fg_selection *s)
{
	s->region_passes = fg_xcalloc(s->profile->region_count, sizeof(bool));
	for (size_t i = 0; i < s->profile->region_count; i++)
		s->region_passes[i] = first_match(&s->region, s->profile->regions[i].path) != 0;
}

static void learn_units(struct fg_selection *s)
{
	const struct fg_calltree_query *q = s->query;

	s->unit_passes = fg_xcalloc(s->profile->unit_count, sizeof(bool));
	for (size_t i = 1; i < s->profile->unit_count; i++) {
		const struct fg_unit_info *info = &s->profile->units[i];

		s->unit_passes[i] =
			info->number >= q->unit_first &&
			(q->unit_last == 0 || info->number <= q->unit_last) &&
			(s->unit_kind.count == 0 || first_match(&s->unit_kind, info->kind) != 0);
	}
}

static bool in_place(const struct fg_selection *s, const struct fg_sample *sample)
{
	if (s->thread_passes &&
	    (sample->thread >= s->profile->thread_count || !s->thread_passes[sample->thread]))
		return false;
	if (s->region_passes && !s->region_passes[sample->region])
		return false;
	return !s->unit_passes || s->unit_passes[sample->unit];
}

static bool stack_passes(const struct fg_selection *s, uint32_t stack)
{
	const struct fg_stack_facts *facts = &s->stacks[stack];

	return !facts->ignored && facts->focus == (uint32_t)((UINT64_C(1) << s->focus.count) - 1) &&
	       (s->root.count == 0 || facts->top != 0) && (s->leaf.count == 0 || facts->cut != 0);
}

bool fg_selection_passes(const struct fg_selection *s, const struct fg_sample *sample)
{
	const struct fg_calltree_query *q = s->query;

	if (s->measure != FG_EVERY_MEASURE && sample->measure != s->measure)
		return false;
	if (q->kinds != 0 && !(q->kinds & (1u << sample->kind)))
		return false;
	if (q->repetition != 0 && sample->repetition + 1 != q->repetition)
		return false;
	if (sample->time_ns < q->from_ns || (q->to_ns != 0 && sample->time_ns >= q->to_ns))
		return false;
	return in_place(s, sample) && (!s->stacks || stack_passes(s, sample->stack));
}

bool fg_selection_overlaps(const struct fg_selection *s, uint32_t thread, int64_t start_ns,
			   int64_t end_ns)
{
	const struct fg_calltree_query *query = s->query;

	return (!s->thread_passes ||
		(thread < s->profile->thread_count && s->thread_passes[thread])) &&
	       end_ns >= query->from_ns && (query->to_ns == 0 || start_ns < query->to_ns);
}

bool fg_selection_keeps_unit(const struct fg_selection *s, size_t unit)
{
	const struct fg_unit_info *info = &s->profile->units[unit];

	return (!s->unit_passes || s->unit_passes[unit]) &&
	       fg_selection_overlaps(s, info->thread, info->start_ns,
				     info->ended ? info->end_ns : INT64_MAX);
}

static bool wants_units(const struct fg_calltree_query *query)
{
	return query->unit_kind || query->only_units || query->unit_first || query->unit_last;
}

int fg_selection_init(struct fg_selection *s, const struct fg_profile *profile,
		      const struct fg_calltree_query *query, struct fg_error *err)
{
	uint16_t measure = 0;

	FG_ASSERT(query->group < FG_GROUP_COUNT && query->split < FG_SPLIT_COUNT);
	*s = (struct fg_selection){.profile = profile, .query = query, .scale = 1.0};
	FG_TRY(fg_profile_find_measure(profile, query->measure, &measure, err));
	s->measure = query->measure ? measure : FG_EVERY_MEASURE;
	FG_TRY(compile(s, err));
	if (query->per_repetition && profile->repetition_count > 1)
		s->scale = 1.0 / profile->repetition_count;
	learn_functions(s);
	if (looks_at_functions(s))
		learn_stacks(s);
	if (s->thread.count > 0)
		learn_threads(s);
	if (s->region.count > 0)
		learn_regions(s);
	if (wants_units(query))
		learn_units(s);
	return FG_OK;
}

double fg_selection_scale(const struct fg_selection *s, uint16_t measure)
{
	const uint32_t repetitions = fg_profile_repetitions(s->profile, measure);

	if (s->profile->measures[measure].is.fold != FG_FOLD_SUM || !s->query->per_repetition ||
	    repetitions == 0)
		return 1;
	return 1.0 / repetitions;
}

char *fg_selection_name_below(const char *name, const char *ancestor)
{
	return fg_xasprintf("%s  (from %s)", name, ancestor);
}

void fg_selection_release(struct fg_selection *s)
{
	struct fg_patterns *lists[] = {&s->focus, &s->ignore, &s->hide,   &s->ancestors, &s->root,
				       &s->leaf,  &s->thread, &s->region, &s->unit_kind};

	for (size_t i = 0; i < FG_ARRAY_SIZE(lists); i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			fg_pattern_release(&lists[i]->items[k]);
	for (size_t i = 0; i < s->rename_count; i++)
		fg_rename_release(&s->renames[i]);
	free(s->functions);
	free(s->stacks);
	free(s->thread_passes);
	free(s->region_passes);
	free(s->unit_passes);
	*s = (struct fg_selection){0};
}
