# Turns store/schema.sql and store/queries/*.sql into C: one string per statement of the schema, one
# enum constant per query. A query begins with "-- name: words_with_underscores" and extends to the
# next such line.
#   cmake -DSCHEMA=schema.sql -DQUERIES="a.sql;b.sql" -DHEADER=sql.h -DSOURCE=sql.c -P embed_sql.cmake
set(note "/* Made by store/cmake/embed_sql.cmake from store/schema.sql and store/queries. */\n")
set(constants "")
set(texts "")
set(statements "")

function(c_string text variable)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REGEX REPLACE "\n+$" "" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t\t\"" text "${text}")
	set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Semicolons end SQL statements, but also separate CMake's lists, so another character replaces them.
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
# A compiler may refuse strings of more than 4095 characters, so the schema is cut into its statements.
file(READ ${SCHEMA} content)
string(REGEX REPLACE "--[^\n]*\n" "\n" content "${content}")
foreach(statement IN LISTS content)
	string(STRIP "${statement}" statement)
	if(statement)
		c_string("${statement}" quoted)
		string(APPEND statements "\t${quoted},\n")
	endif()
endforeach()

file(WRITE ${HEADER} "${note}#ifndef FG_STORE_SQL_H\n#define FG_STORE_SQL_H\n\n#include <stddef.h>\n\nenum fg_sql {\n${constants}\tFG_SQL_COUNT,\n};\n\n"
	"struct fg_sql_text {\n\tconst char *name;\n\tconst char *text;\n};\n\n"
	"extern const struct fg_sql_text fg_sql_texts[FG_SQL_COUNT];\n"
	"extern const char *const fg_schema[]; /* statements, NULL-terminated */\n\n#endif\n")
file(WRITE ${SOURCE} "${note}#include \"store/sql.h\"\n\nconst struct fg_sql_text fg_sql_texts[FG_SQL_COUNT] = {\n${texts}};\n\n"
	"const char *const fg_schema[] = {\n${statements}\tNULL,\n};\n")
