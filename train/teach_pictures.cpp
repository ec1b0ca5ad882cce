// SPDX-License-Identifier: Apache-2.0
#include "teach_pictures.h"

#include <algorithm>

#include "base/class_balance.h"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "recipe.h"

namespace mpm::train {

std::string teachableModel(const std::string& model) {
  std::string path = cli::chosenModel(model);
  onnx_graph::requireTokenHeadFits(path);
  return path;
}

vision::ClassList taughtClasses(const std::string& path, const ModelInfo& model) {
  vision::ClassList list{model.facts.classes, model.facts.ignore};
  if (!path.empty()) list = {readClasses(path), vision::readClassList(path).ignore};
  if (list.classes.empty()) throw cli::UsageError("the model names no classes: name them with --classes FILE.json");
  list.validate("'" + path + "'");
  return list;
}

std::vector<double> pixelsOfClasses(const cv::Mat& labels, const vision::ClassList& classes) {
  std::vector<double> pixels(classes.classes.size());
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x)
      if (const int label = labels.at<uchar>(y, x); label != classes.ignore) ++pixels[static_cast<std::size_t>(label)];
  return pixels;
}

cv::Mat cellsOf(const cv::Mat& labels, Size2 grid, const vision::ClassList& classes) {
  const Size2 size{grid.height * kCellsPerPatch, grid.width * kCellsPerPatch};
  const int count = classes.count();
  std::vector<int> pixels(static_cast<std::size_t>(size.width * count));
  cv::Mat cells(size.height, size.width, CV_8U, cv::Scalar(classes.ignore));
  for (int row = 0; row < size.height; ++row) {
    std::fill(pixels.begin(), pixels.end(), 0);
    const int from = row * labels.rows / size.height, to = std::max(from + 1, (row + 1) * labels.rows / size.height);
    for (int y = from; y < to; ++y)
      for (int x = 0; x < labels.cols; ++x)
        if (const int label = labels.at<uchar>(y, x); label != classes.ignore)
          ++pixels[static_cast<std::size_t>(static_cast<std::int64_t>(x) * size.width / labels.cols * count + label)];
    for (int column = 0; column < size.width; ++column) {
      const auto first = pixels.begin() + column * count, best = std::max_element(first, first + count);
      if (*best > 0) cells.at<uchar>(row, column) = static_cast<uchar>(best - first);
    }
  }
  return cells;
}

TokenHead trainOn(const std::vector<const TaughtPicture*>& pictures, const vision::ClassList& classes, Size2 grid,
                  HeadRecipe recipe, const std::function<bool()>& step) {
  recipe.grid = grid;
  recipe.classes = classes.count();
  recipe.ignore = classes.ignore;
  std::vector<const LabelledTokens*> tokens;
  std::vector<double> pixels(classes.classes.size());
  for (const TaughtPicture* picture : pictures) {
    tokens.push_back(&picture->tokens);
    std::transform(pixels.begin(), pixels.end(), picture->pixels.begin(), pixels.begin(), std::plus<>());
  }
  recipe.class_weights = balancedWeights(pixels, 0.5);
  return trainHead(recipe, tokens, step);
}

}  // namespace mpm::train
