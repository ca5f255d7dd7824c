// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/random.h"
#include "store/db.h"
#include "store/serving/batch.h"
#include "store/serving/dictionary.h"
#include "store/serving/ids.h"
#include "store/session.h"
#include "store/transaction.h"
#include "tests/unit/store/fixture.h"

enum {
	NAMES_MAX = 600,
	NODES_MAX = 2000,
	ROUNDS = 150
};

/*
 * A program whose dictionary is made by hand: names of functions by number, paths below the unnamed
 * root.
 */
struct program {
	unsigned names[NAMES_MAX];
	size_t name_count;
	struct fg_profile_node nodes[NODES_MAX]; /* from 1 on */
	size_t node_count;
};

static void write_program(const struct program *p, struct fg_bytes *bytes)
{
	fg_bytes_varint(bytes, p->name_count);
	for (size_t i = 0; i < p->name_count; i++) {
		char *name = fg_xasprintf("stage%u::next(int)", p->names[i]);

		fg_bytes_text(bytes, name);
		fg_bytes_text(bytes, p->names[i] % 3 ? "reco" : "libfit.so.4");
		fg_bytes_text(bytes, NULL);
		fg_bytes_text(bytes, p->names[i] % 2 ? "src/part.cpp" : NULL);
		fg_bytes_varint(bytes, p->names[i]);
		fg_bytes_varint(bytes, p->names[i] % 5 == 0);
		free(name);
	}
	fg_bytes_varint(bytes, p->node_count - 1);
	for (size_t i = 1; i < p->node_count; i++) {
		const uint32_t parent = p->nodes[i].parent;

		fg_bytes_varint(bytes, parent ? i - parent : 0);
		fg_bytes_varint(bytes, p->nodes[i].function);
	}
}

static int open_bytes(const struct fg_bytes *content, struct fg_dictionary *base,
		      struct fg_dictionary **d, struct fg_error *err)
{
	struct fg_bytes sealed = {0};
	char hash[FG_SHA256_HEX_SIZE];
	int status = fg_pack_bytes(content, FG_PACK_LEVEL_QUICK, &sealed, err);

	fg_sha256_hex(content->data, content->size, hash);
	if (status == FG_OK)
		status = fg_dictionary_open(&sealed, &fg_bundle_limits_default, hash, base, d, err);
	fg_bytes_release(&sealed);
	return status;
}

static int open_program(const struct program *p, struct fg_dictionary *base,
			struct fg_dictionary **d, struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = FG_OK;

	write_program(p, &content);
	status = open_bytes(&content, base, d, err);
	fg_bytes_release(&content);
	return status;
}

static struct fg_dictionary *opened(const struct program *p, struct fg_dictionary *base)
{
	struct fg_dictionary *d = NULL;
	struct fg_error err = {0};

	if (open_program(p, base, &d, &err) != FG_OK)
		fail_msg("%s", err.message);
	return d;
}

static bool has_path(const struct program *p, uint32_t parent, uint32_t function)
{
	for (size_t i = 1; i < p->node_count; i++) {
		if (p->nodes[i].parent == parent && p->nodes[i].function == function)
			return true;
	}
	return false;
}

static void grow(struct program *p, struct fg_random *random, size_t paths)
{
	for (size_t i = 0; i < paths && p->node_count < NODES_MAX; i++) {
		const uint32_t parent = (uint32_t)fg_random_below(random, p->node_count);
		const uint32_t function = (uint32_t)fg_random_below(random, p->name_count);

		if (!has_path(p, parent, function))
			p->nodes[p->node_count++] = (struct fg_profile_node){parent, function};
	}
}

static void make_program(struct program *p, struct fg_random *random)
{
	*p = (struct program){.node_count = 1};
	p->name_count = 1 + fg_random_below(random, NAMES_MAX / 2);
	for (size_t i = 0; i < p->name_count; i++)
		p->names[i] = (unsigned)i;
	grow(p, random, fg_random_below(random, NODES_MAX / 2));
}

/* Inserts another function here; those after it move up. */
static void insert_name(struct program *p, size_t place, unsigned name)
{
	if (p->name_count == NAMES_MAX)
		return;
	memmove(p->names + place + 1, p->names + place,
		(p->name_count - place) * sizeof(p->names[0]));
	p->names[place] = name;
	p->name_count++;
	for (size_t i = 1; i < p->node_count; i++)
		p->nodes[i].function += p->nodes[i].function >= place;
}

