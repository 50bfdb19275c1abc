# Libraries, headers, the CMake package and the pkg-config files.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/isotok)
install(TARGETS ${ISOTOK_TARGETS} EXPORT isotok
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT isotok FILE isotokTargets.cmake NAMESPACE isotok:: DESTINATION ${package_folder})

configure_package_config_file(cmake/isotokConfig.cmake.in isotokConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# Until 1.0 a minor version may break code.
write_basic_package_version_file(isotokConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/isotokConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/isotokConfigVersion.cmake DESTINATION ${package_folder})

# The files find the prefix from where they lie, so that the installation can be moved.
file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
set(pc_files isotok)
if(ISOTOK_COMPILER)
  list(APPEND pc_files isotok_build)
endif()
if(ISOTOK_TRAINER)
  list(APPEND pc_files isotok_train)
endif()
foreach(name IN LISTS pc_files)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
