# All external libraries, by pkg-config name; cmake/rooms.json defines which folders may use them.
find_package(PkgConfig REQUIRED)
if(FG_PORTABLE)
	# FG_PORTABLE is the folder that scripts/portable/libraries.sh fills; other libraries come
	# from packages.
	set(ENV{PKG_CONFIG_PATH} ${FG_PORTABLE}/lib/pkgconfig)
	set(PKG_CONFIG_ARGN --static)
	set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
	list(PREPEND CMAKE_LIBRARY_PATH ${FG_PORTABLE}/lib)
	add_compile_definitions(FG_PORTABLE)
	set(CMAKE_C_LINK_OPTIONS_PIE -static-pie -Wl,--gc-sections)
	set(CMAKE_C_LINK_OPTIONS_NO_PIE -static -no-pie -Wl,--gc-sections)
	set(CMAKE_SKIP_RPATH ON)
	add_link_options(LINKER:-Map,$<TARGET_PROPERTY:NAME>.map) # read by scripts/portable/sbom.py
	add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()
include(FgOpenedLibrary)
find_package(Threads REQUIRED)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
find_package(zydis REQUIRED)
if(FG_PORTABLE)
	set_target_properties(Zydis::Zydis PROPERTIES IMPORTED_LOCATION_NONE ${FG_PORTABLE}/lib/libZydis.a INTERFACE_LINK_LIBRARIES "")
endif()
# The part of libunwind that unwinds stacks of another process.
pkg_check_modules(LIBUNWIND_REMOTE REQUIRED IMPORTED_TARGET libunwind-generic)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

# Libraries that base/library.h opens on demand. If they were linked, loading them with their dependencies would take
# four fifths of a program's start-up time.
set(FG_OPENED_PACKAGES "")
fg_opened_library(curl libcurl 7.85.0)
fg_opened_library(libarchive libarchive 3.3.3)
if(FG_WITH_POSTGRES)
	fg_opened_library(pq libpq 14.0) # for its pipeline mode
endif()
if(FG_WITH_SERVER)
	pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
endif()
if(BUILD_TESTING)
	pkg_check_modules(LIBUNWIND REQUIRED IMPORTED_TARGET libunwind)
	pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
	find_package(Python3 REQUIRED COMPONENTS Interpreter)
	# A python3 in PATH may be a script that searches for the interpreter (pyenv, asdf), and starts five times as slowly.
	execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
		OUTPUT_VARIABLE interpreter OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
	if(NOT interpreter STREQUAL Python3_EXECUTABLE)
		set(Python3_EXECUTABLE ${interpreter})
		set_target_properties(Python3::Interpreter PROPERTIES IMPORTED_LOCATION ${interpreter})
		cmake_path(GET interpreter PARENT_PATH FG_PYTHON_FOLDER)
	endif()
endif()