/* The function has no place any more; paths that went through it go through the one before. */
static void remove_name(struct program *p, size_t place)
{
	if (place == 0)
		return;
	memmove(p->names + place, p->names + place + 1,
		(p->name_count - place - 1) * sizeof(p->names[0]));
	p->name_count--;
	for (size_t i = 1; i < p->node_count; i++)
		p->nodes[i].function -= p->nodes[i].function >= place;
}

static bool has_twins(const struct program *p)
{
	for (size_t i = 1; i < p->node_count; i++) {
		struct program before = *p;

		before.node_count = i;
		if (has_path(&before, p->nodes[i].parent, p->nodes[i].function))
			return true;
	}
	return false;
}

static void swap_names(struct program *p, size_t a, size_t b)
{
	const unsigned name = p->names[a];

	p->names[a] = p->names[b];
	p->names[b] = name;
}

static void change_once(struct program *p, struct fg_random *random, unsigned *fresh)
{
	const size_t place = fg_random_below(random, p->name_count);

	switch (fg_random_below(random, 5)) {
	case 0:
		p->names[place] = (*fresh)++;
		break;
	case 1:
		insert_name(p, place, (*fresh)++);
		break;
	case 2:
		remove_name(p, place);
		break;
	case 3:
		swap_names(p, place, fg_random_below(random, p->name_count));
		break;
	default:
		grow(p, random, 1 + fg_random_below(random, 20));
		break;
	}
}

static void intern(struct fixture *f, struct fg_dictionary *d, struct fg_ids *ids)
{
	(void)fg_dictionary_look_up(d, ids);
	must(f, fg_store_batch_begin(f->store, &f->err));
	must(f, fg_store_dictionary_intern(f->store, d, &f->err));
	must(f, fg_store_batch_end(f->store, &f->err));
	fg_dictionary_finish(d);
}

static void same_dictionaries(const struct fg_dictionary *a, const struct fg_dictionary *b)
{
	assert_int_equal(a->function_count, b->function_count);
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->named_roots.count, b->named_roots.count);
	assert_memory_equal(a->texts.at, b->texts.at,
			    (a->function_count + 1) * sizeof(*a->texts.at));
	assert_memory_equal(a->texts.keys, b->texts.keys,
			    a->function_count * sizeof(*a->texts.keys));
	assert_memory_equal(a->ids.functions, b->ids.functions,
			    a->function_count * sizeof(*a->ids.functions));
	assert_memory_equal(a->order.functions, b->order.functions,
			    a->function_count * sizeof(*a->order.functions));
	for (size_t i = 1; i < a->node_count; i++) {
		assert_int_equal(a->ids.nodes[i], b->ids.nodes[i]);
		assert_int_equal(a->roots[i], b->roots[i]);
		assert_int_equal(a->recursive[i], b->recursive[i]);
		assert_int_equal(a->order.nodes[i], b->order.nodes[i]);
		if (a->roots[i] == i)
			assert_string_equal(fg_dictionary_root_name(a, (uint32_t)i),
					    fg_dictionary_root_name(b, (uint32_t)i));
		else
			assert_null(fg_dictionary_root_name(a, (uint32_t)i));
	}
}

static void one_beside_a_base_is_the_same_as_alone(void **state)
{
	struct fixture *f = *state;
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_random random;
	unsigned fresh = NAMES_MAX;
	size_t same = 0;

	fg_random_seed(&random, 11);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct fg_ids *ids = fg_ids_new();
		struct fg_dictionary *base = NULL;
		struct fg_dictionary *beside = NULL;
		struct fg_dictionary *alone = NULL;

		fg_store_share_ids(f->store, ids);
		make_program(p, &random);
		base = opened(p, NULL);
		intern(f, base, ids);
		for (uint64_t i = fg_random_below(&random, 12); i > 0; i--)
			change_once(p, &random, &fresh);
		if (!has_twins(p)) {
			beside = opened(p, base);
			for (size_t i = 1; beside->alike.nodes && i < beside->node_count; i++)
				same += beside->alike.nodes[i] != 0;
			intern(f, beside, ids);
			alone = opened(p, NULL);
			assert_true(fg_dictionary_look_up(alone, ids));
			fg_dictionary_finish(alone);
			same_dictionaries(beside, alone);
		}
		fg_dictionary_free(alone);
		fg_dictionary_free(beside);
		fg_dictionary_free(base);
		fg_store_share_ids(f->store, NULL);
		fg_ids_free(ids);
	}
	assert_true(same > 20000); /* otherwise this tells nothing */
	free(p);
}

