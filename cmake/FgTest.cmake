# Ends a test that hangs, but not a test that waits for a busy machine.
set(FG_TEST_TIMEOUT_S 600)

# Labels that select a part of the tests:
#   unit, integration, e2e,
#   security, fuzz, lint                 kind of the test
#   unit:FOLDER, whole:FOLDER            the folder it is in (`./dev test --changed`)
#   plain                                a sanitizer would find nothing that other tests do not find
#   sanitized                            the optimised build would find nothing that other tests do not find
#   slow                                 takes more than ten seconds on a quiet machine
#   web                                  drives a browser
#   threads                              runs under the thread sanitizer
#   golden                               compares with files that ./dev golden writes
#   compilers                            reads a compiler's output, so it also runs in clang's build
#   arm64                                run by `./dev test arm64`
#
# Durations in seconds, in `./dev test`, of the tests that take more than eleven seconds. The longest tests are started
# first, so that none runs alone at the end.
set(FG_LONG_TESTS
	e2e.web_report 39 e2e.web_perfdb 25 e2e.web_perfdb_pages 25 e2e.cli_init 28 e2e.record_options 25 integration.collector_guest 25
	integration.collector_truth 24 integration.collector_guest_i386 23 integration.perfdb_call_paths_postgresql 22
	e2e.gate_layouts 17 integration.perfdb_postgresql 16 e2e.gate_getting_started 15
	integration.perfdb_pgbouncer 14 e2e.gate_examples 13 e2e.gate_surroundings 13 e2e.faults_run 12 e2e.faults 12
	e2e.profile_commands 12 security.stalled_database_postgresql 12 security.sign_in_postgresql 12
	integration.collector_truth_i386 12
)
set(FG_FOLDERS_ON_ARM64 collector trace binary)
set(FG_KINDS_ON_ARM64 unit integration)
function(fg_label_test kind name)
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	set(part whole)
	if(kind STREQUAL unit)
		set(part unit)
	endif()
	set(labels ${kind} ${part}:${folder} ${ARGN})
	if(folder IN_LIST FG_FOLDERS_ON_ARM64 AND kind IN_LIST FG_KINDS_ON_ARM64)
		list(APPEND labels arm64)
	endif()
	set_tests_properties(${kind}.${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
	list(FIND FG_LONG_TESTS ${kind}.${name} at)
	if(at GREATER -1)
		math(EXPR at "${at} + 1")
		list(GET FG_LONG_TESTS ${at} seconds)
		set_tests_properties(${kind}.${name} PROPERTIES COST ${seconds})
	endif()
endfunction()

# Targets that build only the programs of some tests: tests for the sanitizers, tests of the optimised build, tests for
# arm64, and tests with the labels "threads" and "compilers".
add_custom_target(sanitizer_tests)
add_custom_target(optimised_tests)
add_custom_target(thread_tests)
add_custom_target(compiler_tests)
add_custom_target(arm64_tests)
set(FG_SANITIZED_KINDS unit integration e2e fuzz)

# fg_once(<kind> <labels> <result>) sets <result> to <labels>, and adds "sanitized" if the test needs to run only under the
# sanitizers. These are tests that call our functions, and scripts that reach code under the sanitizers that no other test reaches.
# Scripts labelled "plain" show that the optimised build works: they measure real programs, keep runs in PostgreSQL, and make calls
# fail. Attacks are a separate kind. Rooms that read machine code or run in other programs are tested in both builds.
set(FG_ROOMS_BELOW_C collector attach binary trace cpython)
function(fg_once kind labels result)
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	set(once OFF)
	if(kind IN_LIST FG_SANITIZED_KINDS AND NOT folder IN_LIST FG_ROOMS_BELOW_C)
		set(once ON)
	endif()
	foreach(label plain web compilers)
		if(label IN_LIST labels)
			set(once OFF)
		endif()
	endforeach()
	if(once)
		list(APPEND labels sanitized)
	endif()
	set(${result} "${labels}" PARENT_SCOPE)
endfunction()

# fg_needs(<kind> <labels> <targets>...) adds <targets> to those targets above that build tests of this kind with these labels.
function(fg_needs kind labels)
	if("sanitized" IN_LIST labels)
		set_property(GLOBAL APPEND PROPERTY FG_SANITIZED_TARGETS ${ARGN})
	else()
		add_dependencies(optimised_tests ${ARGN})
	endif()
	if(kind IN_LIST FG_SANITIZED_KINDS AND NOT "web" IN_LIST labels AND NOT "plain" IN_LIST labels)
		add_dependencies(sanitizer_tests ${ARGN})
	endif()
	if("threads" IN_LIST labels)
		add_dependencies(thread_tests ${ARGN})
	endif()
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	if(folder IN_LIST FG_FOLDERS_ON_ARM64 AND kind IN_LIST FG_KINDS_ON_ARM64)
		add_dependencies(arm64_tests ${ARGN})
	endif()
	if("compilers" IN_LIST labels)
		add_dependencies(compiler_tests ${ARGN})
	endif()
endfunction()

# fg_unit_test(<folder>_<subject> SOURCES ... LINK ...): one cmocka executable per subject.
# fg_integration_test(<name> SOURCES ... LINK ...): one cmocka executable for a test across several folders.
function(fg_cmocka_test kind name)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT ${FG_TEST_TIMEOUT_S})
	endif()
	add_executable(test_${kind}_${name} ${T_SOURCES})
	target_include_directories(test_${kind}_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
	target_link_libraries(test_${kind}_${name} PRIVATE fg_test_support fg_sanitize PkgConfig::CMOCKA ${T_LINK})
	# The optimised build optimises our programs but not their tests.
	target_compile_options(test_${kind}_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0 -g1>)
	target_link_options(test_${kind}_${name} PRIVATE ${FG_QUICK_LINKER})
	add_test(NAME ${kind}.${name} COMMAND test_${kind}_${name})
	set_tests_properties(${kind}.${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
	fg_once(${kind} "${T_LABELS}" labels)
	fg_label_test(${kind} ${name} ${labels})
	fg_needs(${kind} "${labels}" test_${kind}_${name})
endfunction()

function(fg_unit_test name)
	fg_cmocka_test(unit ${name} ${ARGN})
endfunction()

function(fg_integration_test name)
	fg_cmocka_test(integration ${name} ${ARGN})
endfunction()

# fg_script_test(<kind> <name> COMMAND ... [ENVIRONMENT ...] [LABELS ...]): a test that is a
# separate program.
function(fg_script_test kind name)
	cmake_parse_arguments(T "" "TIMEOUT" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT ${FG_TEST_TIMEOUT_S})
	endif()
	add_test(NAME ${kind}.${name} COMMAND ${T_COMMAND})
	set_tests_properties(${kind}.${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
	fg_once(${kind} "${T_LABELS}" labels)
	fg_label_test(${kind} ${name} ${labels})
	string(REGEX MATCHALL "TARGET_FILE:[A-Za-z0-9_]+" programs "${T_COMMAND} ${T_ENVIRONMENT}")
	list(TRANSFORM programs REPLACE "TARGET_FILE:" "")
	if(programs)
		fg_needs(${kind} "${labels}" ${programs})
	endif()
	if(T_ENVIRONMENT)
		set_tests_properties(${kind}.${name} PROPERTIES ENVIRONMENT "${T_ENVIRONMENT}")
	endif()
	# Python scripts import shared code from tests/support, and leave no compiled files in the source tree.
	set(changes "PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/tests/support" PYTHONDONTWRITEBYTECODE=set:1)
	if(FG_PYTHON_FOLDER)
		list(APPEND changes PATH=path_list_prepend:${FG_PYTHON_FOLDER})
	endif()
	set_tests_properties(${kind}.${name} PROPERTIES ENVIRONMENT_MODIFICATION "${changes}")
endfunction()

# Builds all programs and libraries in this folder and below, except those needed only by sanitized
# tests.
function(fg_build_optimised folder)
	get_property(sanitized GLOBAL PROPERTY FG_SANITIZED_TARGETS)
	get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
	foreach(target IN LISTS targets)
		get_target_property(kind ${target} TYPE)
		get_target_property(apart ${target} EXCLUDE_FROM_ALL)
		if(NOT apart AND NOT target IN_LIST sanitized AND kind MATCHES "EXECUTABLE|SHARED|MODULE|UTILITY")
			add_dependencies(optimised_tests ${target})
		endif()
	endforeach()
	get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
	foreach(below IN LISTS folders)
		fg_build_optimised(${below})
	endforeach()
endfunction()
