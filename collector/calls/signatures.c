// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/domains.h"

#include <string.h>

/* ---- signatures that users give ---- */

enum type {
	TYPE_OTHER, /* an integer register: not read */
	TYPE_DOUBLE,
	TYPE_FLOAT,
	TYPE_EXTENDED,
	TYPE_COMPLEX_DOUBLE,
	TYPE_COMPLEX_FLOAT,
};

/* Longer names come before their prefixes. */
static const struct {
	const char *name;
	enum type type;
} types[] = {
	{.name = "double complex", .type = TYPE_COMPLEX_DOUBLE},
	{.name = "double*", .type = TYPE_OTHER},
	{.name = "double", .type = TYPE_DOUBLE},
	{.name = "float complex", .type = TYPE_COMPLEX_FLOAT},
	{.name = "float*", .type = TYPE_OTHER},
	{.name = "float", .type = TYPE_FLOAT},
	{.name = "long double*", .type = TYPE_OTHER},
	{.name = "long double", .type = TYPE_EXTENDED},
	{.name = "int*", .type = TYPE_OTHER},
	{.name = "int", .type = TYPE_OTHER},
	{.name = "long*", .type = TYPE_OTHER},
	{.name = "long", .type = TYPE_OTHER},
	{.name = "unsigned", .type = TYPE_OTHER},
	{.name = "bool", .type = TYPE_OTHER},
	{.name = "char*", .type = TYPE_OTHER},
	{.name = "char", .type = TYPE_OTHER},
	{.name = "size_t", .type = TYPE_OTHER},
	{.name = "void*", .type = TYPE_OTHER},
};

static const char *take_type(const char *at, enum type *type)
{
	while (*at == ' ')
		at++;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const size_t size = strlen(types[i].name);

		if (strncmp(at, types[i].name, size) != 0)
			continue;
		*type = types[i].type;
		at += size;
		while (*at == ' ')
			at++;
		return at;
	}
	return NULL;
}

enum {
	INTEGER_REGISTERS = 6,
};

struct places {
	uint8_t registers;
	uint8_t integers;
	uint8_t on_stack;
};

static bool add_argument(struct fg_signature *signature, enum fg_argument_kind kind, uint8_t place)
{
	if (signature->count == FG_DOMAIN_ARGUMENTS_MAX)
		return false;
	signature->arguments[signature->count++] =
		(struct fg_argument){.kind = (uint8_t)kind, .place = place};
	return true;
}

static bool add_type(struct fg_signature *signature, enum type type, struct places *next)
{
	switch (type) {
	case TYPE_OTHER:
		next->integers++;
		return true;
	case TYPE_DOUBLE:
		return add_argument(signature, FG_ARGUMENT_DOUBLE, next->registers++);
	case TYPE_FLOAT:
		return add_argument(signature, FG_ARGUMENT_FLOAT, next->registers++);
	case TYPE_EXTENDED:
		return add_argument(signature, FG_ARGUMENT_EXTENDED, next->on_stack++);
	case TYPE_COMPLEX_DOUBLE:
		return add_argument(signature, FG_ARGUMENT_DOUBLE, next->registers++) &&
		       add_argument(signature, FG_ARGUMENT_DOUBLE, next->registers++);
	case TYPE_COMPLEX_FLOAT:
		return add_argument(signature, FG_ARGUMENT_FLOAT, next->registers) &&
		       add_argument(signature, FG_ARGUMENT_HIGH_FLOAT, next->registers++);
	}
	return false;
}

static const char *take_result(const char *text)
{
	enum type type = TYPE_OTHER;
	const char *at = take_type(text, &type);

	return !at && strncmp(text, "void", 4) == 0 ? text + 4 : at;
}

/* Returns the position of the closing parenthesis; NULL: a parameter is not understood. */
static const char *take_parameters(const char *at, struct fg_signature *signature,
				   struct places *next)
{
	enum type type = TYPE_OTHER;

	if (at[1] == ')')
		return at + 1;
	do {
		at = take_type(at + 1, &type);
		if (!at || !add_type(signature, type, next))
			return NULL;
	} while (*at == ',');
	return at;
}

bool fg_signature_parse(const char *text, struct fg_signature *signature)
{
	struct places next = {0, 0, 0};
	const char *at = NULL;

	if (strlen(text) >= FG_SIGNATURE_MAX)
		return false;
	*signature = (struct fg_signature){0};
	memcpy(signature->text, text, strlen(text));
	at = take_result(text);
	if (!at || *at != '(')
		return false;
	at = take_parameters(at, signature, &next);
	signature->is_in_registers = next.on_stack == 0 && next.integers <= INTEGER_REGISTERS;
	return at && at[0] == ')' && at[1] == '\0';
}

/* ---- signatures in C++ symbols ---- */

/* Returns the position after the target of a pointer or reference. NULL: unsupported. */
static const char *skip_pointee(const char *at)
{
	while (*at && strchr("PROKV", *at))
		at++;
	if (*at && strchr("vwbcahstijlmxydef", *at))
		return at + 1;
	return fg_call_skip_class(at);
}

