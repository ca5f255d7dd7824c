# fg_module(<name> SOURCES ... [SYSTEM_LIBS ...])
# One folder, one static library.  It links what the folder's row in the table of docs/architecture.md allows it to
# include; scripts/check-layers.py holds every #include against the same row.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/architecture.md)
file(READ ${PROJECT_SOURCE_DIR}/docs/architecture.md fg_rooms_page)

# The rooms that <folder> may include, as a list of folders.
function(fg_rooms_below folder result)
	if(NOT fg_rooms_page MATCHES "\n[|] `${folder}/` [|][^|\n]*[|]([^|\n]*)[|]")
		message(FATAL_ERROR "docs/architecture.md has no row for ${folder}/")
	endif()
	string(REGEX REPLACE "`[^`]*`" "" cell "${CMAKE_MATCH_1}")
	string(REGEX MATCHALL "[a-z_]+(/[a-z_]+)*" rooms "${cell}")
	set(${result} "${rooms}" PARENT_SCOPE)
endfunction()

function(fg_module name)
	cmake_parse_arguments(M "" "" "SOURCES;SYSTEM_LIBS" ${ARGN})
	file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
	fg_rooms_below(${folder} rooms)
	add_library(fg_${name} STATIC ${M_SOURCES})
	add_library(fastgate::${name} ALIAS fg_${name})
	target_include_directories(fg_${name} PUBLIC ${PROJECT_SOURCE_DIR})
	target_link_libraries(fg_${name} PRIVATE fg_warnings fg_hardening fg_sanitize ${M_SYSTEM_LIBS})
	foreach(room IN LISTS rooms)
		string(REPLACE "/" "_" room "${room}")
		target_link_libraries(fg_${name} PUBLIC fastgate::${room})
	endforeach()
endfunction()
