// SPDX-License-Identifier: Apache-2.0
// Whole nets in OpenCV, on the GPU beside the CPU: a JSON object per line on stdout.
//   cuda_net_bench [--once] [--no-reuse] MODEL.onnx... IMAGE.ppm...
// Of each model, without merging and with its default schedule, and of each precision: how far the result is that of
// the CPU in fp32, on the worst of the images (agreementPercent()); how many images have the same first merge map; and
// the time from an image of the input's size on the host to its result on the host, in ms. Then the same of reuse, with
// the images as frames of a camera: of each frame a tenth of the patches is computed. With --once nothing is timed
// twice.
// Images are binary PPM, so that nothing but OpenCV's core, imgproc and dnn has to be carried to the machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "mpm/build_info.hpp"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"

namespace mpm {
namespace {

cv::Mat readPpm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  if (!file || magic != "P6" || most != 255 || width < 1 || height < 1 || width > 20000 || height > 20000)
    throw Error("'" + path + "' is no binary PPM of 8 bits");
  cv::Mat image(height, width, CV_8UC3);
  file.read(reinterpret_cast<char*>(image.data), static_cast<std::streamsize>(image.total() * 3));
  if (!file) throw Error("'" + path + "' ends early");
  cv::cvtColor(image, image, cv::COLOR_RGB2BGR);
  return image;
}

struct Run {
  std::vector<Estimate> of_image;
  double ms = 0;  // of one image of the input's size, the median
};

/// The median of the times of work(0), work(1), ..., in ms.
template <class Work>
double medianOf(Work work, bool once) {
  std::vector<double> times;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    work(times.size());
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  } while (!once && times.size() < 200 && Clock::now() - begin < std::chrono::seconds(2));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

cv::Mat fitted(const cv::Mat& image, const ModelInfo& model) {
  cv::Mat fitting;
  cv::resize(image, fitting, {model.input.width, model.input.height});
  return fitting;
}

Run runAll(const std::string& model, EstimatorOptions options, const std::vector<cv::Mat>& images, bool once) {
  Estimator segmenter(model, options);
  Run run;
  for (const cv::Mat& image : images) run.of_image.push_back(segmenter.estimate(image));
  const cv::Mat fitting = fitted(images.front(), segmenter.model());
  segmenter.estimate(fitting);
  run.ms = medianOf([&](std::size_t) { segmenter.estimate(fitting); }, once);
  return run;
}

constexpr int kEvery = 10;  // this patch is computed, and others in the next frame

Run runFrames(const std::string& model, EstimatorOptions options, const std::vector<cv::Mat>& images, bool once) {
  options.reuse.on = true;
  Estimator camera(model, options);
  std::vector<cv::Mat> frames;
  for (const cv::Mat& image : images) frames.push_back(fitted(image, camera.model()));
  const auto estimate = [&](std::size_t frame) {
    std::vector<int> patches;
    for (int i = static_cast<int>(frame % kEvery); i < camera.model().tokens(); i += kEvery) patches.push_back(i);
    return camera.estimate(frames[frame % frames.size()], 0, patches);
  };
  Run run;
  camera.estimate(frames.front(), 0);
  for (std::size_t i = 0; i < frames.size(); ++i) run.of_image.push_back(estimate(i));
  run.ms = medianOf(estimate, once);
  return run;
}

/// For agreementPercent(): without a task, the numbers that the net gives take the place of depths.
Estimate asMap(const Estimate& estimate) {
  if (estimate.task) return estimate;
  Estimate map;
  map.depth = estimate.outputs.front().reshape(1, 1);
  map.depth_range = depthRange(map.depth);
  return map;
}

// Of the image on which the runs agree least.
double agreement(const Run& host, const Run& device) {
  double least = 100;
  for (std::size_t i = 0; i < host.of_image.size(); ++i)
    least = std::min(least, agreementPercent(asMap(device.of_image[i]), asMap(host.of_image[i])).value());
  return least;
}

int sameFirstMaps(const Run& a, const Run& b) {
  int same = 0;
  for (std::size_t i = 0; i < a.of_image.size(); ++i) {
    const auto &x = a.of_image[i].cluster_of_token, &y = b.of_image[i].cluster_of_token;
    same += x.empty() || x.front() == y.front() ? 1 : 0;
  }
  return same;
}

// What a model does, and how it is called in the table.
struct Way {
  const char* name;
  bool merging;
  Run (*run)(const std::string& model, EstimatorOptions options, const std::vector<cv::Mat>& images, bool once);
};
constexpr Way kWays[] = {{"full", false, runAll}, {"MPM", true, runAll}, {"reuse", false, runFrames}};

// How many runs failed. They do not stop the next.
int compare(const std::string& model, const std::vector<cv::Mat>& images, bool once, bool reuse) {
  const std::string file = model.substr(model.find_last_of('/') + 1), name = file.substr(0, file.rfind('.'));
  const int capability = buildInfo().cuda_devices.front().major;
  int failed = 0;
  for (const Way& way : kWays) {
    if (way.run == runFrames && !reuse) continue;
    EstimatorOptions options;
    if (!way.merging) options.reduce = kFullModel;
    Run host;
    try {
      host = way.run(model, options, images, once);
    } catch (const Error& error) {
      if (way.run != runFrames) throw;
      std::fprintf(stderr, "cuda_net_bench: %s %s: %s\n", name.c_str(), way.name, error.what());
      continue;
    }
    options.device = "cuda";
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16}) {
      if (precision == Precision::kBf16 && capability < 8) continue;
      options.precision = precision;
      Run device;
      try {
        device = way.run(model, options, images, once);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "cuda_net_bench: %s %s %s: %s\n", name.c_str(), way.name, toString(precision).c_str(),
                     error.what());
        ++failed;
        continue;
      }
      const Estimate& first = host.of_image.front();
      const char* const compared = !first.task ? "numbers" : first.depth.empty() ? "labels" : "depths";
      std::printf(
          "{\"what\": \"net\", \"model\": \"%s\", \"way\": \"%s\", \"precision\": \"%s\", \"images\": %zu, "
          "\"agreement\": %.4f, \"of\": \"%s\", \"same_first_maps\": %d, \"ms\": %.4f, \"cpu_fp32_ms\": %.4f}\n",
          name.c_str(), way.name, toString(precision).c_str(), images.size(), agreement(host, device), compared,
          sameFirstMaps(host, device), device.ms, host.ms);
      std::fflush(stdout);
    }
  }
  return failed;
}

int run(const std::vector<std::string>& words) {
  std::vector<std::string> models;
  std::vector<cv::Mat> images;
  bool once = false, reuse = true;
  for (const std::string& word : words) {
    if (word == "--once")
      once = true;
    else if (word == "--no-reuse")
      reuse = false;
    else if (word.ends_with(".onnx"))
      models.push_back(word);
    else
      images.push_back(readPpm(word));
  }
  if (models.empty() || images.empty()) {
    std::fprintf(stderr, "usage: cuda_net_bench [--once] [--no-reuse] MODEL.onnx... IMAGE.ppm...\n");
    return 2;
  }
  if (const BuildInfo build = buildInfo(); build.cuda_devices.empty()) throw Error(build.cuda_problem);
  int failed = 0;
  for (const std::string& model : models) failed += compare(model, images, once, reuse);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mpm

int main(int count, char** words) {
  try {
    return mpm::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_net_bench: %s\n", error.what());
    return 1;
  }
}
