# SPDX-License-Identifier: Apache-2.0
# Target docs: the public headers as HTML in docs/html of the build folder. A warning of Doxygen, as for a name without a sentence, is an error.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND)
  set(DOXYGEN_PROJECT_NAME mpm_layer)
  set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
  set(DOXYGEN_JAVADOC_AUTOBRIEF YES)  # the first sentence is the summary
  set(DOXYGEN_EXCLUDE_SYMBOLS operator==)
  set(DOXYGEN_PREDEFINED MPM_API=)
  set(DOXYGEN_MACRO_EXPANSION YES)
  set(DOXYGEN_QUIET YES)
  set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
  set(DOXYGEN_HAVE_DOT NO)
  set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/mpm_layer/include)
  doxygen_add_docs(docs ${PROJECT_SOURCE_DIR}/mpm_layer/include/mpm)
endif()
