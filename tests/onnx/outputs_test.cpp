// SPDX-License-Identifier: Apache-2.0
// Names, shapes and numbers of what a converted model returns.

#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/pictures.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class Outputs : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  Dialect dialect;
  const std::vector<int> shape{1, 3, TinyVit::kHeight, TinyVit::kWidth};

  Outputs() { dialect.head = HeadStyle::kLinear; }

  /// The model, its input or its output under another name.
  void save(const std::string& output = "masks", const std::string& input = "image") const {
    onnx::ModelProto model = TinyVit(dialect).graph().model();
    const std::string old_input = model.graph().input(0).name(), old_output = model.graph().output(0).name();
    const auto rename = [&](std::string& name) {
      name = name == old_input ? input : name == old_output ? output : name;
    };
    rename(*model.mutable_graph()->mutable_input(0)->mutable_name());
    rename(*model.mutable_graph()->mutable_output(0)->mutable_name());
    for (auto& node : *model.mutable_graph()->mutable_node()) {
      for (auto& name : *node.mutable_input()) rename(name);
      for (auto& name : *node.mutable_output()) rename(name);
    }
    saveModel(model, path);
  }

  /// "NAME 1x2x3" of each output of the converted file.
  std::vector<std::string> outputs(const ConvertOptions& options) const {
    const onnx::ModelProto model = convertedModel(path, options);
    std::vector<std::string> result;
    for (const auto& output : model.graph().output()) {
      std::string text = output.name();
      const auto& sides = output.type().tensor_type().shape().dim();
      for (int i = 0; i < sides.size(); ++i) text += (i == 0 ? " " : "x") + std::to_string(sides[i].dim_value());
      result.push_back(text);
    }
    return result;
  }

  std::vector<double> run(const ConvertOptions& options, const std::string& output) const {
    return runModel(path, options, TinyVit::image(3), {output})[0];
  }
};

const Schedule kNone{};

TEST_F(Outputs, AreLabelsMapAndCountsUnlessAskedOtherwise) {
  for (const HeadStyle head : {HeadStyle::kLinear, HeadStyle::kMask}) {
    for (const bool resize : {true, false}) {
      for (const bool argmax : {true, false}) {
        dialect.head = head;
        dialect.resize_in_graph = resize;
        dialect.argmax = argmax;
        save();
        EXPECT_THAT(outputs({.reduce = mpmBefore({1, 2})}),
                    ElementsAre("labels 1x1x12x20", "merge_map 1x2x15", "token_counts 1x3"));
        EXPECT_THAT(outputs({.reduce = kFullModel}),
                    ElementsAre("labels 1x1x12x20", "merge_map 1x1x15", "token_counts 1x1"));
        EXPECT_THAT(readModelInfo(path, {}).outputs, ElementsAre("labels"));
      }
    }
  }
}

TEST_F(Outputs, LogitsFollowTheInputSize) {
  ConvertOptions options{.reduce = kFullModel, .input_size = Size2{16, 24}, .output = Output::kLogits};
  save();
  EXPECT_THAT(outputs(options), ElementsAre("masks 1x9x16x24", "merge_map 1x1x24", "token_counts 1x1"));
  dialect.resize_in_graph = false;
  save();
  EXPECT_THAT(outputs(options), ElementsAre("masks 1x9x4x6", "merge_map 1x1x24", "token_counts 1x1"));
}

TEST_F(Outputs, LogitsOfAGraphThatGivesLabelsAreCalledLogits) {
  const ConvertOptions options{.reduce = kFullModel, .output = Output::kLogits};
  dialect.argmax = true;
  for (const char* name : {"masks", "labels"}) {
    save(name);
    EXPECT_THAT(outputs(options), ElementsAre("logits 1x9x12x20", "merge_map 1x1x15", "token_counts 1x1"));
  }
  const auto found = run(options, "logits");
  dialect.argmax = false;
  save();
  EXPECT_EQ(found, run(options, "masks"));
}

TEST_F(Outputs, ScoresComeWhenAskedFor) {
  for (const HeadStyle head : {HeadStyle::kLinear, HeadStyle::kMask}) {
    for (const Output output : {Output::kLabels, Output::kLogits}) {
      dialect.head = head;
      dialect.resize_in_graph = true;
      save();
      const ConvertOptions options{.reduce = kFullModel, .output = output, .scores = true};
      EXPECT_EQ(outputs(options)[1], "scores 1x15x9");
      const ModelInfo info = readModelInfo(path, options);
      EXPECT_TRUE(info.scores);
      EXPECT_EQ(info.outputs.size(), 1u);
      const auto scores = run(options, "scores");
      dialect.resize_in_graph = false;
      save();
      const auto map = run({.reduce = kFullModel, .output = Output::kLogits}, "masks");
      for (std::size_t i = 0; i < map.size(); ++i) EXPECT_EQ(scores[i % 15 * 9 + i / 15], map[i]) << i;
    }
  }
  save("scores");
  const std::string converted = folder_ / "converted.onnx";
  convertFile(path, converted, {.reduce = kFullModel, .output = Output::kLogits});
  EXPECT_FALSE(readModelInfo(converted).scores) << "an output of the graph itself has the name";
  dialect.head = HeadStyle::kFeatures;  // there are none
  save("features");
  EXPECT_THAT(outputs({.reduce = kFullModel, .scores = true}),
              ElementsAre("features 1x16x24", "merge_map 1x1x15", "token_counts 1x1"));
}