enum {
	STRANGERS = 5000
};

static void add_paths_of_strangers(struct fixture *f)
{
	int64_t *columns[3];
	struct fg_rows rows = {.column_count = 3, .count = STRANGERS};
	size_t last = 0;

	must(f, fg_store_begin(f->store, &f->err));
	must(f, fg_call_paths_last(f->store, &last, &f->err));
	for (size_t c = 0; c < 3; c++) {
		columns[c] = fg_xcalloc(STRANGERS, sizeof(*columns[c]));
		rows.columns[c].numbers = columns[c];
	}
	for (size_t i = 0; i < STRANGERS; i++) {
		columns[0][i] = (int64_t)(last + 1 + i);
		columns[2][i] = (int64_t)(1000000 + i);
	}
	must(f, fg_call_paths_write(f->store, &rows, &f->err));
	must(f, fg_store_end(f->store, FG_OK, &f->err));
	for (size_t c = 0; c < 3; c++)
		free(columns[c]);
}

/* Rows of others, more than a session reads before it asks for the few that it needs. */
static void add_strangers(struct fixture *f)
{
	add_paths_of_strangers(f);
	must(f, fg_db_script(f->store->db,
			     "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
			     "WHERE i < 5000) "
			     "INSERT INTO function (digest, name, library, line, inlined) "
			     "SELECT CAST(i AS BLOB), 'f', '', 0, 0 FROM n",
			     &f->err));
}

/* 100 functions, from this number on, and the paths of this many calls. */
static void make_part(struct program *p, unsigned first, size_t paths, struct fg_random *random)
{
	*p = (struct program){.node_count = 1, .name_count = 100};
	for (unsigned i = 0; i < 100; i++)
		p->names[i] = first + i;
	grow(p, random, paths);
}

enum {
	TOGETHER = 13 /* add more rows than there are of others */
};

static void intern_together(struct fixture *f, struct fg_dictionary *const all[TOGETHER])
{
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (size_t i = 0; i < TOGETHER; i++)
		must(f, fg_store_dictionary_intern(f->store, all[i], &f->err));
	must(f, fg_store_batch_end(f->store, &f->err));
	for (size_t i = 0; i < TOGETHER; i++)
		fg_dictionary_finish(all[i]);
}

/* The last one has been there for long. */
static void open_all(struct fg_dictionary *all[TOGETHER])
{
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_random random;

	for (unsigned i = 0; i < TOGETHER; i++) {
		fg_random_seed(&random, i);
		make_part(p, 100 * (TOGETHER - 1 - i), 490, &random);
		all[i] = opened(p, NULL);
	}
	free(p);
}

static void find_what_is_there(struct fixture *f)
{
	struct fg_dictionary *all[3][TOGETHER];

	for (int i = 0; i < 3; i++)
		open_all(all[i]);
	must(f, fg_store_dictionary_intern(f->store, all[0][TOGETHER - 1], &f->err));
	fg_dictionary_finish(all[0][TOGETHER - 1]);
	add_strangers(f);
	for (int i = 1; i < 3; i++) {
		/* A session that knows nothing yet. */
		fg_store_close(f->store);
		open_store(f);
		intern_together(f, all[i]);
	}
	same_dictionaries(all[0][TOGETHER - 1], all[1][TOGETHER - 1]);
	for (size_t i = 0; i < TOGETHER; i++) {
		same_dictionaries(all[1][i], all[2][i]);
		for (int k = 0; k < 3; k++)
			fg_dictionary_free(all[k][i]);
	}
}

static void dictionaries_of_a_batch_find_what_is_there(void **state)
{
	find_what_is_there(*state);
}

