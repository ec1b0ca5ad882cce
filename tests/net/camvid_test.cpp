// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "net/image_net.h"

// Real models on real images, against what PyTorch computed from the same weights (reference/README.md there).
namespace mpm {
namespace {

const std::string kShared = MPM_SHARED_DIR;

class CamVid : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kShared + "/reference/merge_maps.json"))
      GTEST_SKIP() << "no reference results in " << kShared << " (set MPM_SHARED_DIR)";
    std::ifstream(kShared + "/reference/merge_maps.json") >> maps_;
  }

  // Every image that has a reference for this model, resized as the reference was.
  std::vector<std::string> images() const {
    std::vector<std::string> names;
    for (const auto& [key, unused] : maps_.items())
      if (key.ends_with(std::string("|") + GetParam())) names.push_back(key.substr(0, key.find('|')));
    return names;
  }

  static cv::Mat image(const std::string& name, Size2 size) {
    cv::Mat image = cv::imread(kShared + "/data/camvid_val/images/" + name + ".png");
    cv::resize(image, image, {size.width, size.height}, 0, 0, cv::INTER_LINEAR);
    return image;
  }

  static double agreement(const cv::Mat& labels, const std::string& name, const std::string& run) {
    const cv::Mat expected =
        cv::imread(kShared + "/reference/labels/" + name + "_" + GetParam() + "_" + run + ".png", cv::IMREAD_UNCHANGED);
    return static_cast<double>(cv::countNonZero(labels == expected)) / static_cast<double>(expected.total());
  }

  static std::string model() { return kShared + "/models/" + GetParam() + ".onnx"; }
  static Estimator segmenter(const Schedule& schedule) { return Estimator(model(), {.reduce = mpmBefore(schedule)}); }

  nlohmann::json maps_;
};

TEST_P(CamVid, FullModelLabelsAreThoseOfPyTorch) {
  Estimator full = segmenter({});
  ASSERT_FALSE(images().empty());
  for (const std::string& name : images())
    EXPECT_GE(agreement(full.estimate(image(name, full.model().input)).labels, name, "full"), 0.999) << name;
}

TEST_P(CamVid, MergedLabelsAndMapsAreThoseOfPyTorch) {
  Estimator merged = segmenter({2, 5});
  ASSERT_FALSE(images().empty());
  for (const std::string& name : images()) {
    const Estimate result = merged.estimate(image(name, merged.model().input));
    EXPECT_GE(agreement(result.labels, name, "mpm25"), 0.995) << name;
    ASSERT_EQ(result.cluster_of_token.size(), 2u);
    const auto& reference = maps_[name + "|" + GetParam()];
    EXPECT_EQ(result.cluster_of_token[0], reference["maps"][0].get<std::vector<int>>()) << name;
    // Later decisions may fall otherwise where two similarities agree to within rounding.
    const auto composed = reference["composed"].get<std::vector<int>>();
    const int clusters = 1 + *std::max_element(composed.begin(), composed.end());
    EXPECT_NEAR(result.tokens[2], clusters, 2) << name;
  }
}

// Of the first insertion, so that the blocks behind it do not run.
TEST_P(CamVid, Int8MergesWhatFp32Merges) {
  const auto read = [](Precision precision) {
    return readNet(model(), {.reduce = mpmBefore({2}), .precision = precision, .outputs = {"merge_map"}});
  };
  LoadedNet fp32 = read(Precision::kFp32), int8 = read(Precision::kInt8);
  const auto firstMap = [](LoadedNet& loaded, const cv::Mat& picture) {
    cv::Mat planes;
    normalise(picture, pixelValues(loaded.info.facts), planes, Serial());
    loaded.net.setInput(planes);
    const cv::Mat map = loaded.net.forward("merge_map");
    return std::vector<int>(map.ptr<float>(), map.ptr<float>() + map.total());
  };
  // Of each token: the first and the last member of its cluster, which are all members after one insertion.
  const auto clusters = [](const std::vector<int>& cluster_of_token) {
    std::map<int, std::pair<int, int>> ends;
    for (int token = 0; token < static_cast<int>(cluster_of_token.size()); ++token)
      ends.try_emplace(cluster_of_token[token], token, token).first->second.second = token;
    std::vector<std::pair<int, int>> of_token;
    for (const int cluster : cluster_of_token) of_token.push_back(ends[cluster]);
    return of_token;
  };
  double same = 0, all = 0;
  for (const auto& file : std::filesystem::directory_iterator(kShared + "/data/camvid_val/images")) {
    const cv::Mat picture = image(file.path().stem().string(), fp32.info.input);
    const auto expected = clusters(firstMap(fp32, picture)), found = clusters(firstMap(int8, picture));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t token = 0; token < expected.size(); ++token) same += found[token] == expected[token];
    all += static_cast<double>(expected.size());
  }
  EXPECT_GE(same / all, 0.94);
  RecordProperty("share", std::to_string(same / all));
}

INSTANTIATE_TEST_SUITE_P(Models, CamVid, ::testing::Values("camvid_segmenter_vit_t16", "camvid_linear_vit_t16"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace mpm
