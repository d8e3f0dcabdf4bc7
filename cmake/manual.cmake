# SPDX-License-Identifier: BSD-3-Clause
# Manual pages and completion for shells: the built command writes them, so this machine must be able to run it.
set(manual ${PROJECT_BINARY_DIR}/manual)
set(reason "")
if(TREFOIL_SANITIZE)
  set(reason "a command with sanitizers does not run everywhere")
elseif(CMAKE_CROSSCOMPILING)
  set(reason "the command is for another machine")
endif()
if(reason)
  message(STATUS "Manual pages and completion are left out: ${reason}")
  return()
endif()
find_program(GZIP gzip)
file(GLOB written_by_hand CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/simgrid/*.1)
if(NOT TARGET trefoil_simgrid)
  set(written_by_hand "")
endif()
add_custom_command(
  OUTPUT ${manual}/done
  COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:trefoil_tool> -DFOLDER=${manual} "-DGZIP=$<$<BOOL:${GZIP}>:${GZIP}>"
          "-DPAGES=${written_by_hand}" -P ${CMAKE_CURRENT_LIST_DIR}/write_manual.cmake
  DEPENDS trefoil_tool ${written_by_hand} ${CMAKE_CURRENT_LIST_DIR}/write_manual.cmake
  VERBATIM)
add_custom_target(trefoil_manual ALL DEPENDS ${manual}/done)

# Debian keeps what packages bring for zsh apart.
set(zsh_folder zsh/site-functions)
if(EXISTS /etc/debian_version AND CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_folder zsh/vendor-completions)
endif()
# Who builds the library alone may install that.
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools OPTIONAL)
install(FILES ${manual}/bash/trefoil DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools OPTIONAL)
install(FILES ${manual}/zsh/_trefoil DESTINATION ${CMAKE_INSTALL_DATADIR}/${zsh_folder} COMPONENT tools OPTIONAL)
install(FILES ${manual}/fish/trefoil.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools OPTIONAL)
