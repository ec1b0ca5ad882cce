// SPDX-License-Identifier: Apache-2.0
#include "layers/opencv_adapter.h"

#include <regex>

namespace mpm {
namespace {

template <class Work>
bool fails(Work&& work) {
  try {
    work();
    return false;
  } catch (const cv::Exception&) {
    return true;
  }
}

}  // namespace

std::string withoutPlaces(const cv::Exception& error) {
  static const std::regex places(R"(OpenCV\([^)]*\) \S+: error: \([^)]*\) | in function '[^']*'|^> | >$)");
  return std::regex_replace(opencv::oneLine(error), places, "");
}

std::string forwardError(cv::dnn::Net& net, const std::vector<int>& input, const cv::Exception& error) {
  const std::string why = withoutPlaces(error);
  if (why.starts_with("layer '")) return why;  // ours names itself
  const opencv::QuietLog quiet;
  const std::vector<cv::String> names = net.getLayerNames();
  std::size_t culprit = 0;
  while (culprit < names.size() && !fails([&] { opencv::inferShapes(net, input, net.getLayerId(names[culprit])); }))
    ++culprit;
  if (culprit == names.size()) {  // every shape fits: the layers run in this order until one fails
    std::size_t before = 0;
    while (before < culprit)
      if (const std::size_t middle = (before + culprit) / 2; fails([&] { net.forward(names[middle]); }))
        culprit = middle;
      else
        before = middle + 1;
  }
  if (culprit == names.size()) return why;
  return "node '" + names[culprit] + "' (" + net.getLayer(net.getLayerId(names[culprit]))->type + "): " + why;
}

}  // namespace mpm
