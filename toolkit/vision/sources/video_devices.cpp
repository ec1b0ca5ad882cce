// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

std::string presentDevices() {
  glob_t found{};
  std::string text;
  if (::glob("/dev/video*", 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) text += (i == 0 ? "" : ", ") + std::string(found.gl_pathv[i]);
  ::globfree(&found);
  return text.empty() ? ", nor any other /dev/video*" : " (there are: " + text + ")";
}

// The group that may use the device, which is video on most systems.
std::string groupOf(const std::string& device) {
  struct stat facts {};
  const group* owners = ::stat(device.c_str(), &facts) == 0 ? ::getgrgid(facts.st_gid) : nullptr;
  return owners && std::string(owners->gr_name) != "root" ? owners->gr_name : "video";
}

}  // namespace

std::string whyNoCamera(const std::string& device) {
  if (::faccessat(AT_FDCWD, device.c_str(), R_OK | W_OK, AT_EACCESS) == 0)
    return device + " is in use by another program, or is not a camera";
  if (errno == ENOENT) return "there is no " + device + presentDevices();
  return "no permission for " + device + ": add this user to the group " + groupOf(device);
}

}  // namespace mpm::vision