static void little_that_changed_is_little_to_look_up(void **state)
{
	struct fixture *f = *state;
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_ids *ids = fg_ids_new();
	struct fg_ids *none = fg_ids_new();
	struct fg_dictionary *base = NULL;
	struct fg_dictionary *d = NULL;

	p->name_count = 300;
	p->node_count = 1;
	for (uint32_t i = 0; i < 300; i++) {
		p->names[i] = i;
		p->nodes[p->node_count++] = (struct fg_profile_node){0, i};
	}
	fg_store_share_ids(f->store, ids);
	base = opened(p, NULL);
	intern(f, base, ids);
	p->names[17] = 1000; /* renamed */
	insert_name(p, 100, 1001);
	p->nodes[p->node_count++] = (struct fg_profile_node){0, 100};
	for (unsigned i = 0; i < 20; i++)
		p->names[230 + i] = 2000 + i; /* a file whose functions have another name */
	remove_name(p, 200);
	memmove(p->nodes + 200, p->nodes + 201, (p->node_count - 201) * sizeof(p->nodes[0]));
	p->node_count--;
	d = opened(p, base);
	/* Nothing else is known: 22 functions, and a path through each, are new. */
	assert_false(fg_dictionary_look_up(d, none));
	assert_int_equal(d->ids.missing, 44);
	fg_dictionary_free(d);
	fg_dictionary_free(base);
	fg_store_share_ids(f->store, NULL);
	fg_ids_free(none);
	fg_ids_free(ids);
	free(p);
}

/* Hostile dictionaries that exploit the shortcuts of a base. */
struct twin_case {
	const char *why;
	size_t names[5];
	size_t name_count;
	struct fg_profile_node nodes[6];
	size_t node_count;
	bool good;
};

static void what_is_there_twice_is_refused_beside_a_base_too(void **state)
{
	/* The base: functions 0 to 3; 1 = root of 1, 2 = 2 below it, 3 = 3 below it. */
	static const struct twin_case cases[] = {
		{"the same again", {0, 1, 2, 3}, 4, {{0}, {0, 1}, {1, 2}, {1, 3}}, 4, true},
		{"function of the base again",
		 {0, 1, 2, 3, 2},
		 5,
		 {{0}, {0, 1}, {1, 2}, {1, 3}},
		 4,
		 false},
		{"function of the base before it", {0, 3, 1, 2, 3}, 5, {{0}, {0, 2}}, 2, false},
		{"new function twice", {0, 1, 7, 7}, 4, {{0}, {0, 1}}, 2, false},
		{"path of the base again",
		 {0, 1, 2, 3},
		 4,
		 {{0}, {0, 1}, {1, 2}, {1, 3}, {1, 2}},
		 5,
		 false},
		{"path of the base before it",
		 {0, 1, 2, 3},
		 4,
		 {{0}, {0, 1}, {1, 3}, {1, 2}, {1, 3}},
		 5,
		 false},
		{"new path twice",
		 {0, 1, 2, 3},
		 4,
		 {{0}, {0, 1}, {1, 2}, {2, 3}, {1, 3}, {2, 3}},
		 6,
		 false},
		{"new path below another",
		 {0, 1, 2, 3},
		 4,
		 {{0}, {0, 1}, {1, 2}, {1, 3}, {2, 2}, {3, 2}},
		 6,
		 true},
	};
	struct fixture *f = *state;
	struct fg_ids *ids = fg_ids_new();
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_dictionary *base = NULL;

	fg_store_share_ids(f->store, ids);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct twin_case *c = &cases[i];
		struct fg_dictionary *d = NULL;
		int status = FG_OK;

		for (size_t n = 0; n < c->name_count; n++)
			p->names[n] = (unsigned)c->names[n];
		p->name_count = c->name_count;
		memcpy(p->nodes, c->nodes, sizeof(c->nodes));
		p->node_count = c->node_count;
		status = open_program(p, base, &d, &f->err);
		if (status != (c->good ? FG_OK : FG_EPARSE))
			fail_msg("%s: %d", c->why, status);
		if (!base) {
			base = d;
			intern(f, base, ids);
		} else {
			fg_dictionary_free(d);
		}
	}
	fg_dictionary_free(base);
	fg_store_share_ids(f->store, NULL);
	fg_ids_free(ids);
	free(p);
}

