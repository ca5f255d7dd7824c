# fg_opened_library(<name> <pkg-config name> <oldest version>)
# A library that is opened when it is needed (base/library.h): what links fg_opened_<name> compiles
# against its headers, and knows FG_<NAME>_FILE, the soname of the library that the linker would
# take here, and FG_<NAME>_PACKAGE, where dpkg knows it.  FG_OPENED_PACKAGES collects what a package
# of ours must depend on, for no tool sees it in the programs.
function(fg_opened_library name module oldest)
	string(TOUPPER ${name} upper)
	pkg_check_modules(FG_OPENED_${upper} REQUIRED ${module}>=${oldest})
	list(GET FG_OPENED_${upper}_LINK_LIBRARIES 0 link)
	file(REAL_PATH ${link} file)
	execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${CMAKE_READELF} -d ${file}
		OUTPUT_VARIABLE dynamic ERROR_QUIET)
	if(NOT dynamic MATCHES "soname: \\[([^]]+)\\]")
		message(FATAL_ERROR "${file} has no soname: ${module} is needed as a shared library")
	endif()
	set(soname ${CMAKE_MATCH_1})
	set(package "")
	find_program(FG_DPKG_QUERY dpkg-query)
	if(FG_DPKG_QUERY)
		# The path may be known from the time when /lib was a folder of its own.
		string(REGEX REPLACE "^/usr/" "/" older ${file})
		execute_process(COMMAND ${FG_DPKG_QUERY} -S ${file} ${older} OUTPUT_VARIABLE owner ERROR_QUIET)
		if(owner MATCHES "(^|\n)([a-z0-9.+-]+)(:[a-z0-9]+)?: /")
			set(package ${CMAKE_MATCH_2})
			list(APPEND FG_OPENED_PACKAGES "${package} (>= ${oldest})")
			set(FG_OPENED_PACKAGES ${FG_OPENED_PACKAGES} PARENT_SCOPE)
		endif()
	endif()
	message(STATUS "${module} is opened when it is needed: ${soname} of ${package}")
	add_library(fg_opened_${name} INTERFACE)
	target_include_directories(fg_opened_${name} SYSTEM INTERFACE ${FG_OPENED_${upper}_INCLUDE_DIRS})
	target_compile_options(fg_opened_${name} INTERFACE ${FG_OPENED_${upper}_CFLAGS_OTHER})
	target_compile_definitions(fg_opened_${name} INTERFACE FG_${upper}_FILE="${soname}" FG_${upper}_PACKAGE="${package}")
endfunction()
