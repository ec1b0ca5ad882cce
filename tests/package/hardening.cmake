# SPDX-License-Identifier: Apache-2.0
# What is installed is hardened (cmake/MpmHardening.cmake) and names no folder of the build machine.
foreach(file IN LISTS FILES)
  execute_process(COMMAND ${READELF} --wide -h -l -d --dyn-syms ${file} OUTPUT_VARIABLE elf COMMAND_ERROR_IS_FATAL ANY)
  foreach(part IN ITEMS "Type: +DYN" "GNU_RELRO" "FLAGS[^\n]*(BIND_)?NOW" "GNU_STACK[^\n]* RW " "UND __stack_chk_fail" ${FORTIFIED})
    if(NOT elf MATCHES "${part}")
      message(SEND_ERROR "${file}: no '${part}' in what ${READELF} prints")
    endif()
  endforeach()
  file(STRINGS ${file} paths REGEX "(^|[^A-Za-z0-9_])${SOURCE_DIR}/")  # /src, too, not mpm_layer/src
  if(paths)
    message(SEND_ERROR "${file} names ${SOURCE_DIR}: ${paths}")
  endif()
endforeach()
