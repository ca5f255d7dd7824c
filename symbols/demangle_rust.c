// SPDX-License-Identifier: Apache-2.0
/*
 * Rust's two manglings.
 *
 * The older one is the C++ scheme with a hash as last part and punctuation spelled out ("$LT$" for
 * '<', ".." for "::"); the C++ demangler has done its part already.
 *
 * The newer one ("v0", RFC 2603) is a grammar of its own:
 *
 *	symbol   = "_R" [decimal] path [instantiating crate]
 *	path     = "C" ident | "M" impl type | "X" impl type path | "Y" type path
 *	         | "N" ns path ident | "I" path generic* "E" | "B" backref
 *	type     = basic letter | path | "A" type const | "S" type | "T" type* "E"
 *	         | "R"/"Q" [lifetime] type | "P"/"O" type | "F" signature | "D" bounds lifetime
 *	         | "B" backref
 *
 * Back-references make a short name that prints without end possible; so depth, output and the
 * number of steps are bounded, and a name that exceeds them stays as it is.
 */
#include "symbols/demangle.h"

#include <ctype.h>

enum {
	MAX_DEPTH = 128,
	MAX_STEPS = 20000
};

/* ------------------------------------------------------------ the older one */

static const struct {
	const char *escape, *text;
} escapes[] = {
	{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
	{"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","},
};

static bool is_hash(const char *part)
{
	if (*part++ != 'h')
		return false;
	for (int i = 0; i < 16; i++)
		if (!isxdigit((unsigned char)part[i]) || isupper((unsigned char)part[i]))
			return false;
	return part[16] == '\0';
}

static void add_utf8(struct fg_strbuf *text, unsigned long point)
{
	if (point < 0x80) {
		fg_strbuf_add_char(text, (char)point);
	} else if (point < 0x800) {
		fg_strbuf_add_char(text, (char)(0xc0 | point >> 6));
		fg_strbuf_add_char(text, (char)(0x80 | (point & 0x3f)));
	} else if (point < 0x10000) {
		fg_strbuf_add_char(text, (char)(0xe0 | point >> 12));
		fg_strbuf_add_char(text, (char)(0x80 | (point >> 6 & 0x3f)));
		fg_strbuf_add_char(text, (char)(0x80 | (point & 0x3f)));
	} else {
		fg_strbuf_add_char(text, (char)(0xf0 | (point >> 18 & 7)));
		fg_strbuf_add_char(text, (char)(0x80 | (point >> 12 & 0x3f)));
		fg_strbuf_add_char(text, (char)(0x80 | (point >> 6 & 0x3f)));
		fg_strbuf_add_char(text, (char)(0x80 | (point & 0x3f)));
	}
}

/* "$LT$" at `at`: writes its text and returns the bytes taken; 0: not an escape. */
static size_t add_escape(const char *at, struct fg_strbuf *text)
{
	const char *end = strchr(at + 1, '$');
	size_t length = end ? (size_t)(end - at - 1) : 0;
	char *behind;
	unsigned long point;

	if (length == 0)
		return 0;
	for (size_t i = 0; i < FG_ARRAY_SIZE(escapes); i++) {
		if (strlen(escapes[i].escape) == length &&
		    memcmp(escapes[i].escape, at + 1, length) == 0) {
			fg_strbuf_add_text(text, escapes[i].text);
			return length + 2;
		}
	}
	if (at[1] != 'u' || !isxdigit((unsigned char)at[2]))
		return 0;
	point = strtoul(at + 2, &behind, 16);
	if (behind != end || point < 0x20 || point > 0x10ffff || point == 0x7f)
		return 0;
	add_utf8(text, point);
	return length + 2;
}

bool fg_demangle_rust_legacy(const char *demangled, struct fg_strbuf *readable)
{
	size_t length = strlen(demangled);
	const char *end;

	if (length < 19 || strncmp(demangled + length - 19, "::", 2) != 0 ||
	    !is_hash(demangled + length - 17))
		return false;
	end = demangled + length - 19;
	for (const char *at = demangled; at < end;) {
		size_t taken = *at == '$' ? add_escape(at, readable) : 0;

		if (taken > 0) {
			at += taken;
		} else if (at[0] == '.' && at[1] == '.') {
			fg_strbuf_add_text(readable, "::");
			at += 2;
		} else if (at[0] == '_' && at[1] == '$' && (at == demangled || at[-1] == ':')) {
			at++; /* put before a name that would begin with an escape */
		} else {
			fg_strbuf_add_char(readable, *at++);
		}
	}
	return true;
}

/* ------------------------------------------------------------ the newer one */

struct rust {
	const char *name; /* behind "_R" */
	size_t length;
	size_t at;
	struct fg_strbuf *out; /* NULL: look, do not write */
	unsigned depth, steps;
	unsigned lifetimes; /* bound by the "for<…>" around us */
	bool failed;
};

static void add_path(struct rust *r, bool in_value);
static void add_type(struct rust *r);

static bool enter(struct rust *r)
{
	if (r->failed || ++r->depth > MAX_DEPTH || ++r->steps > MAX_STEPS ||
	    (r->out && r->out->length > FG_DEMANGLE_MAX_OUTPUT))
		r->failed = true;
	return !r->failed;
}

static void put(struct rust *r, const char *text)
{
	if (r->out && !r->failed)
		fg_strbuf_add_text(r->out, text);
}

static char peek(const struct rust *r)
{
	return (char)(r->at < r->length ? r->name[r->at] : '\0');
}

static char next(struct rust *r)
{
	char c = peek(r);

	if (c)
		r->at++;
	else
		r->failed = true;
	return c;
}

static bool eat(struct rust *r, char c)
{
	if (r->failed || peek(r) != c)
		return false;
	r->at++;
	return true;
}

/* "_" is 0, "0_" is 1, "Z_" is 62: digits of base 62, one less than meant. */
static uint64_t take_base62(struct rust *r)
{
	uint64_t value = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->failed && peek(r) != '_') {
		char c = next(r);
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
							: 62;

		if (digit == 62 || value > (UINT64_MAX - digit) / 62)
			r->failed = true;
		else
			value = value * 62 + digit;
	}
	(void)next(r);
	return value + 1;
}

static uint64_t take_disambiguator(struct rust *r)
{
	return eat(r, 's') ? take_base62(r) + 1 : 0;
}

static size_t take_decimal(struct rust *r)
{
	size_t value = 0;

	if (eat(r, '0'))
		return 0;
	if (!isdigit((unsigned char)peek(r)))
		r->failed = true;
	while (isdigit((unsigned char)peek(r)) && !r->failed) {
		value = value * 10 + (size_t)(next(r) - '0');
		if (value > r->length)
			r->failed = true;
	}
	return value;
}

enum {
	PUNYCODE_POINTS = 256
};

/*
 * Punycode (RFC 3492) with '_' as its delimiter: where we are in the text, and the points so far.
 */
struct punycode {
	const char *at, *end;
	uint32_t points[PUNYCODE_POINTS];
	size_t count;
	uint32_t bias;
};

/* A digit: a to z, then 0 to 9; 36: not a digit. */
static uint32_t punycode_digit(struct punycode *p)
{
	char c = '\0';

	if (p->at < p->end)
		c = *p->at++;
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a');
	return c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 26 : 36;
}

/* A number of several digits, each with its own threshold, added to *sum. */
static bool punycode_number(struct punycode *p, uint32_t *sum)
{
	enum {
		BASE = 36,
		LOWEST = 1,
		HIGHEST = 26
	};
	uint32_t weight = 1;

	for (uint32_t k = BASE;; k += BASE) {
		uint32_t threshold = k <= p->bias ? LOWEST : k - p->bias;
		uint32_t digit = punycode_digit(p);

		if (threshold > HIGHEST)
			threshold = HIGHEST;
		if (digit >= BASE || digit > (UINT32_MAX - *sum) / weight)
			return false;
		*sum += digit * weight;
		if (digit < threshold)
			return true;
		if (weight > UINT32_MAX / (BASE - threshold))
			return false;
		weight *= BASE - threshold;
	}
}

static uint32_t punycode_bias(uint32_t delta, uint32_t count)
{
	uint32_t bias = 0;

	delta += delta / count;
	for (; delta > 455; bias += 36)
		delta /= 35;
	return bias + 36 * delta / (delta + 38);
}

static bool punycode_decode(struct punycode *p)
{
	uint32_t point = 128;
	uint32_t place = 0;

	while (p->at < p->end) {
		uint32_t before = place;
		uint32_t count = (uint32_t)p->count + 1;

		if (p->count == PUNYCODE_POINTS || !punycode_number(p, &place))
			return false;
		p->bias = punycode_bias(before == 0 ? place / 700 : (place - before) / 2, count);
		point += place / count;
		place %= count;
		if (point > 0x10ffff)
			return false;
		memmove(&p->points[place + 1], &p->points[place],
			(p->count - place) * sizeof(p->points[0]));
		p->points[place++] = point;
		p->count++;
	}
	return true;
}

/* Everything before the last delimiter is plain letters. */
static bool add_punycode(struct rust *r, const char *bytes, size_t length)
{
	struct punycode p = {.at = bytes, .end = bytes + length, .bias = 72};
	const char *delimiter = memrchr(bytes, '_', length);

	if (delimiter) {
		for (; p.at < delimiter && p.count < PUNYCODE_POINTS; p.at++)
			p.points[p.count++] = (unsigned char)*p.at;
		p.at = delimiter + 1;
	}
	if (!punycode_decode(&p))
		return false;
	for (size_t i = 0; r->out && i < p.count; i++)
		add_utf8(r->out, p.points[i]);
	return true;
}

/* An identifier without its disambiguator: length, bytes.  `write` false: skipped. */
static void add_identifier(struct rust *r)
{
	bool punycode = eat(r, 'u');
	size_t length = take_decimal(r);
	const char *bytes;

	(void)eat(r, '_');
	if (r->failed || length > r->length - r->at) {
		r->failed = true;
		return;
	}
	bytes = r->name + r->at;
	r->at += length;
	if (punycode)
		r->failed = !add_punycode(r, bytes, length);
	else if (r->out)
		fg_strbuf_add(r->out, bytes, length);
}

/* Go on at an earlier place of the name, then come back. */
static void follow(struct rust *r, void (*add)(struct rust *r, bool flag), bool flag)
{
	size_t here = r->at - 1; /* of the 'B' */
	uint64_t target = take_base62(r);
	size_t back = r->at;

	if (r->failed || target >= here) {
		r->failed = true;
		return;
	}
	if (!r->out)
		return; /* was looked at when it stood there */
	r->at = (size_t)target;
	add(r, flag);
	r->at = back;
}

static void add_type_again(struct rust *r, bool flag)
{
	(void)flag;
	add_type(r);
}

static void add_lifetime(struct rust *r, uint64_t index)
{
	char text[32];

	if (index == 0) {
		put(r, "'_");
	} else if (index > r->lifetimes) {
		r->failed = true;
	} else {
		uint64_t depth =
			r->lifetimes - index; /* at most 32 binders deep in any real name */

		if (depth < 26)
			(void)snprintf(text, sizeof(text), "'%c", (int)depth + 'a');
		else
			(void)snprintf(text, sizeof(text), "'z%u", (unsigned)depth);
		put(r, text);
	}
}

/* "for<'a, 'b> " */
static unsigned add_binder(struct rust *r)
{
	uint64_t count = eat(r, 'G') ? take_base62(r) + 1 : 0;

	if (count > 32) {
		r->failed = true;
		return 0;
	}
	if (count > 0) {
		put(r, "for<");
		for (uint64_t i = 0; i < count; i++) {
			put(r, i ? ", " : "");
			r->lifetimes++;
			add_lifetime(r, 1);
		}
		put(r, "> ");
	}
	return (unsigned)count;
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool",  ['c' - 'a'] = "char",
		['d' - 'a'] = "f64",  ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",   ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['s' - 'a'] = "i16",   ['t' - 'a'] = "u16",
		['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",
		['y' - 'a'] = "u64",  ['z' - 'a'] = "!",     ['p' - 'a'] = "_",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void add_constant(struct rust *r, bool flag);

/* Hexadecimal digits up to '_': numbers that fit 64 bits in decimal, others as they are. */
static void add_number(struct rust *r, char type)
{
	bool negative = eat(r, 'n');
	size_t start = r->at;
	char text[64];
	uint64_t value = 0;
	size_t digits = 0;

	while (isxdigit((unsigned char)peek(r))) {
		char c = next(r);

		value = value << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
		digits++;
	}
	if (!eat(r, '_')) {
		r->failed = true;
		return;
	}
	put(r, negative ? "-" : "");
	if (type == 'b') {
		put(r, value ? "true" : "false");
	} else if (type == 'c' && value >= 0x20 && value < 0x7f) {
		(void)snprintf(text, sizeof(text), "'%c'", (int)value);
		put(r, text);
	} else if (digits <= 16) {
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		put(r, text);
	} else {
		put(r, "0x");
		if (r->out)
			fg_strbuf_add(r->out, r->name + start, digits);
	}
}

static void add_constant(struct rust *r, bool flag)
{
	char c = next(r);

	(void)flag;
	if (!enter(r))
		return;
	if (c == 'B')
		follow(r, add_constant, false);
	else if (c == 'p')
		put(r, "_");
	else if (c && strchr("abchijlmnostxy", c))
		add_number(r, c);
	else
		r->failed = true;
	r->depth--;
}

static void add_generic(struct rust *r)
{
	if (eat(r, 'L'))
		add_lifetime(r, take_base62(r));
	else if (eat(r, 'K'))
		add_constant(r, false);
	else
		add_type(r);
}

/* Elements up to 'E', separated by commas; returns how many. */
static size_t add_list(struct rust *r, void (*add)(struct rust *r))
{
	size_t count = 0;

	while (!r->failed && !eat(r, 'E')) {
		put(r, count++ ? ", " : "");
		add(r);
	}
	return count;
}

static void skip_impl_path(struct rust *r)
{
	struct fg_strbuf *out = r->out;

	r->out = NULL;
	(void)take_disambiguator(r);
	add_path(r, false);
	r->out = out;
}

static void add_nested(struct rust *r, bool in_value)
{
	char space = next(r);
	uint64_t number;
	char text[32];
	size_t before;

	add_path(r, in_value);
	number = take_disambiguator(r);
	if (islower((unsigned char)space)) {
		before = r->out ? r->out->length : 0;
		put(r, "::");
		add_identifier(r);
		if (r->out && r->out->length == before + 2) /* no name: nothing to show */
			r->out->data[r->out->length = before] = '\0';
		return;
	}
	put(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
	if (space != 'C' && space != 'S') {
		(void)snprintf(text, sizeof(text), "%c", space);
		put(r, text);
	}
	if (peek(r) != '0')
		put(r, ":");
	add_identifier(r);
	(void)snprintf(text, sizeof(text), "#%llu}", (unsigned long long)number);
	put(r, text);
}

static void add_path(struct rust *r, bool in_value)
{
	char c = next(r);

	if (!enter(r))
		return;
	switch (c) {
	case 'C':
		(void)take_disambiguator(r);
		add_identifier(r);
		break;
	case 'N':
		add_nested(r, in_value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		if (c != 'Y')
			skip_impl_path(r);
		put(r, "<");
		add_type(r);
		if (c != 'M') {
			put(r, " as ");
			add_path(r, false);
		}
		put(r, ">");
		break;
	case 'I':
		add_path(r, in_value);
		put(r, in_value ? "::<" : "<");
		(void)add_list(r, add_generic);
		put(r, ">");
		break;
	case 'B':
		follow(r, add_path, in_value);
		break;
	default:
		r->failed = true;
	}
	r->depth--;
}

static void add_function_type(struct rust *r)
{
	unsigned bound = add_binder(r);
	struct fg_strbuf *out = r->out;

	put(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		put(r, "extern \"");
		if (eat(r, 'C'))
			put(r, "C");
		else
			add_identifier(r);
		put(r, "\" ");
	}
	put(r, "fn(");
	(void)add_list(r, add_type);
	put(r, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		add_type(r);
	}
	r->out = out;
	r->lifetimes -= bound;
}

/*
 * A trait of a "dyn" type: its path, whose "<…>" stays open for associated types that follow as "p
 * name type".
 */
static void add_dyn_trait(struct rust *r)
{
	bool open = eat(r, 'I');

	if (!enter(r))
		return;
	add_path(r, false);
	if (open) {
		put(r, "<");
		(void)add_list(r, add_generic);
	}
	while (!r->failed && eat(r, 'p')) {
		put(r, open ? ", " : "<");
		open = true;
		add_identifier(r);
		put(r, " = ");
		add_type(r);
	}
	put(r, open ? ">" : "");
	r->depth--;
}

static void add_dyn(struct rust *r)
{
	unsigned bound;
	size_t count = 0;

	put(r, "dyn ");
	bound = add_binder(r);
	while (!r->failed && !eat(r, 'E')) {
		put(r, count++ ? " + " : "");
		add_dyn_trait(r);
	}
	r->lifetimes -= bound;
	if (!eat(r, 'L')) {
		r->failed = true;
	} else {
		uint64_t lifetime = take_base62(r);

		if (lifetime > 0) {
			put(r, " + ");
			add_lifetime(r, lifetime);
		}
	}
}

static void add_reference(struct rust *r, const char *qualifier)
{
	put(r, "&");
	if (eat(r, 'L')) {
		uint64_t lifetime = take_base62(r);

		if (lifetime > 0) {
			add_lifetime(r, lifetime);
			put(r, " ");
		}
	}
	put(r, qualifier);
	add_type(r);
}

static void add_compound(struct rust *r, char c)
{
	size_t count;

	switch (c) {
	case 'A':
	case 'S':
		put(r, "[");
		add_type(r);
		if (c == 'A') {
			put(r, "; ");
			add_constant(r, false);
		}
		put(r, "]");
		break;
	case 'T':
		put(r, "(");
		count = add_list(r, add_type);
		put(r, count == 1 ? ",)" : ")");
		break;
	case 'R':
	case 'Q':
		add_reference(r, c == 'Q' ? "mut " : "");
		break;
	case 'P':
	case 'O':
		put(r, c == 'P' ? "*const " : "*mut ");
		add_type(r);
		break;
	case 'F':
		add_function_type(r);
		break;
	case 'D':
		add_dyn(r);
		break;
	default: /* 'B' */
		follow(r, add_type_again, false);
		break;
	}
}

static void add_type(struct rust *r)
{
	char c = peek(r);
	const char *basic = basic_type(c);

	if (!enter(r))
		return;
	if (basic) {
		r->at++;
		put(r, basic);
	} else if (c && strchr("ASTRQPOFDB", c)) {
		r->at++;
		add_compound(r, c);
	} else {
		add_path(r, false);
	}
	r->depth--;
}

bool fg_demangle_rust_v0(const char *linkage, size_t length, struct fg_strbuf *readable)
{
	struct fg_strbuf out = {0};
	struct rust r = {.name = linkage + 2, .length = length - 2, .out = &out};

	if (length < 3 || !isupper((unsigned char)linkage[2]))
		return false;
	add_path(&r, true);
	if (!r.failed && r.at < r.length) { /* the crate that made this copy */
		r.out = NULL;
		add_path(&r, false);
	}
	if (!r.failed && r.at == r.length && out.length <= FG_DEMANGLE_MAX_OUTPUT)
		fg_strbuf_add(readable, out.data, out.length);
	else
		r.failed = true;
	fg_strbuf_release(&out);
	return !r.failed;
}
