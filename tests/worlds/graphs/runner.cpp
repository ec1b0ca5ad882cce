// SPDX-License-Identifier: Apache-2.0
// Reads, converts and runs the models whose paths come in, one on each line, until the input ends. A model is run on
// two images, whose pixels, channels first, are in PATH.input: each alone, then both in one pass. Writes for each model
// either
//   refused ERROR
// or, with the numbers of the outputs, floats of the first image and then of the second, in PATH.output,
//   ok NAME:SIDExSIDE... [NAME:...]
//   batch same | batch ERROR | batch differs by PARTS
//   converted same | converted ERROR | converted differs by PARTS, or merging ERROR: a converted file, with steps that
//   merge nothing between the blocks
// Python keeps one such process running: the start of a program costs more than a small model.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "mpm/mpm.hpp"

namespace {

std::string inOneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

using Outputs = std::vector<cv::Mat>;

Outputs run(cv::dnn::Net& net, const cv::Mat& images, const std::vector<std::string>& names) {
  net.setInput(images);
  Outputs results;
  for (const std::string& name : names) results.push_back(net.forward(name).clone());
  return results;
}

/// The largest difference of an output of all images from those of each alone, in parts of its largest value.
double differenceOf(const Outputs& both, const Outputs& first, const Outputs& second) {
  double worst = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (both[i].total() != first[i].total() + second[i].total()) return INFINITY;
    double largest = 1e-6, apart = 0;
    for (std::size_t k = 0; k < both[i].total(); ++k) {
      const cv::Mat& alone = k < first[i].total() ? first[i] : second[i];
      const double expected = static_cast<double>(alone.ptr<float>()[k < first[i].total() ? k : k - first[i].total()]);
      largest = std::max(largest, std::abs(expected));
      apart = std::max(apart, std::abs(static_cast<double>(both[i].ptr<float>()[k]) - expected));
    }
    worst = std::max(worst, std::isfinite(apart) ? apart / largest : 0);
  }
  return worst;
}

void compare(const char* name, const std::function<double()>& difference) {
  try {
    const double apart = difference();
    std::cout << name;
    if (apart < 1e-3)
      std::cout << "same" << std::endl;
    else
      std::cout << "differs by " << apart << std::endl;
  } catch (const std::exception& error) {
    std::cout << name << inOneLine(error.what()) << std::endl;
  }
}

void answer(const std::string& path) {
  mpm::LoadedNet loaded;
  try {
    loaded = mpm::readNet(path, {.reduce = mpm::kFullModel, .output = mpm::Output::kLogits});
  } catch (const mpm::Error& error) {
    std::cout << "refused " << inOneLine(error.what()) << std::endl;
    return;
  }
  std::ifstream pixels(path + ".input", std::ios::binary | std::ios::ate);
  const mpm::ModelInfo& info = loaded.info;
  const int area = info.input.height * info.input.width;
  const int channels = static_cast<int>(pixels.tellg() / static_cast<std::streamoff>(2 * sizeof(float)) / area);
  if (channels > 4) {  // a graph without a size, in which a weight looks like positions
    std::cout << "refused at the guessed size of " << info.input.width << "x" << info.input.height << std::endl;
    return;
  }
  cv::Mat both(std::vector<int>{2, channels, info.input.height, info.input.width}, CV_32F);
  pixels.seekg(0);
  pixels.read(both.ptr<char>(), static_cast<std::streamsize>(both.total() * sizeof(float)));
  const auto one = [&](int i) {
    return cv::Mat(std::vector<int>{1, channels, info.input.height, info.input.width}, CV_32F, both.ptr<float>(i));
  };
  try {
    const Outputs first = run(loaded.net, one(0), info.outputs), second = run(loaded.net, one(1), info.outputs);
    std::ofstream numbers(path + ".output", std::ios::binary);
    std::cout << "ok";
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::cout << " " << info.outputs[i] << ":";
      for (int axis = 0; axis < first[i].dims; ++axis) std::cout << (axis > 0 ? "x" : "") << first[i].size[axis];
    }
    for (const Outputs* each : {&first, &second})
      for (const cv::Mat& output : *each)
        numbers.write(output.ptr<char>(), static_cast<std::streamsize>(output.total() * sizeof(float)));
    numbers.close();
    std::cout << std::endl;
    compare("batch ", [&] { return differenceOf(run(loaded.net, both, info.outputs), first, second); });
    try {
      const mpm::Reduction nothing = mpm::parseReduction("gradual:similarity=1");
      mpm::convertFile(path, path + ".converted", {.reduce = nothing, .output = mpm::Output::kLogits});
    } catch (const mpm::Error& error) {
      std::cout << "merging " << inOneLine(error.what()) << std::endl;
      return;
    }
    compare("converted ", [&] {
      mpm::LoadedNet converted = mpm::readNet(path + ".converted");
      return differenceOf(run(converted.net, one(0), info.outputs), first, Outputs(first.size()));
    });
  } catch (const std::exception& error) {
    std::cout << "fails " << inOneLine(error.what()) << std::endl;
  }
}

}  // namespace

int main() {
  for (std::string path; std::getline(std::cin, path);) {
    try {
      answer(path);
    } catch (const std::exception& error) {
      std::cout << "fails " << inOneLine(error.what()) << std::endl;
    }
  }
}
