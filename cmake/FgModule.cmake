# fg_module(<name> SOURCES ... [DEPENDS ...] [SYSTEM_LIBS ...])
# One folder, one static library.  DEPENDS lists the only fastgate folders that it may include;
# scripts/check-layers.py holds every #include line against the same table.
function(fg_module name)
	cmake_parse_arguments(M "" "" "SOURCES;DEPENDS;SYSTEM_LIBS" ${ARGN})
	add_library(fg_${name} STATIC ${M_SOURCES})
	add_library(fastgate::${name} ALIAS fg_${name})
	target_include_directories(fg_${name} PUBLIC ${PROJECT_SOURCE_DIR})
	target_link_libraries(fg_${name} PRIVATE fg_warnings fg_hardening fg_sanitize ${M_SYSTEM_LIBS})
	foreach(dep IN LISTS M_DEPENDS)
		target_link_libraries(fg_${name} PUBLIC fastgate::${dep})
	endforeach()
endfunction()
