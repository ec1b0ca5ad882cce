// SPDX-License-Identifier: Apache-2.0
// Nets that reuse rows of earlier frames (docs/reuse.md). Their numbers: tests/worlds/graphs; models of exporters:
// tests/net/reuse_test.cpp; which groups outlive a frame: tests/merging/kept_groups_test.cpp.
#include <numeric>
#include <opencv2/core/utility.hpp>
#include <random>

#include "net/image_net.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using Values = std::vector<double>;

class ReusingNet : public InFolder {
 protected:
  ReusingNet() {
    dialect_.head = HeadStyle::kMask;
    dialect_.special = 2;
    save();
  }
  void TearDown() override { cv::setNumThreads(-1); }

  void save() const { TinyVit(dialect_).save(path_); }
  struct Net {
    ReuseNet reuse;
    cv::dnn::Net net;

    std::vector<Values> run(const Values& frames, int count = 1) {
      return runNet(net, frames, {count, 3, TinyVit::kHeight, TinyVit::kWidth}, {"scores", "merge_map"});
    }
  };
  Net read(const Schedule& schedule, bool reuses = true) const {
    ReadOptions options{.reduce = mpmBefore(schedule, Attention::kProportional), .scores = true};
    if (schedule.empty()) options.reduce = kFullModel;
    const auto outputs = [](const onnx::GraphProto&, const ModelInfo&) {
      return std::vector<std::string>{"scores", "merge_map"};
    };
    Net result;
    result.net = readNet(path_, options, outputs, reuses ? &result.reuse : nullptr).net;
    return result;
  }

  const std::string path_ = folder_ / "model.onnx";
  Dialect dialect_;
};

std::vector<std::vector<int>> randomChanges(std::size_t frames, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> changed(frames);
  changed[0].resize(TinyVit::kTokens);
  std::iota(changed[0].begin(), changed[0].end(), 0);
  for (std::size_t f = 1; f < frames; ++f) {
    const unsigned share = random() % 5;  // none to all
    for (int i = 0; i < TinyVit::kTokens; ++i)
      if (random() % 4 < share) changed[f].push_back(i);
  }
  return changed;
}

std::vector<Values> frames(std::size_t count, unsigned seed) {
  std::vector<Values> result;
  for (unsigned f = 0; f < count; ++f) result.push_back(TinyVit::image(100 * seed + f));
  return result;
}

TEST_F(ReusingNet, ResetForgetsAndFrees) {
  Net net = read({1});
  const auto images = frames(2, 8);
  net.run(images[0]);
  // Keys and values of three blocks and of the two of the head.
  EXPECT_GT(net.reuse.session->bytes(), std::size_t{5 * 2 * TinyVit::kTokens * TinyVit::kDim * sizeof(float)});
  net.reuse.session->memory->clear();
  EXPECT_EQ(net.reuse.session->bytes(), 0u);
  EXPECT_EQ(net.run(images[1]), read({1}, false).run(images[1]));
}

TEST_F(ReusingNet, SameBytesForAnyNumberOfThreads) {
  const auto images = frames(6, 9);
  const auto changed = randomChanges(6, 3);
  Values both = images[0];
  both.insert(both.end(), images[1].begin(), images[1].end());
  std::vector<std::vector<Values>> serial;
  for (const int threads : {1, 2, 4}) {
    cv::setNumThreads(threads);
    std::vector<std::vector<Values>> found{read({1, 2}, false).run(both, 2)};
    Net net = read({1, 2});
    for (std::size_t f = 0; f < changed.size(); ++f) {
      net.reuse.session->changed = changed[f];
      found.push_back(net.run(images[f]));
    }
    if (threads == 1) serial = found;
    EXPECT_EQ(found, serial) << threads << " threads";
  }
}

TEST_F(ReusingNet, TwoNetsShareNothing) {
  const auto images = frames(4, 10);
  Net one = read({1}), other = read({1});
  const auto first = one.run(images[0]);
  other.run(images[1]);
  other.reuse.session->changed = std::vector<int>{0, 1, 2};
  other.run(images[2]);
  one.reuse.session->changed = std::vector<int>{};
  EXPECT_EQ(one.run(images[3]), first);
}

TEST_F(ReusingNet, GroupsOutliveFrames) {
  Net net = read({0, 2});
  const auto images = frames(12, 12);
  const auto changed = randomChanges(12, 12);
  for (std::size_t f = 0; f < images.size(); ++f) {
    net.reuse.session->changed = changed[f];
    const auto outputs = net.run(images[f]);
    const std::set<int> fresh(changed[f].begin(), changed[f].end());
    for (int k = 0; k < 2; ++k) {
      const double* const map = outputs[1].data() + k * TinyVit::kTokens;
      for (int i = 0; i < TinyVit::kTokens; ++i) {
        for (int j = 0; j < i; ++j)
          EXPECT_TRUE(map[i] != map[j] || fresh.contains(i) == fresh.contains(j)) << "frame " << f;
      }
    }
    net.reuse.session->changed = std::vector<int>{};
    EXPECT_EQ(net.run(images[0]), outputs) << "frame " << f;
  }
}

TEST_F(ReusingNet, MisuseIsOneLine) {
  Net net = read({});
  Values two = TinyVit::image(1);
  two.insert(two.end(), two.begin(), two.end());
  EXPECT_THROW(net.run(two, 2), cv::Exception);
  net.reuse.session->changed = std::vector<int>{TinyVit::kTokens};
  EXPECT_THROW(net.run(TinyVit::image(1)), cv::Exception) << "a patch that is not there";
}

}  // namespace
}  // namespace mpm::test