/*
 * The first function is the unnamed root's: with another one there, a path may be recursive that
 * was not.
 */
static void another_function_at_the_root_is_another_tree(void **state)
{
	struct fixture *f = *state;
	struct fg_ids *ids = fg_ids_new();
	struct program p = {
		.names = {0, 1}, .name_count = 2, .nodes = {{0}, {0, 1}}, .node_count = 2};
	struct fg_dictionary *base = opened(&p, NULL);
	struct fg_dictionary *d = NULL;

	fg_store_share_ids(f->store, ids);
	intern(f, base, ids);
	assert_false(base->recursive[1]);
	p.names[0] = 1;
	p.names[1] = 0;
	p.nodes[1].function = 0;
	d = opened(&p, base);
	intern(f, d, ids);
	assert_true(d->recursive[1]);
	assert_int_equal(d->ids.nodes[1], base->ids.nodes[1]);
	fg_dictionary_free(d);
	fg_dictionary_free(base);
	fg_store_share_ids(f->store, NULL);
	fg_ids_free(ids);
}

/* Every byte changed, cut or doubled: beside a base nothing is taken that is refused alone. */
static void damage_is_found_beside_a_base_too(void **state)
{
	struct fixture *f = *state;
	struct fg_ids *ids = fg_ids_new();
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_bytes content = {0};
	struct fg_dictionary *base = NULL;
	struct fg_random random;
	size_t refused = 0;

	fg_random_seed(&random, 5);
	*p = (struct program){.name_count = 12, .node_count = 1};
	for (unsigned i = 0; i < 12; i++)
		p->names[i] = i;
	grow(p, &random, 40);
	fg_store_share_ids(f->store, ids);
	base = opened(p, NULL);
	intern(f, base, ids);
	write_program(p, &content);
	for (size_t at = 0; at < content.size; at++) {
		const uint8_t had = content.data[at];
		struct fg_dictionary *alone = NULL;
		struct fg_dictionary *beside = NULL;
		int status = FG_OK;

		content.data[at] = (uint8_t)(had + 1 + fg_random_below(&random, 255));
		status = open_bytes(&content, NULL, &alone, &f->err);
		assert_int_equal(open_bytes(&content, base, &beside, &f->err), status);
		refused += status != FG_OK;
		if (status == FG_OK) {
			intern(f, beside, ids);
			(void)fg_dictionary_look_up(alone, ids);
			fg_dictionary_finish(alone);
			same_dictionaries(beside, alone);
		}
		fg_dictionary_free(beside);
		fg_dictionary_free(alone);
		content.data[at] = had;
	}
	assert_true(refused > 10 && refused < content.size - 10);
	fg_dictionary_free(base);
	fg_bytes_release(&content);
	fg_store_share_ids(f->store, NULL);
	fg_ids_free(ids);
	free(p);
}

enum {
	CHAIN = 6,
	CHAIN_ROUNDS = 40
};

/* Each opened beside the one before, of which nothing is known yet: builds that arrive at once. */
static bool open_chain(struct program *p, struct fg_random *random, unsigned *fresh,
		       struct fg_dictionary *chain[CHAIN], struct fg_dictionary *alone[CHAIN])
{
	struct fg_dictionary *base = NULL;

	make_program(p, random);
	for (size_t i = 0; i < CHAIN; i++) {
		chain[i] = NULL;
		alone[i] = NULL;
	}
	for (size_t i = 0; i < CHAIN; i++) {
		chain[i] = opened(p, base);
		alone[i] = opened(p, NULL);
		base = chain[i];
		for (uint64_t n = fg_random_below(random, 6); n > 0; n--)
			change_once(p, random, fresh);
		if (has_twins(p))
			return false;
	}
	return true;
}

static void free_chain(struct fg_dictionary *chain[CHAIN], struct fg_dictionary *alone[CHAIN])
{
	for (size_t i = 0; i < CHAIN; i++) {
		fg_dictionary_abandon(chain[i]);
		fg_dictionary_free(alone[i]);
	}
}

/* As the writing thread does it, also again after a batch was undone. */
static void intern_one(struct fixture *f, struct fg_dictionary *d, struct fg_ids *ids)
{
	(void)fg_dictionary_look_up(d, ids);
	must(f, fg_store_dictionary_intern(f->store, d, &f->err));
}

