// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <mpm/mpm.hpp>

// The lines of the README, on a model that is given.
bool readmeHolds(const std::string& model, int height, int width) {
  const cv::Mat image(2 * height, 2 * width, CV_8UC3, cv::Scalar(40, 90, 160));
  const cv::Mat blob = cv::dnn::blobFromImage(image, 1 / 127.5, {width, height}, cv::Scalar::all(127.5), true);

  cv::dnn::Net net = mpm::readNet(model, {.schedule = mpm::Schedule{1, 2}});
  net.setInput(blob);
  std::vector<cv::Mat> out;
  net.forward(out, std::vector<cv::String>{"labels", "merge_map", "token_counts"});
  const cv::Mat labels = mpm::Segmenter(model, {{.schedule = mpm::Schedule{1, 2}}}).segment(image).labels;

  const int tokens = static_cast<int>(out[2].ptr<float>()[0]), left = static_cast<int>(out[2].ptr<float>()[2]);
  return out[0].size[2] == height && out[0].size[3] == width && out[1].size[1] == 2 && out[1].size[2] == tokens &&
         out[2].total() == 3 && left < tokens && labels.type() == CV_8U && labels.size() == image.size();
}

int main(int argc, char** argv) {
  mpm::registerLayers();
  cv::dnn::LayerParams params;
  params.set("special_tokens", 1);
  const bool registered = !cv::dnn::LayerFactory::createLayerInstance("ai.mpm.MutualPairMerge", params).empty();
  const auto merged = mpm::mutualPairMerge(std::vector<float>{1, 0, 0, 1, 1, 0.1f}, 0, 2);
  const bool right = registered && merged.map.clusters == 2 && mpm::toString(mpm::parseSchedule("2,5")) == "2,5" &&
                     argc == 2 && readmeHolds(argv[1], 32, 64);
  std::cout << "mpm_layer " MPM_VERSION ": " << (right ? "usable" : "wrong") << '\n';
  return right ? 0 : 1;
}
