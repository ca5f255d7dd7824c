// SPDX-License-Identifier: Apache-2.0
/*
 * From a profile and a query to a tree, in time proportional to stacks + samples:
 *
 * 1. each pattern is tried once per function, never per sample;
 * 2. one forward pass over the stacks pushes facts down from the root: which focus patterns matched so far, whether
 *    something to ignore did, where the outermost root match and the innermost leaf match stand, the nearest ancestor;
 * 3. each sample that passes the filters lands on the tree node of its stack.  Nodes are made on demand, parents
 *    first, and remembered per stack; when the tree is split (by thread, region, ...) per pair of split and stack.
 */
#include "base/pattern.h"
#include "profile/calltree.h"
#include "profile/names.h"

enum {
	MOST_PATTERNS = 32,
	UNSET = 0
};

struct patterns {
	struct fg_pattern items[MOST_PATTERNS];
	size_t count;
};

struct function_facts {
	uint32_t focus;    /* bit i: matches the i-th focus pattern */
	uint32_t ancestor; /* 1 + the first ancestor pattern that matches; 0: none */
	bool ignore, hide, root, leaf;
};

struct stack_facts {
	uint32_t focus;
	uint32_t top;      /* outermost stack whose frame matches `root`; 0: none yet */
	uint32_t cut;      /* innermost stack whose frame matches `leaf`; 0: none yet */
	uint32_t ancestor; /* nearest stack above whose frame matches an ancestor pattern */
	bool ignored;
};

struct builder {
	const struct fg_profile *profile;
	const struct fg_calltree_query *query;
	struct fg_calltree *tree;
	struct patterns focus, ignore, hide, ancestors, root, leaf, thread, region, unit_kind;
	struct fg_rename renames[MOST_PATTERNS];
	size_t rename_count;
	struct function_facts *functions;
	struct stack_facts *stacks; /* NULL: no pattern looks at functions */
	uint32_t *label_of_frame;   /* + 1; 0: not made yet */
	uint32_t *node_of_stack;    /* + 1; when the tree is not split */
	struct fg_pair_index node_of_pair;
	struct fg_pair_index label_below; /* label, ancestor's label → label */
	bool *thread_passes, *region_passes, *unit_passes;
};

/* ------------------------------------------------------------------ patterns */

static int compile_list(struct patterns *patterns, const char *const *texts, const char *what,
			struct fg_error *err)
{
	int rc = FG_OK;

	for (size_t i = 0; texts && texts[i]; i++) {
		if (i == MOST_PATTERNS)
			return fg_error_set(err, FG_ELIMIT, "more than %d %s patterns",
					    MOST_PATTERNS, what);
		rc = fg_pattern_compile(texts[i], &patterns->items[i], err);
		if (rc != FG_OK) {
			fg_error_prefix(err, "%s", what);
			return rc;
		}
		patterns->count++;
	}
	return rc;
}

static int compile_one(struct patterns *patterns, const char *text, const char *what,
		       struct fg_error *err)
{
	const char *const list[] = {text, NULL};

	return compile_list(patterns, list, what, err);
}

static int compile_renames(struct builder *b, struct fg_error *err)
{
	const char *const *rules = b->query->rename;

	for (size_t i = 0; rules && rules[i]; i++) {
		int rc;

		if (i == MOST_PATTERNS)
			return fg_error_set(err, FG_ELIMIT, "more than %d rename rules",
					    MOST_PATTERNS);
		rc = fg_rename_parse(rules[i], &b->renames[i], err);
		if (rc != FG_OK)
			return rc;
		b->rename_count++;
	}
	return FG_OK;
}

