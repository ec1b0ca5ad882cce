# SPDX-License-Identifier: Apache-2.0
# The French .ts file has each message of the sources, translated, and none that they lack.
file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${SOURCE_DIR}/gui ${SOURCE_DIR}/toolkit DESTINATION ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} -DLUPDATE=${LUPDATE} -DSOURCE_DIR=${SCRATCH} -P ${SCRATCH}/gui/i18n/update.cmake
  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "mpm-monitor_fr.ts'[^(]*\\(s\\) \\(0 new " OR said MATCHES "obsolete")
  message(FATAL_ERROR "build the target mpm_gui_lupdate and translate what is new: ${said}")
endif()
file(STRINGS ${SOURCE_DIR}/gui/i18n/mpm-monitor_fr.ts unfinished REGEX "type=\"")
if(unfinished)
  message(FATAL_ERROR "mpm-monitor_fr.ts: translate what is unfinished, delete what has vanished: ${unfinished}")
endif()
