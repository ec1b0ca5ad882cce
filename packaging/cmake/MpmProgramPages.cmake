# SPDX-License-Identifier: Apache-2.0
# mpm_program_pages(<program> [<file>]): its man page and completion scripts, made by the program itself and installed with
# it. <file> is appended to the man page.
function(mpm_program_pages program)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/pages)
  file(MAKE_DIRECTORY ${folder})
  set(zsh_folder zsh/site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_folder zsh/vendor-completions)  # where Debian's zsh looks
  endif()
  set(pages ${folder}/${program}.1)
  set(run ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0
    --modify LD_LIBRARY_PATH=path_list_prepend:${CMAKE_LIBRARY_OUTPUT_DIRECTORY} $<TARGET_FILE:${program}>)
  add_custom_command(OUTPUT ${folder}/${program}.1 COMMAND ${run} --man > ${program}.1.part
    COMMAND ${CMAKE_COMMAND} -E cat ${program}.1.part ${ARGN} > ${program}.1 WORKING_DIRECTORY ${folder}
    DEPENDS ${program} ${ARGN} VERBATIM)
  install(FILES ${folder}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  foreach(shell_and_file IN ITEMS "bash;bash-completion/completions/${program}" "zsh;${zsh_folder}/_${program}"
          "fish;fish/vendor_completions.d/${program}.fish")
    list(GET shell_and_file 0 shell)
    list(GET shell_and_file 1 file)
    set(script ${folder}/${program}.${shell})
    add_custom_command(OUTPUT ${script} COMMAND ${run} --completion ${shell} > ${script} DEPENDS ${program} VERBATIM)
    list(APPEND pages ${script})
    cmake_path(GET file PARENT_PATH parent)
    cmake_path(GET file FILENAME name)
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${parent} RENAME ${name})
  endforeach()
  add_custom_target(${program}-pages ALL DEPENDS ${pages})
endfunction()
