# SPDX-License-Identifier: Apache-2.0
# lupdate finds no message in the sources that the French .ts file does not have.
file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${SOURCE_DIR}/gui ${SOURCE_DIR}/toolkit DESTINATION ${SCRATCH})
set(toolkit ${SCRATCH}/toolkit)
execute_process(COMMAND ${LUPDATE} ${SCRATCH}/gui ${toolkit}/monitor/watch ${toolkit}/monitor/quantity.cpp ${toolkit}/monitor/store/outages.cpp -I ${SCRATCH} -I ${toolkit}
    -tr-function-alias QT_TRANSLATE_NOOP+=MPM_SAID -ts ${SCRATCH}/gui/i18n/mpm-monitor_fr.ts
  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "Found [0-9]+ source text\\(s\\) \\(0 new ")
  message(FATAL_ERROR "build the target mpm_gui_lupdate and translate what is new: ${said}")
endif()
