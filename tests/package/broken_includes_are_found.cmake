# SPDX-License-Identifier: Apache-2.0
# The include rules find each wrong include of a small tree and no other.
file(REMOVE_RECURSE ${SCRATCH})
set(expected "")

# plant(FILE RIGHT... WRONG WRONG...)
function(plant file)
  cmake_parse_arguments(plant "" "" "RIGHT;WRONG" ${ARGN})
  set(text "")
  foreach(include IN LISTS plant_RIGHT plant_WRONG)
    string(APPEND text "#include ${include}\n")
  endforeach()
  file(WRITE ${SCRATCH}/${file} "${text}")
  list(TRANSFORM plant_WRONG PREPEND "${file}: #include ")
  set(expected ${expected} ${plant_WRONG} PARENT_SCOPE)
endfunction()
plant(mpm_layer/src/kernels/cpu/gemm.cpp RIGHT "\"base/text.h\"" WRONG "\"vision/sources/source.h\"" "<opencv2/core.hpp>")
plant(mpm_layer/src/onnx/fold/fold.cpp RIGHT "\"onnx/model/graph.h\"" WRONG "\"onnx/emit/emitter.h\"" "\"onnx/converter.h\"")
plant(toolkit/vision/sources/beside.h)
plant(toolkit/vision/sources/open.cpp RIGHT "\"vision/sources/source.h\"" "\"beside.h\"" WRONG "\"source.h\"")
plant(toolkit/monitor/recorder.cpp RIGHT "\"vision/sources/source.h\"" WRONG "\"gui/controllers/opener.h\"" "<QString>" "<opencv2/dnn.hpp>")

execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${SCRATCH} -P ${CMAKE_CURRENT_LIST_DIR}/includes_point_one_way.cmake
  ERROR_VARIABLE printed)
string(REGEX REPLACE "[ \n]+" " " printed "${printed}")  # CMake breaks long lines
string(REPLACE "${SCRATCH}/" "" printed "${printed}")
string(REGEX MATCHALL "[a-z_/]+\\.(cpp|h): #include [^:]+" found "${printed}")
list(SORT found)
list(SORT expected)
if(NOT found STREQUAL expected)
  message(SEND_ERROR "expected: ${expected}\nfound: ${found}\nprinted: ${printed}")
endif()
