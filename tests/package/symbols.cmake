# SPDX-License-Identifier: Apache-2.0
# The library reports errors as exceptions. It never prints and never ends the process.
execute_process(COMMAND ${NM} -D --undefined-only ${LIBRARY} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
set(never abort exit _exit _Exit quick_exit __assert_fail stdout stderr perror printf puts putchar fprintf vprintf vfprintf
  __printf_chk __fprintf_chk __vfprintf_chk _ZSt4cout _ZSt4cerr _ZSt4clog _ZSt5wcout _ZSt5wcerr)
if(CUDA)  # its runtime, which is linked statically, has an exit; a build without it shows that we have none
  list(REMOVE_ITEM never exit)
endif()
foreach(symbol IN LISTS never)
  if(undefined MATCHES "[ \n]U ${symbol}(@|\n)")
    message(SEND_ERROR "${LIBRARY} uses ${symbol}")
  endif()
endforeach()
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE defined COMMAND_ERROR_IS_FATAL ANY)
# HEADERS: every function that they declare is exported.
file(GLOB headers ${HEADERS}/*.h ${HEADERS}/*.hpp)
foreach(header IN LISTS headers)
  file(STRINGS ${header} lines REGEX "^ *MPM_API .*\\(")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^(]* ([A-Za-z_]+)\\(.*" "\\1" name "${line}")
    string(LENGTH ${name} length)  # mangled names hold it
    if(NOT defined MATCHES " T (${name}\n|_ZNK?3mpm([^\n]*[^0-9])?${length}${name})")
      message(SEND_ERROR "${LIBRARY} does not export ${name}(), which ${header} declares")
    endif()
  endforeach()
endforeach()
# Only our own strong symbols: others could clash with the program's. (The linker adds __bss_start, _edata and _end.)
string(REGEX MATCHALL "[0-9a-f]+ [TDBR] [^\n]+" strong "${defined}")
foreach(line IN LISTS strong)
  if(NOT line MATCHES " [TDBR] (_ZT[ISV]N3mpm|_ZNK?3mpm|mpm_|(__bss_start|_edata|_end)$)")
    message(SEND_ERROR "${LIBRARY} exports ${line}")
  endif()
endforeach()
