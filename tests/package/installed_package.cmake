# SPDX-License-Identifier: Apache-2.0
# Installs into a scratch prefix, then builds and runs a project that only uses that prefix, with find_package and with
# pkg-config.
file(REMOVE_RECURSE ${SCRATCH})
set(prefix "${SCRATCH}/a pre+fix")
set(run COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} OUTPUT_QUIET ${run})
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER} -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${prefix}
  -DOpenCV_DIR=${OPENCV} -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" OUTPUT_QUIET ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/build OUTPUT_QUIET ${run})
execute_process(COMMAND ${SCRATCH}/build/consumer ${MODEL} ${run})

# The programs find their library in any prefix, and the service finds its program.
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${prefix}/bin/mpm info OUTPUT_QUIET ${run})
file(READ ${prefix}/lib/systemd/system/mpm-monitor@.service service)
string(FIND "${service}" "ExecStart=\"${prefix}/bin/mpm\" monitor" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the service does not start ${prefix}/bin/mpm")
endif()

# The baselines of `mpm bench`, and what they import of this project.
foreach(file worker.py torch_worker.py segmenter_weights.py setup_venv.sh)
  if(NOT EXISTS ${prefix}/share/mpm/baselines/${file})
    message(FATAL_ERROR "share/mpm/baselines/${file} is not installed")
  endif()
endforeach()

find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH})
execute_process(COMMAND ${pkg_config} --cflags --libs mpm_layer
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE ${run})
separate_arguments(flags UNIX_COMMAND "${FLAGS} ${flags}")
execute_process(COMMAND ${COMPILER} -std=c++20 ${CONSUMER}/main.cpp -o ${SCRATCH}/by_pkg_config ${flags}
  -Wl,-rpath,${prefix}/${LIBDIR} ${run})
execute_process(COMMAND ${SCRATCH}/by_pkg_config ${MODEL} ${run})
