// SPDX-License-Identifier: Apache-2.0
#include "base/json_exchange.h"
#include "tests/support/fg_test.h"

#include <math.h>

struct leg {
	const char *name;
	double length;
};

struct animal {
	const char *name;
	const char *nickname;
	const char *sound;
	double weight;
	double age;
	unsigned eyes;
	bool barks;
	double place[2];
	const char **toys;
	size_t toy_count;
	struct leg *legs;
	size_t leg_count;
	const struct leg *tail; /* may be NULL */
	struct leg neck;
};

/* Leaves out a leg without a name. */
static bool exchange_leg(const struct fg_exchange *with, void *at)
{
	struct leg *leg = at;

	fg_exchange_text(with, "name", &leg->name);
	fg_exchange_number(with, "length", &leg->length);
	return leg->name != NULL;
}

static bool exchange_animal(const struct fg_exchange *with, void *at)
{
	struct animal *animal = at;

	fg_exchange_words(with, "name", &animal->name);
	fg_exchange_text(with, "nickname", &animal->nickname);
	fg_exchange_text_if(with, "sound", &animal->sound);
	fg_exchange_number(with, "weight", &animal->weight);
	fg_exchange_positive(with, "age", &animal->age);
	animal->eyes = (unsigned)fg_exchange_count(with, "eyes", animal->eyes, 8);
	fg_exchange_flag(with, "barks", &animal->barks);
	fg_exchange_pair(with, "place", &animal->place[0], &animal->place[1]);
	fg_exchange_texts(with, "toys", &animal->toys, &animal->toy_count);
	FG_EXCHANGE_LIST(with, "legs", animal->legs, &animal->leg_count, exchange_leg);
	FG_EXCHANGE_OBJECT(with, "tail", animal->tail, exchange_leg);
	(void)fg_exchange_part(with, "neck", &animal->neck, exchange_leg);
	return true;
}

static void write_animal(struct animal *animal, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	(void)exchange_animal(&(struct fg_exchange){.w = &w}, animal);
	fg_json_end(&w);
}

static void read_animal(const char *text, struct fg_arena *arena, struct animal *animal)
{
	cJSON *json = NULL;

	*animal = (struct animal){0};
	assert_int_equal(fg_json_parse(text, strlen(text), 4096, &json, NULL), FG_OK);
	(void)exchange_animal(&(struct fg_exchange){.json = json, .arena = arena}, animal);
	cJSON_Delete(json);
}

FG_TEST(written_values_are_read_back)
{
	static const char expected[] =
		"{\"name\":\"Rex\",\"nickname\":null,\"sound\":\"wuff\",\"weight\":31.5,\"age\":null,"
		"\"eyes\":2,\"barks\":true,\"place\":[1,null],\"toys\":[\"ball\",\"\"],"
		"\"legs\":[{\"name\":\"left\",\"length\":0.5},{\"name\":\"right\",\"length\":null}],"
		"\"tail\":{\"name\":\"tail\",\"length\":0.25},\"neck\":{\"name\":\"neck\","
		"\"length\":1}}";
	const char *toys[] = {"ball", ""};
	struct leg legs[] = {{"left", 0.5}, {"right", (double)NAN}};
	const struct leg tail = {"tail", 0.25};
	struct animal animal = {.name = "Rex",
				.sound = "wuff",
				.weight = 31.5,
				.eyes = 2,
				.barks = true,
				.place = {1, (double)NAN},
				.toys = toys,
				.toy_count = 2,
				.legs = legs,
				.leg_count = 2,
				.tail = &tail,
				.neck = {"neck", 1}};
	struct fg_strbuf first = {0};
	struct fg_strbuf second = {0};
	struct fg_arena arena = {0};
	struct animal again;

	write_animal(&animal, &first);
	assert_string_equal(fg_strbuf_text(&first), expected);
	read_animal(fg_strbuf_text(&first), &arena, &again);
	assert_null(again.nickname);
	assert_true(again.age >= 0 && again.age <= 0);
	assert_true(isnan(again.place[1]));
	write_animal(&again, &second);
	assert_string_equal(fg_strbuf_text(&second), expected);
	fg_strbuf_release(&first);
	fg_strbuf_release(&second);
	fg_arena_release(&arena);
}

FG_TEST(members_of_another_type_count_as_null)
{
	static const char wrong[] =
		"{\"name\":7,\"nickname\":[],\"sound\":null,\"weight\":\"heavy\",\"age\":true,"
		"\"eyes\":9,\"barks\":1,\"place\":[1,2,3],\"toys\":[\"ball\",3,null],"
		"\"legs\":[{\"length\":1},5,{\"name\":\"right\",\"length\":2}],\"tail\":[],\"neck\":3}";
	struct fg_arena arena = {0};
	struct animal animal;

	read_animal(wrong, &arena, &animal);
	assert_string_equal(animal.name, "");
	assert_null(animal.nickname);
	assert_null(animal.sound);
	assert_true(isnan(animal.weight));
	assert_true(animal.age >= 0 && animal.age <= 0);
	assert_int_equal(animal.eyes, 0);
	assert_false(animal.barks);
	assert_true(isnan(animal.place[0]) && isnan(animal.place[1]));
	assert_int_equal(animal.toy_count, 1);
	assert_string_equal(animal.toys[0], "ball");
	assert_int_equal(animal.leg_count, 1);
	assert_string_equal(animal.legs[0].name, "right");
	assert_true(animal.legs[0].length >= 2 && animal.legs[0].length <= 2);
	assert_null(animal.tail);
	assert_null(animal.neck.name);
	read_animal("{}", &arena, &animal);
	assert_int_equal(animal.toy_count, 0);
	assert_int_equal(animal.leg_count, 0);
	fg_arena_release(&arena);
}
