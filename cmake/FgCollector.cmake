# Where the preloaded library lies, seen from the prefix: what the dynamic linker's $LIB stands for
# on this system.
if(CMAKE_LIBRARY_ARCHITECTURE)
	set(FG_COLLECTOR_FOLDER lib/${CMAKE_LIBRARY_ARCHITECTURE})
else()
	set(FG_COLLECTOR_FOLDER ${CMAKE_INSTALL_LIBDIR})
endif()
