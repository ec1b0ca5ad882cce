// SPDX-License-Identifier: Apache-2.0
#include "layers/opencv_adapter.h"

#include <string_view>

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

constexpr std::size_t kLongest = 10000;  // a node may have a name of megabytes

// "OpenCV(4.6.0) ./modules/dnn/net.cpp:7: error: (-2:Unspecified error) " and " in function 'forward'" are taken out,
// wherever OpenCV has put one error into another.
std::string withoutPlaces(const cv::Exception& error) {
  const std::string all = opencv::oneLine(error).substr(0, kLongest);
  const std::string_view text = all;
  // The end of the place in a source that begins at `at`; `at`: none does.
  const auto endOfPlace = [&](std::size_t at) {
    constexpr std::string_view kBegin = "OpenCV(", kError = ": error: (", kFunction = " in function '";
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kFunction)) {
      const std::size_t quote = text.find('\'', at + kFunction.size());
      return quote == text.npos ? at : quote + 1;
    }
    if (!rest.starts_with(kBegin)) return at;
    const std::size_t file = text.find(") ", at);
    if (file == text.npos) return at;
    const std::size_t end = std::min(text.find(' ', file + 2), text.size());  // of the path and its line
    if (!text.substr(end - 1).starts_with(kError)) return at;
    const std::size_t kind = text.find(") ", end);
    return kind == text.npos ? at : kind + 2;
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = endOfPlace(at);
    if (end == at) result += text[at++];
    at = std::max(at, end);
  }
  if (result.starts_with("> ")) result.erase(0, 2);
  if (result.ends_with(" >")) result.resize(result.size() - 2);
  return result;
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
    while (before < culprit) {
      if (const std::size_t middle = (before + culprit) / 2; fails([&] { net.forward(names[middle]); }))
        culprit = middle;
      else
        before = middle + 1;
    }
  }
  const std::string problem = "OpenCV " CV_VERSION " cannot run it: ";
  if (culprit == names.size()) return problem + why;
  return problem + "node '" + names[culprit] + "' (" + net.getLayer(net.getLayerId(names[culprit]))->type + "): " + why;
}

}  // namespace mpm