/* Reads a parameter; returns the start of the next parameter. NULL: its place is not certain. */
static const char *take_encoded(const char *at, enum type *type)
{
	static const struct {
		const char *code;
		enum type type;
	} floating[] = {
		{.code = "d", .type = TYPE_DOUBLE},
		{.code = "f", .type = TYPE_FLOAT},
		{.code = "e", .type = TYPE_EXTENDED},
		{.code = "St7complexIdE", .type = TYPE_COMPLEX_DOUBLE},
		{.code = "St7complexIfE", .type = TYPE_COMPLEX_FLOAT},
	};

	for (size_t i = 0; i < sizeof(floating) / sizeof(floating[0]); i++)
		if (strncmp(at, floating[i].code, strlen(floating[i].code)) == 0) {
			*type = floating[i].type;
			return at + strlen(floating[i].code);
		}
	*type = TYPE_OTHER;
	if (*at && strchr("PRO", *at))
		return skip_pointee(at + 1);
	return *at && strchr("wbcahstijlmxy", *at) ? at + 1 : NULL;
}

/* Returns the first parameter that is not understood, or the end. */
static const char *read_encoded(const char *at, struct fg_signature *seen)
{
	struct places next = {0, 0, 0};
	enum type type = TYPE_OTHER;

	*seen = (struct fg_signature){0};
	if (strcmp(at, "v") == 0)
		at++;
	while (*at) {
		const char *rest = take_encoded(at, &type);

		if (!rest || !add_type(seen, type, &next))
			break;
		at = rest;
	}
	/* Leave an integer register for the object, in case this is a method. */
	seen->is_in_registers = next.on_stack == 0 && next.integers < INTEGER_REGISTERS;
	return at;
}

bool fg_signature_fits(const struct fg_signature *signature, const char *symbol, bool callable)
{
	const char *parameters = fg_call_parameters(symbol);
	struct fg_signature seen;
	const char *unread = NULL;

	if (!parameters || !*parameters)
		return true;
	unread = read_encoded(parameters, &seen);
	if (callable && (*unread || !seen.is_in_registers))
		return false;
	/*
	 * A substitution usually repeats a pointer, so only the parameters before it are compared.
	 */
	if (*unread ? *unread != 'S' || seen.count > signature->count
		    : seen.count != signature->count)
		return false;
	return memcmp(seen.arguments, signature->arguments,
		      seen.count * sizeof(seen.arguments[0])) == 0;
}

/* ---- signatures of libm ---- */

/*
 * Names of functions for double, grouped by parameters; type_of() finds the variants for other
 * types.
 */
static const struct {
	const char *names;
	const char *parameters; /* T stands for the type that the name implies */
} families[] = {
	{.names = " acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 "
		  "expm1 fabs floor gamma ilogb j0 j1 lgamma llogb llrint llround log log10 log1p "
		  "log2 logb lrint lround nearbyint pow10 rint round roundeven significand sin "
		  "sinh sqrt tan tanh tgamma trunc y0 y1 ",
	 .parameters = "T"},
	{.names = " atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder scalb ",
	 .parameters = "T,T"},
	{.names = " fma ", .parameters = "T,T,T"},
	{.names = " ldexp scalbn ", .parameters = "T,int"},
	{.names = " scalbln ", .parameters = "T,long"},
	{.names = " frexp gamma_r lgamma_r ", .parameters = "T,int*"},
	{.names = " modf ", .parameters = "T,T*"},
	{.names = " remquo ", .parameters = "T,T,int*"},
	{.names = " sincos ", .parameters = "T,T*,T*"},
	{.names = " jn yn ", .parameters = "int,T"},
	{.names = " cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog "
		  "clog10 conj cproj creal csin csinh csqrt ctan ctanh ",
	 .parameters = "T complex"},
	{.names = " cpow ", .parameters = "T complex,T complex"},
};

enum {
	WORD_MAX = 30
};

/*
 * Is the word of this size in the list, between blanks? Must be fast: a pattern like "*" looks up
 * every function of every object.
 */
static bool lists(const char *list, const char *word, size_t size)
{
	char item[WORD_MAX + 3] = {' '};

	if (size > WORD_MAX)
		return false;
	memcpy(item + 1, word, size);
	item[1 + size] = ' ';
	return strstr(list, item) != NULL;
}

static const char *parameters_of(const char *name, size_t size)
{
	for (size_t i = 0; size > 0 && i < sizeof(families) / sizeof(families[0]); i++)
		if (lists(families[i].names, name, size))
			return families[i].parameters;
	return NULL;
}

static bool spell(const char *type, const char *parameters, struct fg_signature *signature)
{
	char text[FG_SIGNATURE_MAX];
	size_t size = 0;

	for (const char *at = parameters; *at; at++) {
		const char *part = *at == 'T' ? type : NULL;

		if (!part) {
			text[size++] = *at;
			continue;
		}
		memcpy(text + size, part, strlen(part));
		size += strlen(part);
	}
	text[size] = '\0';
	/* The type of the result does not matter here: write the type of the arguments. */
	char whole[FG_SIGNATURE_MAX];
	const size_t type_size = strlen(type);

	if (type_size + size + 3 > sizeof(whole))
		return false;
	memcpy(whole, type, type_size);
	whole[type_size] = '(';
	memcpy(whole + type_size + 1, text, size);
	whole[type_size + 1 + size] = ')';
	whole[type_size + 2 + size] = '\0';
	return fg_signature_parse(whole, signature);
}