// OpenCV 5 gives one output or all of them; ReadOptions::outputs works with every version.
TEST_F(Outputs, ComeAloneAllAtOnceOrAsChosen) {
  dialect.head = HeadStyle::kMask;
  save();
  const ConvertOptions options{.reduce = mpmBefore({1, 2})};
  const std::string converted = folder_ / "converted.onnx";
  convertFile(path, converted, options);
  registerLayers();
  const auto atOnce = [&](cv::dnn::Net net, const std::vector<std::string>& names) {
    cv::Mat input(shape, CV_32F);
    std::ranges::copy(TinyVit::image(3), input.ptr<float>());
    net.setInput(input);
    std::vector<cv::Mat> blobs;
    net.forward(blobs, std::vector<cv::String>(names.begin(), names.end()));
    std::vector<std::vector<double>> results;
    for (const cv::Mat& blob : blobs) results.emplace_back(blob.ptr<float>(), blob.ptr<float>() + blob.total());
    return results;
  };
  const auto read = [&](std::vector<std::string> names) {
    return readNet(converted, {.outputs = std::move(names)}).net;
  };
  const std::vector<std::string> all{"labels", "merge_map", "token_counts"};
  const auto expected = atOnce(cv::dnn::readNetFromONNX(converted), all);
  EXPECT_EQ(atOnce(readNet(path, reading(options)).net, all), expected);
  EXPECT_EQ(atOnce(readNet(converted).net, {"token_counts", "labels", "merge_map"}),
            (std::vector{expected[2], expected[0], expected[1]}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (cv::dnn::Net net : {cv::dnn::readNetFromONNX(converted), readNet(converted).net, read({all[i]})})
      EXPECT_EQ(runNet(net, TinyVit::image(3), shape, {all[i]})[0], expected[i]) << all[i];
  }

  EXPECT_EQ(atOnce(read({"token_counts", "labels"}), {"token_counts", "labels"}),
            (std::vector{expected[2], expected[0]}));
  EXPECT_EQ(atOnce(read({"backbone/block0", "merge_map"}), {"backbone/block0", "merge_map"})[1], expected[1]);
  for (const cv::String& layer : read({"backbone/block0"}).getLayerNames())
    EXPECT_EQ(layer.find("block1"), cv::String::npos) << layer << " is not needed";
  EXPECT_MPM_ERROR(read({"logits"}), "the converted net has no value 'logits'");
  EXPECT_MPM_ERROR(read({"labels", "labels"}), "the output 'labels' is asked for twice");
}

TEST_F(Outputs, TheInputKeepsItsName) {
  for (const char* name : {"image", "pixel_values", "scores", "backbone", "logits"}) {
    for (const Output output : {Output::kLabels, Output::kLogits}) {
      save("masks", name);
      onnx::ModelProto model = convertedModel(path, {.reduce = mpmBefore({1}), .output = output});
      ASSERT_EQ(model.graph().input_size(), 1);
      EXPECT_EQ(model.graph().input(0).name(), name);
      cv::dnn::Net net = readNet(path, {.reduce = kFullModel}).net;
      net.setInput(cv::Mat(shape, CV_32F, cv::Scalar(0)), name);
      EXPECT_NO_THROW(net.forward("labels"));
    }
  }
}

// Our names win where they say what the output is; where both would be there, the model is refused.
TEST_F(Outputs, NamesOfTheGraphThatAreOurs) {
  for (const char* name : {"labels", "merge_map", "token_counts", "scores", "backbone/block1"}) {
    save(name);
    EXPECT_THAT(outputs({.reduce = mpmBefore({1})}),
                ElementsAre("labels 1x1x12x20", "merge_map 1x1x15", "token_counts 1x2"))
        << "the label map takes the place of '" << name << "'";
  }
  ConvertOptions options{.reduce = mpmBefore({1}), .output = Output::kLogits};
  save("labels");
  EXPECT_MPM_ERROR(convertModel(path, options), "the graph calls its logits 'labels'");
  for (const std::string name : {"merge_map", "token_counts", "backbone/block1"}) {
    save(name);
    EXPECT_MPM_ERROR(convertModel(path, options), "the graph has an input or output '" + name + "', a name that");
  }
  save("masks", "labels");
  EXPECT_MPM_ERROR(convertModel(path, {}), "the graph has an input or output 'labels', a name that");

  save("scores");
  EXPECT_THAT(outputs(options), ElementsAre("scores 1x9x12x20", "merge_map 1x1x15", "token_counts 1x2"));
  options.scores = true;
  EXPECT_MPM_ERROR(convertModel(path, options), "the graph has an input or output 'scores', a name that");

  dialect.head = HeadStyle::kFeatures;
  for (const std::string name : {"labels", "scores"}) {
    save(name);
    EXPECT_THAT(outputs({.reduce = mpmBefore({1})}),
                ElementsAre(name + " 1x16x24", "merge_map 1x1x15", "token_counts 1x2"));
  }
  save("merge_map");
  EXPECT_MPM_ERROR(convertModel(path, {}), "the graph has an input or output 'merge_map', a name that");
}

}  // namespace
}  // namespace mpm::test
