# SPDX-License-Identifier: Apache-2.0
# An option that is ON but lacks its dependency ends the configuration with one line that names the option.
file(REMOVE_RECURSE ${SCRATCH})

# refused(LINE ARGUMENTS...)
function(refused line)
  execute_process(COMMAND ${CMAKE_COMMAND} --fresh -G ${GENERATOR} -S ${SOURCE_DIR} -B ${SCRATCH} -DOpenCV_DIR=${OPENCV}
    -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")  # CMake breaks long lines
  string(FIND "${error}" "${line}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(SEND_ERROR "${ARGN}: not refused with '${line}' but status ${status}: ${error}")
  endif()
endfunction()

refused("MPM_WITH_QT is 'maybe'; it can be AUTO, ON or OFF" -DMPM_WITH_QT=maybe)
refused("MPM_BUILD_FUZZERS is ON but MPM_BUILD_TESTS is OFF" -DMPM_BUILD_FUZZERS=ON -DMPM_BUILD_TESTS=OFF)
refused("MPM_BUILD_TESTS is ON but MPM_BUILD_TOOLS is OFF" -DMPM_BUILD_TOOLS=OFF)
refused("MPM_WITH_QT is ON but MPM_BUILD_TOOLS is OFF" -DMPM_BUILD_TOOLS=OFF -DMPM_BUILD_TESTS=OFF -DMPM_WITH_QT=1)
refused("MPM_WITH_SCENE is ON but MPM_BUILD_TOOLS is OFF" -DMPM_BUILD_TOOLS=OFF -DMPM_BUILD_TESTS=OFF -DMPM_WITH_SCENE=ON)
if(NOT COMPILER_ID MATCHES "Clang")
  refused("MPM_BUILD_FUZZERS is ON but the compiler is ${COMPILER_ID}" -DMPM_BUILD_FUZZERS=ON)
endif()
set(missing -DMPM_BUILD_TESTS=OFF -DMPM_WITH_CUDA=OFF)
foreach(package IN ITEMS Torch Qt6 benchmark)
  list(APPEND missing -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
if(COMPILER_ID STREQUAL "Clang" AND COMPILER_VERSION VERSION_LESS 15)
  refused("MPM_WITH_LIBTORCH is ON but clang ${COMPILER_VERSION} cannot compile" -DMPM_WITH_LIBTORCH=ON)
else()
  refused("MPM_WITH_LIBTORCH is ON but MPM_WITH_SCENE is OFF" -DMPM_WITH_LIBTORCH=ON -DMPM_WITH_SCENE=OFF)
  refused("MPM_WITH_LIBTORCH is ON but LibTorch was not found" ${missing} -DMPM_WITH_LIBTORCH=ON)
endif()
refused("MPM_WITH_QT is ON but Qt 6.4 or later was not found" ${missing} -DMPM_WITH_QT=yes)
refused("MPM_BUILD_BENCHMARKS is ON but Google Benchmark was not found" ${missing} -DMPM_BUILD_BENCHMARKS=ON)
foreach(both IN ITEMS "90\\;90a" "90-real\\;90a-virtual" "80-real\\;90a-real\\;90")
  refused("code for 90 and for 90a cannot be in one build" -DMPM_BUILD_TESTS=OFF -DMPM_WITH_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=${both}"
    -DMPM_WITH_QT=OFF -DMPM_WITH_LIBTORCH=OFF)
endforeach()