/* Those from `first` on; the batch before it was undone, and with it all that it gave. */
static void intern_chain(struct fixture *f, struct fg_dictionary *chain[CHAIN], struct fg_ids *ids,
			 size_t first)
{
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (size_t i = 0; i < CHAIN; i++)
		intern_one(f, chain[i], ids);
	fg_store_batch_undo(f->store);
	for (size_t i = first; i < CHAIN; i++) {
		must(f, fg_store_batch_begin(f->store, &f->err));
		intern_one(f, chain[i], ids);
		must(f, fg_store_batch_end(f->store, &f->err));
	}
	for (size_t i = first; i < CHAIN; i++)
		fg_dictionary_finish(chain[i]);
}

static void builds_that_arrive_at_once_are_the_same_as_alone(void **state)
{
	struct fixture *f = *state;
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_random random;
	unsigned fresh = NAMES_MAX;
	size_t compared = 0;

	fg_random_seed(&random, 23);
	for (unsigned round = 0; round < CHAIN_ROUNDS; round++) {
		struct fg_dictionary *chain[CHAIN];
		struct fg_dictionary *alone[CHAIN];
		struct fg_ids *ids = fg_ids_new();
		const size_t first = round % 3;

		fg_store_share_ids(f->store, ids);
		if (open_chain(p, &random, &fresh, chain, alone)) {
			intern_chain(f, chain, ids, first);
			for (size_t i = first; i < CHAIN; i++) {
				assert_true(fg_dictionary_look_up(alone[i], ids));
				fg_dictionary_finish(alone[i]);
				same_dictionaries(chain[i], alone[i]);
				compared++;
			}
		}
		free_chain(chain, alone);
		fg_store_share_ids(f->store, NULL);
		fg_ids_free(ids);
	}
	assert_true(compared > 50); /* otherwise this tells nothing */
	free(p);
}

/* What was found in the one before needs no look-up, although that one is not finished. */
static void ids_of_an_unfinished_base_are_taken_in_its_turn(void **state)
{
	struct fixture *f = *state;
	struct fg_ids *none = fg_ids_new();
	struct program *p = fg_xcalloc(1, sizeof(*p));
	struct fg_dictionary *base = NULL;
	struct fg_dictionary *d = NULL;
	struct fg_random random;

	fg_random_seed(&random, 3);
	make_part(p, 0, 400, &random);
	base = opened(p, NULL);
	d = opened(p, base);
	assert_false(fg_dictionary_look_up(d, none));
	must(f, fg_store_batch_begin(f->store, &f->err));
	must(f, fg_store_dictionary_intern(f->store, base, &f->err));
	/* Whatever the session remembers of it is forgotten: only the base knows. */
	fg_map_release(&f->store->ids.functions);
	fg_map_release(&f->store->ids.nodes);
	must(f, fg_db_script(f->store->db,
			     "SAVEPOINT s; DELETE FROM path_block; DELETE FROM path_root; "
			     "DELETE FROM function",
			     &f->err));
	must(f, fg_store_dictionary_intern(f->store, d, &f->err));
	assert_memory_equal(d->ids.nodes, base->ids.nodes, d->node_count * sizeof(*d->ids.nodes));
	assert_memory_equal(d->ids.functions, base->ids.functions,
			    d->function_count * sizeof(*d->ids.functions));
	fg_store_batch_undo(f->store);
	fg_dictionary_abandon(d);
	fg_dictionary_free(base);
	fg_ids_free(none);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_beside_a_base_is_the_same_as_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(builds_that_arrive_at_once_are_the_same_as_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(ids_of_an_unfinished_base_are_taken_in_its_turn,
						setup, teardown),
		cmocka_unit_test_setup_teardown(dictionaries_of_a_batch_find_what_is_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(little_that_changed_is_little_to_look_up, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_there_twice_is_refused_beside_a_base_too,
						setup, teardown),
		cmocka_unit_test_setup_teardown(another_function_at_the_root_is_another_tree, setup,
						teardown),
		cmocka_unit_test_setup_teardown(damage_is_found_beside_a_base_too, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
