// SPDX-License-Identifier: Apache-2.0
// Reads, converts and runs the models whose paths come in, one on each line, until the input ends. Behind a path may
// stand how tokens merge, as after --reduce, and the height and width of the input: then merge_map and token_counts are
// outputs, too; or "reuse", for frames of which each computes some patches. A model is run on two
// images, whose pixels, channels first, are in PATH.input: each alone, then both in one pass. Writes for each model
// either
//   refused ERROR
// or, with the numbers of the outputs, floats of the first image and then of the second, in PATH.output,
//   ok NAME:SIDExSIDE... [NAME:...]
//   batch same | batch ERROR | batch differs by PARTS
//   converted same | converted ERROR | converted differs by PARTS, or merging ERROR: a converted file, with the same
//   merging, or where none is asked for, with steps that merge nothing between the blocks
// Python keeps one such process running: the start of a program costs more than a small model.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <opencv2/dnn.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "mpm/mpm.hpp"
#include "net/image_net.h"

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

void print(const mpm::LoadedNet& loaded, const std::vector<std::string>& names, const Outputs& outputs) {
  std::cout << "ok " << loaded.info.blocks;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::cout << " " << names[i] << ":";
    for (int axis = 0; axis < outputs[i].dims; ++axis) std::cout << (axis > 0 ? "x" : "") << outputs[i].size[axis];
  }
}

void append(std::ofstream& numbers, const Outputs& outputs) {
  for (const cv::Mat& output : outputs)
    numbers.write(output.ptr<char>(), static_cast<std::streamsize>(output.total() * sizeof(float)));
}

/// Frames of a camera, whose patches to compute are the lines of PATH.changed. The first line is of a key frame.
void answerFrames(const std::string& path) {
  mpm::ReuseNet reuse;
  mpm::LoadedNet loaded;
  try {
    const auto outputs = [](const onnx::GraphProto&, const mpm::ModelInfo& info) { return info.outputs; };
    loaded = mpm::readNet(path, {.reduce = mpm::kFullModel, .output = mpm::Output::kLogits}, outputs, &reuse);
  } catch (const mpm::Error& error) {
    std::cout << "refused " << inOneLine(error.what()) << std::endl;
    return;
  }
  std::ifstream pixels(path + ".input", std::ios::binary), changes(path + ".changed");
  std::ofstream numbers(path + ".output", std::ios::binary);
  const mpm::Size2 size = loaded.info.input;
  cv::Mat image(std::vector<int>{1, 3, size.height, size.width}, CV_32F);
  Outputs outputs;
  for (std::string line; std::getline(changes, line);) {
    pixels.read(image.ptr<char>(), static_cast<std::streamsize>(image.total() * sizeof(float)));
    if (!outputs.empty()) {
      std::istringstream patches(line);
      reuse.session->changed.emplace(std::istream_iterator<int>(patches), std::istream_iterator<int>());
    }
    outputs = run(loaded.net, image, loaded.info.outputs);
    append(numbers, outputs);
  }
  numbers.close();
  print(loaded, loaded.info.outputs, outputs);
  std::cout << "\nbatch same\nconverted same" << std::endl;
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

void answer(const std::string& line) {
  std::string path, spec;
  mpm::Size2 size;
  std::istringstream(line) >> path >> spec >> size.height >> size.width;
  if (spec == "reuse") return answerFrames(path);
  mpm::ReadOptions options{.reduce = mpm::kFullModel, .output = mpm::Output::kLogits};
  if (size.width > 0) options.input_size = size;
  mpm::LoadedNet loaded;
  try {
    if (!spec.empty()) options.reduce = mpm::parseReduction(spec);
    loaded = mpm::readNet(path, options);
  } catch (const mpm::Error& error) {
    std::cout << "refused " << inOneLine(error.what()) << std::endl;
    return;
  }
  std::ifstream pixels(path + ".input", std::ios::binary | std::ios::ate);
  mpm::ModelInfo& info = loaded.info;
  if (!spec.empty()) info.outputs.insert(info.outputs.end(), {"merge_map", "token_counts"});
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
    print(loaded, info.outputs, first);
    append(numbers, first);
    append(numbers, second);
    numbers.close();
    std::cout << std::endl;
    compare("batch ", [&] { return differenceOf(run(loaded.net, both, info.outputs), first, second); });
    try {
      if (spec.empty()) options.reduce = mpm::parseReduction("gradual:similarity=1");
      mpm::convertFile(path, path + ".converted", options.convert());
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
  for (std::string line; std::getline(std::cin, line);) {
    try {
      answer(line);
    } catch (const std::exception& error) {
      std::cout << "fails " << inOneLine(error.what()) << std::endl;
    }
  }
}
