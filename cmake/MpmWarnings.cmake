# SPDX-License-Identifier: Apache-2.0
add_library(mpm_warnings INTERFACE)
target_compile_options(mpm_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2
  -Wimplicit-fallthrough -Wundef -Wunused -Wvla
  $<$<BOOL:${MPM_WARNINGS_AS_ERRORS}>:-Werror>)