static int compile(struct builder *b, struct fg_error *err)
{
	const struct fg_calltree_query *q = b->query;
	int rc = compile_list(&b->focus, q->focus, "focus", err);

	if (rc == FG_OK)
		rc = compile_list(&b->ignore, q->ignore, "ignore", err);
	if (rc == FG_OK)
		rc = compile_list(&b->hide, q->hide, "hide", err);
	if (rc == FG_OK)
		rc = compile_list(&b->ancestors, q->ancestors, "ancestor", err);
	if (rc == FG_OK)
		rc = compile_one(&b->root, q->root, "root", err);
	if (rc == FG_OK)
		rc = compile_one(&b->leaf, q->leaf, "leaf", err);
	if (rc == FG_OK)
		rc = compile_one(&b->thread, q->thread, "thread", err);
	if (rc == FG_OK)
		rc = compile_one(&b->region, q->region, "region", err);
	if (rc == FG_OK)
		rc = compile_one(&b->unit_kind, q->unit_kind, "unit", err);
	return rc == FG_OK ? compile_renames(b, err) : rc;
}

/* Index + 1 of the first pattern that matches; 0: none. */
static uint32_t first_match(const struct patterns *patterns, const char *subject)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fg_pattern_matches(&patterns->items[i], subject))
			return (uint32_t)i + 1;
	return 0;
}

static bool looks_at_functions(const struct builder *b)
{
	return b->focus.count + b->ignore.count + b->hide.count + b->ancestors.count +
		       b->root.count + b->leaf.count >
	       0;
}

static void learn_functions(struct builder *b)
{
	struct fg_strbuf subject = {0};

	b->functions = fg_xcalloc(b->profile->function_count, sizeof(b->functions[0]));
	if (!looks_at_functions(b))
		return;
	for (size_t i = 1; i < b->profile->function_count; i++) {
		const struct fg_profile_function *function = &b->profile->functions[i];
		struct function_facts *facts = &b->functions[i];
		const char *text;

		fg_strbuf_clear(&subject);
		fg_strbuf_printf(&subject, "%s [%s]", function->name, function->library);
		text = fg_strbuf_text(&subject);
		for (size_t f = 0; f < b->focus.count; f++)
			if (fg_pattern_matches(&b->focus.items[f], text))
				facts->focus |= UINT32_C(1) << f;
		facts->ignore = first_match(&b->ignore, text) != 0;
		facts->hide = first_match(&b->hide, text) != 0;
		facts->root = first_match(&b->root, text) != 0;
		facts->leaf = first_match(&b->leaf, text) != 0;
		facts->ancestor = first_match(&b->ancestors, text);
	}
	fg_strbuf_release(&subject);
}

static void learn_stacks(struct builder *b)
{
	const struct fg_profile *profile = b->profile;

	b->stacks = fg_xcalloc(profile->stack_count, sizeof(b->stacks[0]));
	for (size_t i = 1; i < profile->stack_count; i++) {
		uint32_t parent = profile->stacks[i].parent;
		const struct fg_frame *frame = &profile->frames[profile->stacks[i].frame];
		const struct fg_frame *above = &profile->frames[profile->stacks[parent].frame];
		const struct function_facts *facts = &b->functions[frame->function];
		const struct stack_facts *up = &b->stacks[parent];

		b->stacks[i] = (struct stack_facts){
			.focus = up->focus | facts->focus,
			.ignored = up->ignored || facts->ignore,
			.top = up->top || !facts->root ? up->top : (uint32_t)i,
			.cut = facts->leaf ? (uint32_t)i : up->cut,
			.ancestor = b->functions[above->function].ancestor ? parent : up->ancestor,
		};
	}
}

/* -------------------------------------------------------------------- labels */

