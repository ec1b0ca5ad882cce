# SPDX-License-Identifier: Apache-2.0
# Debian packages, one per component (scripts/package.sh). Their dependencies come from the libraries that the programs load,
# so a package fits the release it was built on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mpm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The mpm_layer developers")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENTS_ALL library development tools)

set(library libmpm-layer${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same_version "(= ${PROJECT_VERSION})")

# mpm_package(<component> <package> <section> <summary> [<depends>])
function(mpm_package component package section summary)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${name}_DESCRIPTION ${summary} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${ARGN}" PARENT_SCOPE)
endfunction()
mpm_package(library ${library} libs "Vision Transformers with Mutual Pair Merging for OpenCV DNN")
if(TARGET mpm_cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  mpm_package(cuda libmpm-cuda${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} contrib/libs "NVIDIA GPUs for mpm_layer"
    "${library} ${same_version}")
endif()
mpm_package(development libmpm-layer-dev libdevel "Headers and CMake package of mpm_layer"
  "${library} ${same_version}, libopencv-dev")
mpm_package(tools mpm graphics "Convert, run, evaluate and monitor Vision Transformers with merged tokens"
  "${library} ${same_version}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "python3-matplotlib")  # the report of `mpm study`
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst)
if(TARGET mpm-view)
  list(APPEND CPACK_COMPONENTS_ALL viewer)
  mpm_package(viewer mpm-view graphics "A small live viewer of segmentation and merge maps" "${library} ${same_version}")
endif()
if(TARGET mpm-monitor)
  list(APPEND CPACK_COMPONENTS_ALL app)
  mpm_package(app mpm-monitor graphics "Desktop app: segmentation, merge maps and token counts of a fixed camera"
    "${library} ${same_version}, mpm ${same_version}, qt6-qpa-plugins")  # a Qt plugin that shlibdeps cannot see
  set(CPACK_DEBIAN_APP_PACKAGE_RECOMMENDS "qt6-translations-l10n")  # Qt's own texts (Cancel, Save, ...) in French
endif()
if(TARGET mpm-train)
  list(APPEND CPACK_COMPONENTS_ALL trainer)
  mpm_package(trainer mpm-train science "Trains the default models on a rendered street"
    "${library} ${same_version}")
endif()
include(CPack)