/*
 * Returns the type that the name's suffix stands for; `base` gets the name's size without the
 * suffix.
 */
static const char *type_of(const char *name, size_t size, size_t *base)
{
	static const struct {
		const char *end;
		const char *type;
	} ends[] = {
		{.end = "f32x", .type = "double"}, {.end = "f64x", .type = "long double"},
		{.end = "f32", .type = "float"},   {.end = "f64", .type = "double"},
		{.end = "f", .type = "float"},     {.end = "l", .type = "long double"},
	};

	*base = size;
	if (parameters_of(name, size))
		return "double";
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t end = strlen(ends[i].end);

		*base = size > end ? size - end : 0;
		if (*base && memcmp(name + *base, ends[i].end, end) == 0 &&
		    parameters_of(name, *base))
			return ends[i].type;
	}
	return NULL;
}

bool fg_signature_is_plain(const struct fg_signature *signature)
{
	for (size_t i = 0; i < signature->count; i++) {
		const struct fg_argument *argument = &signature->arguments[i];

		if ((argument->kind != FG_ARGUMENT_DOUBLE && argument->kind != FG_ARGUMENT_FLOAT) ||
		    argument->place >= FG_CALL_GLANCE_VECTORS)
			return false;
	}
	return signature->lanes == 0;
}

static bool find_scalar(const char *name, size_t size, struct fg_signature *signature)
{
	size_t base = 0;
	const char *type = type_of(name, size, &base);

	return type && spell(type, parameters_of(name, base), signature);
}

/*
 * Finds the signature of a vector function such as "_ZGVdN4v_sin": registers of 32 bytes, not
 * masked, 4 values each, one argument.
 */
static bool find_vector(const char *name, struct fg_signature *signature)
{
	static const char letters[] = "bcde";
	static const uint8_t sizes[] = {16, 32, 32, 64};
	const char *at = name + 4;
	const char *letter = *at ? strchr(letters, *at) : NULL;
	unsigned lanes = 0;

	if (!letter || at[1] != 'N')
		return false;
	for (at += 2; *at >= '0' && *at <= '9' && lanes < 100; at++)
		lanes = 10 * lanes + (unsigned)(*at - '0');
	if (lanes < 2 || lanes > 16 || *at != 'v')
		return false;
	while (*at == 'v')
		at++;
	if (*at != '_' || !find_scalar(at + 1, strlen(at + 1), signature))
		return false;
	signature->lanes = (uint8_t)lanes;
	signature->is_in_registers = false;
	return lanes * (signature->arguments[0].kind == FG_ARGUMENT_DOUBLE ? 8u : 4u) ==
	       sizes[letter - letters];
}

bool fg_signature_find(const char *name, struct fg_signature *signature)
{
	static const char finite[] = "_finite";
	const size_t size = strlen(name);
	const size_t tail = sizeof(finite) - 1;

	if (strncmp(name, "_ZGV", 4) == 0)
		return find_vector(name, signature);
	if (size > WORD_MAX || memchr(name, ':', size))
		return false;
	/* Before glibc 2.31, -ffast-math makes code call "__exp_finite" and similar functions. */
	if (strncmp(name, "__", 2) == 0 && size > tail + 2 &&
	    strcmp(name + size - tail, finite) == 0)
		return find_scalar(name + 2, size - tail - 2, signature);
	return find_scalar(name, size, signature);
}

/* ---- functions of the C library ---- */

/* None of these functions takes more than six arguments, returns twice or looks at its caller. */
static const char plain_functions[] =
	" abs access atof atoi atol bsearch calloc clock clock_gettime close fclose fflush fgetc fgets "
	"fopen fputc fputs fread free fseek fstat ftell fwrite getc getenv getline gettimeofday gmtime "
	"localtime lseek lstat malloc memchr memcmp memcpy memmove memset mktime mmap munmap nanosleep "
	"poll pread putc puts pwrite qsort rand random read realloc regexec select stat strcasecmp "
	"strcat strchr strcmp strcoll strcpy strcspn strdup strftime strlen strncasecmp strncmp strncpy "
	"strnlen strpbrk strrchr strspn strstr strtod strtof strtok strtol strtoul time toupper tolower "
	"unlink usleep write writev ";

bool fg_signature_find_any(const char *name, struct fg_signature *signature)
{
	if (fg_signature_find(name, signature))
		return true;
	*signature = (struct fg_signature){.is_in_registers = true};
	return lists(plain_functions, name, strlen(name));
}

bool fg_call_looks_at_caller(const char *name)
{
	return lists(" setjmp _setjmp sigsetjmp __sigsetjmp vfork getcontext dlsym dlvsym dlopen "
		     "dlmopen makecontext swapcontext longjmp _longjmp siglongjmp __longjmp_chk ",
		     name, strlen(name));
}
