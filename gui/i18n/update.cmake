# SPDX-License-Identifier: Apache-2.0
# Updates the .ts files from the sources. The English file holds plurals only: every other text is its own translation.
# lupdate drops comments, so the SPDX line is written again.
foreach(language en fr)
  set(file ${SOURCE_DIR}/gui/i18n/mpm-monitor_${language}.ts)
  set(options -locations none -no-obsolete)
  if(language STREQUAL "en")
    list(APPEND options -pluralonly)
  endif()
  set(toolkit ${SOURCE_DIR}/toolkit)
  execute_process(COMMAND ${LUPDATE} ${SOURCE_DIR}/gui ${toolkit}/monitor/watch ${toolkit}/monitor/quantity.cpp ${toolkit}/monitor/store/calendar.cpp
    ${toolkit}/monitor/store/outages.cpp -I ${SOURCE_DIR} -I ${toolkit}
    -tr-function-alias QT_TRANSLATE_NOOP+=MPM_SAID ${options} -ts ${file} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${file} text)
  string(REPLACE "<!DOCTYPE TS>\n" "<!DOCTYPE TS>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n" text "${text}")
  file(WRITE ${file} "${text}")
endforeach()
