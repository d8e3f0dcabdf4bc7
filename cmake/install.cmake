# SPDX-License-Identifier: BSD-3-Clause
# The shared library that users link, and what `cmake --install` puts where.
include(CMakePackageConfigHelpers)

# comm/ goes in whole, since nothing in the library calls the C API; of the other rooms what comm/ needs.
add_library(trefoil SHARED $<TARGET_OBJECTS:trefoil_comm>)
add_library(trefoil::trefoil ALIAS trefoil)
# Programs find a library of the interface that they were built against, or none. Before 1.0 a minor version may change it.
set(TREFOIL_INTERFACE ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(TREFOIL_INTERFACE 0.${PROJECT_VERSION_MINOR})
endif()
set(map ${PROJECT_BINARY_DIR}/trefoil.map)
configure_file(${CMAKE_CURRENT_LIST_DIR}/trefoil.map.in ${map} @ONLY)
set_target_properties(trefoil PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                         SOVERSION ${TREFOIL_INTERFACE} LINK_DEPENDS ${map})
target_include_directories(trefoil INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(trefoil PRIVATE trefoil_algorithms trefoil_backend trefoil_threads trefoil_topo trefoil_options)
# It stays once it is loaded: threads, functions of atexit() and what ranks count would not survive dlclose().
target_link_options(trefoil PRIVATE LINKER:--version-script=${map} LINKER:-z,nodelete)

# What goes together has a component of its own, which may be installed alone.
install(TARGETS trefoil EXPORT trefoil-targets LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/trefoil TYPE INCLUDE COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)  # packages have it under their own names
install(FILES ${PROJECT_SOURCE_DIR}/algorithms/json/schedule.schema.json ${PROJECT_SOURCE_DIR}/comm/setup/tuning.schema.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/trefoil COMPONENT development)
include(${CMAKE_CURRENT_LIST_DIR}/reference.cmake)
if(TREFOIL_BUILD_TOOLS)
  install(TARGETS trefoil_tool COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/bench/sim/machine.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/trefoil COMPONENT tools)
  if(TARGET trefoil_simgrid)
    install(TARGETS trefoil_simgrid COMPONENT tools)
  endif()
  include(${CMAKE_CURRENT_LIST_DIR}/manual.cmake)
endif()

# find_package(trefoil)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trefoil)
install(EXPORT trefoil-targets NAMESPACE trefoil:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/trefoil-config.cmake.in
                              ${PROJECT_BINARY_DIR}/trefoil-config.cmake INSTALL_DESTINATION ${package_dir})
# As the soname does.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/trefoil-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trefoil-config.cmake ${PROJECT_BINARY_DIR}/trefoil-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# pkg-config. The prefix is told relative to the file, so that the tree may be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/trefoil.pc.in ${PROJECT_BINARY_DIR}/trefoil.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/trefoil.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
