# SPDX-License-Identifier: Apache-2.0
# With add_subdirectory another project gets the library and its headers, but no programs and tests, and keeps its own build
# type. It uses an object library, so Ninja does not compile our sources a second time.
file(REMOVE_RECURSE ${SCRATCH})
set(run COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${PART} -B ${SCRATCH} -DMPM_SOURCE_DIR=${SOURCE_DIR}
  -DOpenCV_DIR=${OPENCV} -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DMPM_WITH_CUDA=OFF
  -DMPM_BUILD_BENCHMARKS=AUTO -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON OUTPUT_VARIABLE summary ${run})
foreach(line IN ITEMS "tools +OFF" "tests +OFF" "LibTorch +OFF" "Qt +OFF"
    "benchmarks +OFF .MPM_BUILD_BENCHMARKS is AUTO: Google Benchmark was not found")
  if(NOT summary MATCHES "${line}")
    message(SEND_ERROR "the summary does not say '${line}':\n${summary}")
  endif()
endforeach()
file(STRINGS ${SCRATCH}/CMakeCache.txt build_type REGEX "^CMAKE_BUILD_TYPE:[^=]*=.")
if(build_type)
  message(SEND_ERROR "the other project's build type was chosen for it: ${build_type}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH} --target help OUTPUT_VARIABLE targets ${run})
foreach(target IN ITEMS mpm_program mpm_monitor_core mpm-view mpm_gui mpm_train kernels_test package)
  if(targets MATCHES "[ \n]${target}[: \n]")
    message(SEND_ERROR "another project gets the target '${target}'")
  endif()
endforeach()
if(NOT targets MATCHES "[ \n]mpm_layer[: \n]")
  message(SEND_ERROR "another project does not get the target 'mpm_layer'")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH} --target consumer OUTPUT_QUIET ${run})
