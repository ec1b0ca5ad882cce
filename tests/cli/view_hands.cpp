// SPDX-License-Identifier: Apache-2.0
// Loaded before libopencv_highgui: a window that nobody needs to see. Each picture that is shown is written into the
// folder MPM_SHOWN, and the keys that are pressed are the letters of MPM_KEYS, one after each picture.

#include <cstdlib>
#include <cstring>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

namespace cv {

void namedWindow(const String&, int) {}

void imshow(const String&, InputArray picture) {
  static int shown = 0;
  const std::string number = std::to_string(100 + shown++).substr(1);
  imwrite(std::string(std::getenv("MPM_SHOWN")) + "/" + number + ".png", picture);
}

int waitKey(int) {
  static const char* keys = std::getenv("MPM_KEYS");
  return *keys ? *keys++ : -1;
}

// "w" is no key: it closes the window.
double getWindowProperty(const String&, int) {
  const char* const keys = std::getenv("MPM_KEYS");
  static std::size_t asked = 0;
  return asked < std::strlen(keys) && keys[asked++] == 'w' ? 0 : 1;
}

}  // namespace cv
