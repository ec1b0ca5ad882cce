# SPDX-License-Identifier: Apache-2.0
add_library(mpm_warnings INTERFACE)
target_link_libraries(mpm_warnings INTERFACE mpm_hardening)
target_compile_options(mpm_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2
  -Wimplicit-fallthrough -Wundef -Wunused -Wvla
  # GCC 12 warns of overlaps in "text" + std::to_string(n) that do not exist (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # GCC 16 takes the alternatives that a std::variant does not hold for members that are read when it is moved.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<VERSION_LESS:$<CXX_COMPILER_VERSION>,16>>>:-Wno-maybe-uninitialized>
  # In a unity build, GCC takes the anonymous namespace of a source file for one of a header.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${MPM_WARNINGS_AS_ERRORS}>:-Werror>)