static void shorten(const struct builder *b, struct fg_strbuf *name)
{
	struct fg_strbuf next = {0};

	if (b->query->collapse_templates) {
		fg_name_collapse_templates(fg_strbuf_text(name), &next);
		fg_strbuf_release(name);
		*name = next;
		next = (struct fg_strbuf){0};
	}
	for (size_t i = 0; i < b->rename_count; i++) {
		if (!fg_rename_apply(&b->renames[i], fg_strbuf_text(name), &next))
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

static void name_function(const struct builder *b, const struct fg_profile_function *function,
			  struct fg_label *label, struct fg_strbuf *name)
{
	bool mangled = b->query->mangled && function->linkage;

	fg_strbuf_add_text(name, mangled ? function->linkage : function->name);
	label->library = function->library;
	label->file = function->file;
	label->line = function->line;
	label->linkage = function->linkage;
}

static void name_scope(const struct fg_profile_function *function, bool outer,
		       struct fg_label *label, struct fg_strbuf *name)
{
	if (outer)
		fg_name_namespace(function->name, name);
	else
		fg_name_scope(function->name, name);
	if (name->length == 0) {
		fg_strbuf_add_text(name, "(global)");
		label->library = function->library;
	}
}

static void name_line(const struct builder *b, const struct fg_frame *frame, struct fg_label *label,
		      struct fg_strbuf *name)
{
	const struct fg_profile_function *function = &b->profile->functions[frame->function];

	if (!frame->file) {
		name_function(b, function, label, name);
		return;
	}
	fg_strbuf_printf(name, "%s:%u", base_name(frame->file), frame->line);
	label->file = frame->file;
	label->line = frame->line;
	label->library = function->library;
}

static uint32_t make_label(struct builder *b, const struct fg_frame *frame)
{
	const struct fg_profile_function *function = &b->profile->functions[frame->function];
	struct fg_label label = {.flags = frame->flags};
	struct fg_strbuf name = {0};
	uint32_t index;

	switch (frame->flags & FG_FRAME_MARK ? FG_GROUP_FUNCTION : b->query->group) {
	case FG_GROUP_LINE:
		name_line(b, frame, &label, &name);
		break;
	case FG_GROUP_CLASS:
	case FG_GROUP_NAMESPACE:
		name_scope(function, b->query->group == FG_GROUP_NAMESPACE, &label, &name);
		break;
	case FG_GROUP_LIBRARY:
		fg_strbuf_add_text(&name,
				   *function->library ? function->library : "(unknown library)");
		break;
	case FG_GROUP_FILE:
		fg_strbuf_add_text(&name, function->file ? function->file : "(unknown file)");
		label.file = function->file;
		break;
	case FG_GROUP_FUNCTION:
	case FG_GROUP_COUNT:
	default:
		name_function(b, function, &label, &name);
		break;
	}
	shorten(b, &name);
	if (b->query->group != FG_GROUP_FUNCTION && b->query->group != FG_GROUP_LINE)
		label.line = 0;
	label.name = fg_strbuf_text(&name);
	index = fg_calltree_label(b->tree, &label);
	fg_strbuf_release(&name);
	return index;
}

static uint32_t label_of_frame(struct builder *b, uint32_t frame)
{
	if (b->label_of_frame[frame] == UNSET)
		b->label_of_frame[frame] = make_label(b, &b->profile->frames[frame]) + 1;
	return b->label_of_frame[frame] - 1;
}

/* "log" below a frame that matches an ancestor pattern is another label than "log" below another. */
static uint32_t label_below(struct builder *b, uint32_t label, uint32_t ancestor_stack)
{
	uint32_t ancestor = label_of_frame(b, b->profile->stacks[ancestor_stack].frame);
	const uint32_t *known = fg_pair_index_get(&b->label_below, label, ancestor);
	struct fg_strbuf name = {0};
	struct fg_label below = b->tree->labels[label];
	uint32_t index;

	if (known)
		return *known;
	fg_strbuf_printf(&name, "%s  (from %s)", below.name, b->tree->labels[ancestor].name);
	below.name = fg_strbuf_text(&name);
	index = fg_calltree_label(b->tree, &below);
	(void)fg_pair_index_add(&b->label_below, label, ancestor, index, NULL);
	fg_strbuf_release(&name);
	return index;
}

/* --------------------------------------------------------------------- nodes */

static bool folds_into_caller(const struct builder *b, uint32_t stack)
{
	const struct fg_frame *frame = &b->profile->frames[b->profile->stacks[stack].frame];

	return b->functions[frame->function].hide ||
	       (b->root.count > 0 && b->stacks[stack].top == 0) ||
	       (b->query->fold_inlined && (frame->flags & FG_FRAME_INLINED));
}

static bool merges_neighbours(enum fg_group group)
{
	return group != FG_GROUP_FUNCTION && group != FG_GROUP_LINE;
}

static uint32_t node_below(struct builder *b, uint32_t parent_node, uint32_t stack)
{
	uint32_t label;

	if (folds_into_caller(b, stack))
		return parent_node;
	label = label_of_frame(b, b->profile->stacks[stack].frame);
	if (b->stacks && b->stacks[stack].ancestor != 0)
		label = label_below(b, label, b->stacks[stack].ancestor);
	if (merges_neighbours(b->query->group) && parent_node != 0 &&
	    b->tree->nodes[parent_node].label == label)
		return parent_node;
	return fg_calltree_child(b->tree, parent_node, label);
}

/* Where the node of a stack is remembered, 0 while there is none. */
static uint32_t *place_of(struct builder *b, uint32_t base, uint32_t stack)
{
	if (b->query->split == FG_SPLIT_NONE)
		return &b->node_of_stack[stack];
	return fg_pair_index_add(&b->node_of_pair, base, stack, UNSET, NULL);
}

/* Up to the first stack whose node is known, then down again: a path is walked once, however many samples it has. */
static uint32_t node_of(struct builder *b, uint32_t base, uint32_t stack, uint32_t *trail)
{
	uint32_t node = base;
	size_t depth = 0;

	while (stack != 0) {
		uint32_t known = *place_of(b, base, stack);

		if (known != UNSET) {
			node = known - 1;
			break;
		}
		trail[depth++] = stack;
		stack = b->profile->stacks[stack].parent;
	}
	while (depth-- > 0) {
		node = node_below(b, node, trail[depth]);
		*place_of(b, base, trail[depth]) = node + 1;
	}
	return node;
}

/* -------------------------------------------------------------------- splits */

static uint32_t child_named(struct builder *b, uint32_t parent, const char *name)
{
	const struct fg_label label = {.name = name, .flags = FG_FRAME_MARK};

	return fg_calltree_child(b->tree, parent, fg_calltree_label(b->tree, &label));
}

static uint32_t FG_PRINTF(3, 4)
	child_printf(struct builder *b, uint32_t parent, const char *format, ...)
{
	struct fg_strbuf name = {0};
	uint32_t node;
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&name, format, ap);
	va_end(ap);
	node = child_named(b, parent, fg_strbuf_text(&name));
	fg_strbuf_release(&name);
	return node;
}

static uint32_t region_base(struct builder *b, uint32_t region)
{
	const struct fg_region_info *info = &b->profile->regions[region];

	if (region == 0)
		return child_named(b, 0, "(outside any region)");
	return child_named(b, info->parent ? region_base(b, info->parent) : 0, info->name);
}

static uint32_t unit_base(struct builder *b, uint32_t unit)
{
	const struct fg_unit_info *info = &b->profile->units[unit];

	if (unit == 0)
		return child_named(b, 0, "(outside any unit of work)");
	return child_printf(b, child_named(b, 0, info->kind), "%s %llu", info->kind,
			    (unsigned long long)info->number);
}

static uint32_t thread_base(struct builder *b, uint32_t thread)
{
	const struct fg_thread_info *info = &b->profile->threads[thread];

	return child_printf(b, 0, "%s (%u)", info->name ? info->name : "thread", info->tid);
}

static uint32_t process_base(struct builder *b, uint32_t thread)
{
	const struct fg_process_info *info =
		&b->profile->processes[b->profile->threads[thread].process];

	return child_printf(b, 0, "%s (%u)",
			    info->executable ? base_name(info->executable) : "process", info->pid);
}

static uint32_t base_of(struct builder *b, const struct fg_sample *sample)
{
	bool has_thread = sample->thread < b->profile->thread_count;

	switch (b->query->split) {
	case FG_SPLIT_THREAD:
		return has_thread ? thread_base(b, sample->thread) : 0;
	case FG_SPLIT_PROCESS:
		return has_thread ? process_base(b, sample->thread) : 0;
	case FG_SPLIT_REGION:
		return region_base(b, sample->region);
	case FG_SPLIT_UNIT:
		return unit_base(b, sample->unit);
	case FG_SPLIT_REPETITION:
		return child_printf(b, 0, "repetition %u", sample->repetition + 1);
	case FG_SPLIT_NONE:
	case FG_SPLIT_COUNT:
	default:
		return 0;
	}
}

/* The split's part of a sample as one number, to notice that it has not changed. */
static uint32_t split_key(const struct builder *b, const struct fg_sample *sample)
{
	switch (b->query->split) {
	case FG_SPLIT_THREAD:
	case FG_SPLIT_PROCESS:
		return sample->thread;
	case FG_SPLIT_REGION:
		return sample->region;
	case FG_SPLIT_UNIT:
		return sample->unit;
	case FG_SPLIT_REPETITION:
		return sample->repetition;
	case FG_SPLIT_NONE:
	case FG_SPLIT_COUNT:
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------- filters */

static void learn_threads(struct builder *b)
{
	struct fg_strbuf subject = {0};

	b->thread_passes = fg_xcalloc(b->profile->thread_count + 1, sizeof(bool));
	for (size_t i = 0; i < b->profile->thread_count; i++) {
		const struct fg_thread_info *info = &b->profile->threads[i];

		fg_strbuf_clear(&subject);
		fg_strbuf_printf(&subject, "%s (%u)", info->name ? info->name : "thread",
				 info->tid);
		b->thread_passes[i] = first_match(&b->thread, fg_strbuf_text(&subject)) != 0;
	}
	fg_strbuf_release(&subject);
}

static void learn_regions(struct builder *b)
{
	b->region_passes = fg_xcalloc(b->profile->region_count, sizeof(bool));
	for (size_t i = 0; i < b->profile->region_count; i++)
		b->region_passes[i] = first_match(&b->region, b->profile->regions[i].path) != 0;
}

static void learn_units(struct builder *b)
{
	const struct fg_calltree_query *q = b->query;

	b->unit_passes = fg_xcalloc(b->profile->unit_count, sizeof(bool));
	for (size_t i = 1; i < b->profile->unit_count; i++) {
		const struct fg_unit_info *info = &b->profile->units[i];

		b->unit_passes[i] =
			info->number >= q->unit_first &&
			(q->unit_last == 0 || info->number <= q->unit_last) &&
			(b->unit_kind.count == 0 || first_match(&b->unit_kind, info->kind) != 0);
	}
}

static bool in_place(const struct builder *b, const struct fg_sample *sample)
{
	if (b->thread_passes &&
	    (sample->thread >= b->profile->thread_count || !b->thread_passes[sample->thread]))
		return false;
	if (b->region_passes && !b->region_passes[sample->region])
		return false;
	return !b->unit_passes || b->unit_passes[sample->unit];
}

static bool stack_passes(const struct builder *b, uint32_t stack)
{
	const struct stack_facts *facts = &b->stacks[stack];

	return !facts->ignored && facts->focus == (uint32_t)((UINT64_C(1) << b->focus.count) - 1) &&
	       (b->root.count == 0 || facts->top != 0) && (b->leaf.count == 0 || facts->cut != 0);
}

static bool passes(const struct builder *b, const struct fg_sample *sample)
{
	const struct fg_calltree_query *q = b->query;

	if (q->kinds != 0 && !(q->kinds & (1u << sample->kind)))
		return false;
	if (q->repetition != 0 && sample->repetition + 1 != q->repetition)
		return false;
	if (sample->time_ns < q->from_ns || (q->to_ns != 0 && sample->time_ns >= q->to_ns))
		return false;
	return in_place(b, sample) && (!b->stacks || stack_passes(b, sample->stack));
}

static void add_samples(struct builder *b)
{
	const struct fg_profile *profile = b->profile;
	uint32_t *trail = fg_xcalloc(profile->stack_count, sizeof(trail[0]));
	double scale = b->query->per_repetition && profile->repetition_count > 1
			       ? 1.0 / profile->repetition_count
			       : 1.0;
	uint32_t base = 0;
	uint32_t last_key = 0;
	bool has_base = b->query->split == FG_SPLIT_NONE;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];
		uint32_t stack = sample->stack;
		struct fg_weight weight;

		if (!passes(b, sample))
			continue;
		if (!has_base || split_key(b, sample) != last_key)
			base = base_of(b, sample);
		has_base = true;
		last_key = split_key(b, sample);
		if (b->leaf.count > 0)
			stack = b->stacks[stack].cut;
		/* `count` samples of equal weight stand behind one of a stored run */
		weight = (struct fg_weight){
			.ns = sample->weight_ns,
			.square = sample->weight_ns * sample->weight_ns /
				  (sample->count ? sample->count : 1),
			.samples = sample->count,
		};
		fg_calltree_add(b->tree, node_of(b, base, stack, trail), 0, &weight, scale);
	}
	free(trail);
}

static void release(struct builder *b)
{
	struct patterns *lists[] = {&b->focus, &b->ignore, &b->hide,   &b->ancestors, &b->root,
				    &b->leaf,  &b->thread, &b->region, &b->unit_kind};

	for (size_t i = 0; i < FG_ARRAY_SIZE(lists); i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			fg_pattern_release(&lists[i]->items[k]);
	for (size_t i = 0; i < b->rename_count; i++)
		fg_rename_release(&b->renames[i]);
	free(b->functions);
	free(b->stacks);
	free(b->label_of_frame);
	free(b->node_of_stack);
	free(b->thread_passes);
	free(b->region_passes);
	free(b->unit_passes);
	fg_pair_index_release(&b->node_of_pair);
	fg_pair_index_release(&b->label_below);
}

static bool wants_units(const struct fg_calltree_query *query)
{
	return query->unit_kind || query->only_units || query->unit_first || query->unit_last;
}

int fg_calltree_build(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_calltree *tree, struct fg_error *err)
{
	struct builder *b = fg_xcalloc(1, sizeof(*b));
	struct fg_calltree built;
	int rc;

	FG_ASSERT(query->group < FG_GROUP_COUNT && query->split < FG_SPLIT_COUNT);
	b->profile = profile;
	b->query = query;
	rc = compile(b, err);
	if (rc != FG_OK)
		goto out;
	fg_calltree_init(&built, 1, profile->functions[0].name);
	b->tree = &built;
	learn_functions(b);
	if (looks_at_functions(b))
		learn_stacks(b);
	if (b->thread.count > 0)
		learn_threads(b);
	if (b->region.count > 0)
		learn_regions(b);
	if (wants_units(query))
		learn_units(b);
	b->label_of_frame = fg_xcalloc(profile->frame_count, sizeof(b->label_of_frame[0]));
	if (query->split == FG_SPLIT_NONE)
		b->node_of_stack = fg_xcalloc(profile->stack_count, sizeof(b->node_of_stack[0]));
	if (query->split == FG_SPLIT_NONE)
		fg_pair_index_reserve(&built.node_index, profile->stack_count);
	add_samples(b);
	fg_calltree_finish(&built);
	*tree = built;
out:
	release(b);
	free(b);
	return rc;
}
