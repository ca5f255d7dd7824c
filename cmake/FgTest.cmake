# A test that hangs is ended; one that waits for a busy machine is not.
set(FG_TEST_TIMEOUT_S 600)

# Labels, by which a part of the tests is chosen:
#   unit, integration, e2e, lint, fuzz   what kind it is
#   unit:FOLDER, whole:FOLDER            the folder that it lies in (`./dev test --changed`)
#   plain                                a sanitizer would show nothing in it that other tests do not show
#   slow                                 takes more than ten quiet seconds
#   web                                  drives a browser
#   threads                              run under the thread sanitizer
#   golden                               compares with files that ./dev golden writes
function(fg_label_test kind name)
	get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
	set(part whole)
	if(kind STREQUAL unit)
		set(part unit)
	endif()
	set_tests_properties(${kind}.${name} PROPERTIES LABELS "${kind};${part}:${folder};${ARGN}" SKIP_RETURN_CODE 77)
endfunction()

# Builds the programs with the label "threads".
add_custom_target(thread_tests)

# fg_unit_test(<folder>_<subject> SOURCES ... LINK ...): one cmocka executable a subject.
# fg_integration_test(...): the same, for tests that join several folders.
function(fg_cmocka_test kind name)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT ${FG_TEST_TIMEOUT_S})
	endif()
	add_executable(test_${kind}_${name} ${T_SOURCES})
	target_include_directories(test_${kind}_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
	target_link_libraries(test_${kind}_${name} PRIVATE fg_test_support fg_sanitize PkgConfig::CMOCKA ${T_LINK})
	add_test(NAME ${kind}.${name} COMMAND test_${kind}_${name})
	set_tests_properties(${kind}.${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
	fg_label_test(${kind} ${name} ${T_LABELS})
	if(threads IN_LIST T_LABELS)
		add_dependencies(thread_tests test_${kind}_${name})
	endif()
endfunction()

function(fg_unit_test name)
	fg_cmocka_test(unit ${name} ${ARGN})
endfunction()

function(fg_integration_test name)
	fg_cmocka_test(integration ${name} ${ARGN})
endfunction()

# fg_script_test(<kind> <name> COMMAND ... [ENVIRONMENT ...] [LABELS ...]): a test that is a program
# of its own.
function(fg_script_test kind name)
	cmake_parse_arguments(T "" "TIMEOUT" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT ${FG_TEST_TIMEOUT_S})
	endif()
	add_test(NAME ${kind}.${name} COMMAND ${T_COMMAND})
	set_tests_properties(${kind}.${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
	fg_label_test(${kind} ${name} ${T_LABELS})
	if(T_ENVIRONMENT)
		set_tests_properties(${kind}.${name} PROPERTIES ENVIRONMENT "${T_ENVIRONMENT}")
	endif()
	# Python scripts import what they share from tests/support, and leave no compiled files in
	# the source tree.
	set_tests_properties(${kind}.${name} PROPERTIES ENVIRONMENT_MODIFICATION
		"PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/tests/support;PYTHONDONTWRITEBYTECODE=set:1")
endfunction()
