# fg_unit_test(<folder>_<subject> SOURCES ... LINK ...): one cmocka executable a subject.
# fg_integration_test(...): the same, for tests that join several folders.
function(fg_cmocka_test kind name)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 60)
	endif()
	add_executable(test_${kind}_${name} ${T_SOURCES})
	target_include_directories(test_${kind}_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
	target_link_libraries(test_${kind}_${name} PRIVATE fg_test_support fg_sanitize PkgConfig::CMOCKA ${T_LINK})
	add_test(NAME ${kind}.${name} COMMAND test_${kind}_${name})
	set_tests_properties(${kind}.${name} PROPERTIES LABELS "${kind};${T_LABELS}" TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()

function(fg_unit_test name)
	fg_cmocka_test(unit ${name} ${ARGN})
endfunction()

function(fg_integration_test name)
	fg_cmocka_test(integration ${name} ${ARGN})
endfunction()

# fg_script_test(<label> <name> COMMAND ... [ENVIRONMENT ...]): a test that is a program of its own.
function(fg_script_test label name)
	cmake_parse_arguments(T "" "TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 120)
	endif()
	add_test(NAME ${label}.${name} COMMAND ${T_COMMAND})
	set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77)
	if(T_ENVIRONMENT)
		set_tests_properties(${label}.${name} PROPERTIES ENVIRONMENT "${T_ENVIRONMENT}")
	endif()
	# Python scripts import what they share from tests/support, and leave no compiled files in the source tree.
	set_tests_properties(${label}.${name} PROPERTIES ENVIRONMENT_MODIFICATION
		"PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/tests/support;PYTHONDONTWRITEBYTECODE=set:1")
endfunction()
