# SPDX-License-Identifier: Apache-2.0
# mpm_hardening: flags against faults in memory, for everything but the tests (MPM_PLAIN) and sanitizers. Kernels and merging
# (MPM_ARITHMETIC) do without checks of each index and without clearing of variables: both would cost speed.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
define_property(TARGET PROPERTY MPM_PLAIN INITIALIZE_FROM_VARIABLE MPM_PLAIN)
define_property(TARGET PROPERTY MPM_ARITHMETIC)
add_library(mpm_hardening INTERFACE)
if(NOT MPM_HARDENING)
  return()
endif()
# No path of the build machine in the programs.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
set(hardened "$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:MPM_PLAIN>>>")
set(checked "${hardened},$<NOT:$<BOOL:$<TARGET_PROPERTY:MPM_ARITHMETIC>>>")
target_compile_options(mpm_hardening INTERFACE
  $<$<AND:${hardened},$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=3>
  $<$<AND:${checked}>:-D_GLIBCXX_ASSERTIONS>)
set(CMAKE_REQUIRED_FLAGS -Werror)  # clang only warns of a flag for another processor
foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard
        -ftrivial-auto-var-init=zero)
  string(MAKE_C_IDENTIFIER "MPM_HAVE${flag}" have)
  check_cxx_compiler_flag(${flag} ${have})
  if(${have})
    set(where "${hardened}")
    if(flag MATCHES "auto-var-init")
      set(where "${checked}")
    endif()
    target_compile_options(mpm_hardening INTERFACE $<$<AND:${where}>:${flag}>)
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
target_link_options(mpm_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
