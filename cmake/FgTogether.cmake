# fg_compile_together(): compiles several sources of a room in one run of the compiler, because starting the compiler
# takes a quarter of the compile time. Only for builds with a sanitizer: other builds must find a missing #include,
# which another source would supply here. Sources with equal private names are kept apart by scripts/together.py,
# whenever CMake runs.
option(FG_TOGETHER "builds with a sanitizer compile several sources in one go" ON)
set(FG_TOGETHER_AT_MOST 8)
# One file's array may have the name of another file's parameter, and two headers that no file includes together
# may declare the same function.
add_library(fg_together INTERFACE)
target_compile_options(fg_together INTERFACE -Wno-shadow -Wno-redundant-decls)

function(fg_compile_together)
	get_property(modules GLOBAL PROPERTY FG_MODULES)
	set(sources "")
	foreach(module IN LISTS modules)
		target_link_libraries(${module} PRIVATE fg_together) # after the warnings that it disables
		set_target_properties(${module} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
		get_target_property(folder ${module} SOURCE_DIR)
		get_target_property(files ${module} SOURCES)
		foreach(file IN LISTS files)
			cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder})
			cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${file} made)
			if(file MATCHES "\\.c$" AND NOT made)
				string(APPEND sources "${module} ${file}\n")
			endif()
		endforeach()
	endforeach()
	file(WRITE ${CMAKE_BINARY_DIR}/together.txt "${sources}")
	execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/together.py ${FG_TOGETHER_AT_MOST}
		INPUT_FILE ${CMAKE_BINARY_DIR}/together.txt OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
	string(REGEX MATCHALL "[^\n]+" groups "${groups}")
	foreach(line IN LISTS groups)
		string(REGEX MATCH "^([^ ]+) ([0-9]+) (.+)$" line "${line}")
		set_source_files_properties(${CMAKE_MATCH_3} TARGET_DIRECTORY ${CMAKE_MATCH_1} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2})
	endforeach()
endfunction()
