# Installed files other than the programs, and CPack's packages.
include(CMakePackageConfigHelpers)

add_library(fastgate_region INTERFACE)
add_library(fastgate::region ALIAS fastgate_region)
set_target_properties(fastgate_region PROPERTIES EXPORT_NAME region)
target_include_directories(fastgate_region INTERFACE
	$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS fastgate_region EXPORT FastgateTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fastgate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# For programs that mark regions: find_package(Fastgate) and pkg-config fastgate.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Fastgate)
install(EXPORT FastgateTargets NAMESPACE fastgate:: DESTINATION ${package_dir})
file(CONFIGURE OUTPUT FastgateConfig.cmake CONTENT
	"include(\"\${CMAKE_CURRENT_LIST_DIR}/FastgateTargets.cmake\")\n" @ONLY)
write_basic_package_version_file(FastgateConfigVersion.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/FastgateConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/FastgateConfigVersion.cmake
	DESTINATION ${package_dir})
configure_file(${PROJECT_SOURCE_DIR}/cmake/fastgate.pc.in fastgate.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fastgate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
	DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "*.o" EXCLUDE
	PATTERN ".fastgate" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "fastgate")
set(CPACK_PACKAGE_CONTACT "fastgate developers <developers@fastgate.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION "devel")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

# Two packages, so that only users of 32-bit programs need a 32-bit libc for their collector.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL main)
set(CPACK_DEBIAN_MAIN_PACKAGE_NAME fastgate)
# Libraries opened at run time, in addition to the libraries that CPack finds in the programs.
list(JOIN FG_OPENED_PACKAGES ", " CPACK_DEBIAN_MAIN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_MAIN_PACKAGE_RECOMMENDS "git, graphviz")
if(TARGET fastgate_collector_i386)
	list(APPEND CPACK_COMPONENTS_ALL i386)
	set(CPACK_DEBIAN_MAIN_PACKAGE_SUGGESTS fastgate-i386)
	set(CPACK_DEBIAN_I386_PACKAGE_NAME fastgate-i386)
	set(CPACK_DEBIAN_I386_PACKAGE_DEPENDS "fastgate (= ${PROJECT_VERSION})")
	set(CPACK_COMPONENT_I386_DESCRIPTION "The call-stack sampler for 32-bit programs")
endif()
include(CPack)
