# Turns store/schema/*.sql and store/queries/*.sql into C: one enum constant per query, one text per
# migration. A query begins with "-- name: words_with_underscores" and reaches to the next such
# line.
#   cmake -DSCHEMA="a.sql;b.sql" -DLAST_STEP=l.sql -DQUERIES="c.sql;d.sql" -DHEADER=sql.h -DSOURCE=sql.c -P embed_sql.cmake
set(note "/* Made by store/cmake/embed_sql.cmake from store/schema and store/queries. */\n")
set(constants "")
set(texts "")
set(schemas "")
set(schema_count 0)
set(part_count 0)

function(c_string text variable)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REGEX REPLACE "\n+$" "" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t\t\"" text "${text}")
	set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Semicolons end SQL statements and separate CMake's lists: they travel as another character.
string(ASCII 1 semicolon)
foreach(path IN LISTS QUERIES)
	file(READ ${path} content)
	string(REPLACE ";" "${semicolon}" content "${content}")
	string(REPLACE "-- name: " ";" parts "${content}")
	foreach(part IN LISTS parts)
		if(NOT part MATCHES "^([a-z0-9_]+)\n(.*)$")
			continue()
		endif()
		set(name "${CMAKE_MATCH_1}")
		set(text "${CMAKE_MATCH_2}")
		string(TOUPPER "${name}" upper)
		string(REPLACE "${semicolon}" "" text "${text}")
		string(REGEX REPLACE "--[^\n]*\n" "" text "${text}")
		c_string("${text}" quoted)
		string(APPEND constants "\tFG_SQL_${upper},\n")
		string(APPEND texts "\t[FG_SQL_${upper}] = {\"${name}\",\n\t\t${quoted}},\n")
	endforeach()
endforeach()
# A compiler need not take texts of more than 4095 characters: a migration is cut where it says "--
# part:".
foreach(path IN LISTS SCHEMA)
	math(EXPR schema_count "${schema_count} + 1")
	file(READ ${path} content)
	string(REPLACE ";" "${semicolon}" content "${content}")
	string(REPLACE "-- part:" ";--" parts "${content}")
	foreach(part IN LISTS parts)
		string(REGEX REPLACE "--[^\n]*\n" "" part "${part}")
		c_string("${part}" quoted)
		string(REPLACE "${semicolon}" ";" quoted "${quoted}")
		string(APPEND schemas "\t{${schema_count}, ${quoted}},\n")
		math(EXPR part_count "${part_count} + 1")
	endforeach()
endforeach()

file(READ ${LAST_STEP} content)
string(REGEX REPLACE "--[^\n]*\n" "" content "${content}")
c_string("${content}" last_step)

file(WRITE ${HEADER} "${note}#ifndef FG_STORE_SQL_H\n#define FG_STORE_SQL_H\n\nenum fg_sql {\n${constants}\tFG_SQL_COUNT,\n};\n\n"
	"enum { FG_SCHEMA_VERSION = ${schema_count}, FG_SCHEMA_PARTS = ${part_count} };\n\n"
	"struct fg_schema_part {\n\tint version;\n\tconst char *text;\n};\n\n"
	"struct fg_sql_text {\n\tconst char *name;\n\tconst char *text;\n};\n\n"
	"extern const struct fg_sql_text fg_sql_texts[FG_SQL_COUNT];\n"
	"extern const struct fg_schema_part fg_schema_parts[FG_SCHEMA_PARTS];\n"
	"extern const char fg_schema_last_step[];\n\n#endif\n")
file(WRITE ${SOURCE} "${note}#include \"store/sql.h\"\n\nconst struct fg_sql_text fg_sql_texts[FG_SQL_COUNT] = {\n${texts}};\n\n"
	"const struct fg_schema_part fg_schema_parts[FG_SCHEMA_PARTS] = {\n${schemas}};\n\n"
	"const char fg_schema_last_step[] =\n\t\t${last_step};\n")
