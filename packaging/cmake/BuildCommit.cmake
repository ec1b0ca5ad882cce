# SPDX-License-Identifier: Apache-2.0
# Run at each build: writes the commit of SOURCE_DIR into the header FILE, which stays as it is while the commit does.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --exclude=* --abbrev=12
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
# A release may lie unpacked inside of another project's checkout.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --show-prefix OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed OR NOT prefix STREQUAL "")
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "constexpr const char* kBuildCommit = \"${commit}\";\n")
