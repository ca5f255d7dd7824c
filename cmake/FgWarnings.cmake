# fg_warnings: compiler flags of every target. Warnings are errors only if the preset says so
# (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a user's build.
add_library(fg_warnings INTERFACE)
target_compile_options(fg_warnings INTERFACE
	-Wall -Wextra -Wpedantic
	-Wshadow -Wundef -Wvla -Wformat=2 -Wwrite-strings -Wcast-qual -Wpointer-arith
	-Wstrict-prototypes -Wold-style-definition -Wmissing-prototypes -Wmissing-declarations -Wredundant-decls
	-Wconversion -Wsign-conversion -Wdouble-promotion -Wfloat-equal
	-Wimplicit-fallthrough -Wnull-dereference -Wunused
	-fno-common
	$<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wtrampolines -Wjump-misses-init>
	$<$<C_COMPILER_ID:Clang>:-Wcomma -Wassign-enum>)

# Hardening for programs that read untrusted input; tests/lint checks the built binaries.
add_library(fg_hardening INTERFACE)
target_compile_options(fg_hardening INTERFACE
	-fstack-protector-strong -fstack-clash-protection)
# Fortify only without a sanitizer. This is a plain if(), because the comma in "address,undefined" would end the
# argument of a generator expression.
if(NOT FG_SANITIZE)
	target_compile_options(fg_hardening INTERFACE $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
target_link_options(fg_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
