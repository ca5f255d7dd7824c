# Path of the preloaded library below the prefix, with the value of the dynamic linker's $LIB on this system.
if(CMAKE_LIBRARY_ARCHITECTURE)
	set(FG_COLLECTOR_FOLDER lib/${CMAKE_LIBRARY_ARCHITECTURE})
else()
	set(FG_COLLECTOR_FOLDER ${CMAKE_INSTALL_LIBDIR})
endif()
