# SPDX-License-Identifier: Apache-2.0
# Tests symbols.cmake: it passes a library that does nothing, and names the forbidden symbol that each other library uses.
file(MAKE_DIRECTORY ${SCRATCH})

# check(BODY SYMBOL): a library with that body is found to use SYMBOL; with an empty SYMBOL it passes.
function(check body symbol)
  set(headers "")
  foreach(header IN ITEMS cassert cstdarg cstdio cstdlib unistd.h)
    string(APPEND headers "#include <${header}>\n")
  endforeach()
  if(body MATCHES "<< ")  # slow to compile
    string(APPEND headers "#include <iostream>\n")
  endif()
  file(WRITE ${SCRATCH}/library.cpp
    "${headers}extern \"C\" void mpm_register_layers(int n, std::va_list list) { (void)n, (void)list; ${body} }\n")
  execute_process(COMMAND ${COMPILER} -shared -fPIC ${ARGN} ${SCRATCH}/library.cpp -o ${SCRATCH}/library.so
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DNM=${NM} -DLIBRARY=${SCRATCH}/library.so -P ${CMAKE_CURRENT_LIST_DIR}/symbols.cmake
    RESULT_VARIABLE failed ERROR_VARIABLE said)
  if(symbol STREQUAL "" AND failed)
    message(SEND_ERROR "a library that does nothing: ${said}")
  elseif(NOT symbol STREQUAL "" AND NOT (failed AND said MATCHES "uses[ \n]+${symbol}\n"))
    message(SEND_ERROR "\"${body}\" was not found to use ${symbol}: ${said}")
  endif()
endfunction()

# GCC calls another function then, clang the same one.
set(fortified -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# Without optimisation the headers put nothing else in their place.
set(plain -O0 -U_FORTIFY_SOURCE)
check("" "" ${plain})
check("std::fprintf(stderr, \"%d\", n);" stderr ${plain})
check("std::fprintf(stderr, \"%d\", n);" fprintf ${plain})
check("std::fprintf(stderr, \"%d\", n);" "(__)?fprintf(_chk)?" ${fortified})
check("std::fputs(\"x\", stdout);" stdout ${plain})
check("std::printf(\"%d\", n);" "(__)?printf(_chk)?" ${fortified})
check("std::vprintf(\"%d\", list);" vprintf ${plain})
check("std::vfprintf(stdout, \"%d\", list);" vfprintf ${plain})
check("std::vfprintf(stdout, \"%d\", list);" "(__)?vfprintf(_chk)?" ${fortified})
check("std::perror(\"x\");" perror ${plain})
check("assert(n == 1);" __assert_fail ${plain})
check("std::quick_exit(n);" quick_exit ${plain})
check("std::_Exit(n);" _Exit ${plain})
check("_exit(n);" _exit ${plain})
check("std::wcout << n;" _ZSt5wcout ${plain})
check("std::wcerr << n;" _ZSt5wcerr ${plain})
