# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file with findAsset(): the bytes of page.html, page.css, page.js and icon.svg in FOLDER.
set(arrays "")
set(rows "")
foreach(asset IN ITEMS "page.html|/|text/html" "page.css|/page.css|text/css" "page.js|/page.js|text/javascript" "icon.svg|/icon.svg|image/svg+xml")
  string(REPLACE "|" ";" asset "${asset}")
  list(GET asset 0 file)
  list(GET asset 1 path)
  list(GET asset 2 type)
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER ${file} name)
  string(APPEND arrays "constexpr char ${name}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${path}\", \"${type}; charset=utf-8\", {${name}, sizeof ${name}}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"page/page.h\"

namespace mpm::page {
namespace {

${arrays}
constexpr Asset kAssets[] = {
${rows}};

}  // namespace

const Asset* findAsset(std::string_view path) {
  for (const Asset& asset : kAssets)
    if (asset.path == path) return &asset;
  return nullptr;
}

}  // namespace mpm::page
")
