// SPDX-License-Identifier: Apache-2.0
#include "net/objects.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "base/segment_limits.h"
#include "kernels/resample.h"
#include "onnx/model/box_outputs.h"

namespace mpm {
namespace {

// An object and its place in BoxQueries.
struct RankedPair {
  int query = 0;
  Segment object;
};

std::vector<RankedPair> rankedPairs(const BoxQueries& queries, double min_score, cv::Size image) {
  const int classes = queries.scores.cols;
  std::vector<float> scores(static_cast<std::size_t>(queries.scores.rows) * classes);
  for (int q = 0; q < queries.scores.rows; ++q) {
    for (int c = 0; c < classes; ++c)
      scores[static_cast<std::size_t>(q) * classes + c] = 1 / (1 + std::exp(-queries.scores.row(q)[c]));
  }
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + queries.scores.rows;  // a class has a score for each query
  std::partial_sort(order.begin(), end, order.end(),
                    [&](int a, int b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  std::vector<RankedPair> found;
  for (auto pair = order.begin(); pair != end; ++pair) {
    const auto score = static_cast<double>(scores[*pair]);
    if (!(score > min_score)) break;
    const float* const box = queries.boxes.row(*pair / classes);
    const double width = static_cast<double>(box[2]) * image.width, height = static_cast<double>(box[3]) * image.height;
    const cv::Rect2d place(static_cast<double>(box[0]) * image.width - width / 2,
                           static_cast<double>(box[1]) * image.height - height / 2, width, height);
    found.push_back({*pair / classes, {.label = *pair % classes, .score = score, .box = place}});
  }
  return found;
}

// The masks of queries at the size of an image: true where they are above 0.
class MaskPixels {
 public:
  MaskPixels(const BoxQueries& queries, cv::Size image)
      : queries_(queries),
        rows_(bilinearAxis(queries.grid.height, image.height)),
        columns_(bilinearAxis(queries.grid.width, image.width)) {}

  bool operator()(int query, int y, int x) const {
    float logit = 0;
    for (int i = 0; i < rows_.taps; ++i) {
      const float* const from = queries_.masks.row(query) +
                                static_cast<std::ptrdiff_t>(rows_.first[y] + i) * queries_.grid.width +
                                columns_.first[x];
      float sum = 0;
      for (int j = 0; j < columns_.taps; ++j) sum += columns_.weightsOf(x)[j] * from[j];
      logit += rows_.weightsOf(y)[i] * sum;
    }
    return logit > 0;
  }

 private:
  const BoxQueries& queries_;
  AxisResampling rows_, columns_;
};

// The pixels whose centres lie between two edges, at most `pixels`.
std::pair<int, int> pixelsBetween(double low, double high, int pixels) {
  const auto at = [&](double edge) { return static_cast<int>(std::clamp(std::ceil(edge - 0.5), 0.0, pixels * 1.0)); };
  return {at(low), std::max(at(low), at(high))};
}

}  // namespace

std::vector<Segment> objectsOf(const BoxQueries& queries, double min_score, const Parallel& parallel, cv::Mat& ids) {
  if (queries.scores.rows > std::numeric_limits<std::uint16_t>::max())
    throw Error("the model has " + std::to_string(queries.scores.rows) + " queries: at most 65535 fit into an id map");
  std::vector<RankedPair> ranked = rankedPairs(queries, min_score, ids.size());
  const bool masked = queries.masks.rows > 0;
  std::optional<MaskPixels> inside;
  if (masked) inside.emplace(queries, ids.size());
  parallel.run(ids.rows, [&](int y) {
    auto* const row = ids.ptr<std::uint16_t>(y);
    std::fill_n(row, ids.cols, std::uint16_t{0});
    for (std::size_t k = 0; k < ranked.size(); ++k) {
      const cv::Rect2d& box = *ranked[k].object.box;
      const auto [top, bottom] = pixelsBetween(box.y, box.y + box.height, ids.rows);
      const auto [left, right] = masked ? std::pair(0, ids.cols) : pixelsBetween(box.x, box.x + box.width, ids.cols);
      if (!masked && (y < top || y >= bottom)) continue;
      for (int x = left; x < right; ++x)
        if (row[x] == 0 && (!masked || (*inside)(ranked[k].query, y, x))) row[x] = static_cast<std::uint16_t>(k + 1);
    }
  });
  std::vector<std::int64_t> areas(ranked.size() + 1);
  for (int y = 0; y < ids.rows; ++y)
    for (int x = 0; x < ids.cols; ++x) ++areas[ids.at<std::uint16_t>(y, x)];
  std::vector<Segment> objects;
  std::vector<std::uint16_t> id_of(ranked.size() + 1, 0);
  for (std::size_t k = 0; k < ranked.size(); ++k) {
    if (masked && areas[k + 1] == 0) continue;
    Segment& object = objects.emplace_back(ranked[k].object);
    object.id = static_cast<int>(objects.size());
    object.area = areas[k + 1];
    id_of[k + 1] = static_cast<std::uint16_t>(object.id);
  }
  for (int y = 0; y < ids.rows; ++y)
    for (int x = 0; x < ids.cols; ++x) ids.at<std::uint16_t>(y, x) = id_of[ids.at<std::uint16_t>(y, x)];
  return objects;
}

ObjectMaker::ObjectMaker(ImageNet& net, const EstimatorOptions& options, Task task)
    : net_(net),
      min_score_(options.min_score.value_or(defaultMinScore(HeadKind::kBoxQueries))),
      labels_(options.labels),
      masks_(task == Task::kInstance) {
  constexpr int kMaxClasses = 255;  // in label maps 255 is no class
  if (labels_ && net.info().classes > kMaxClasses) {
    throw Error("'" + net.path() + "' has " + std::to_string(net.info().classes) +
                " classes, but maps of their objects have 8 bits: at most " + std::to_string(kMaxClasses));
  }
}

void ObjectMaker::run(const cv::Mat& image, Estimate& result) {
  net_.run(image, result);
  StopWatch watch;
  std::vector<onnx_graph::Shape> shapes;
  const std::vector<std::string>& names = net_.info().outputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    net_.requireFinite(i, net_.answerName(i));
    const cv::Mat& answer = net_.answer(i);
    shapes.emplace_back(answer.size.p, answer.size.p + answer.dims);
  }
  const auto found = onnx_graph::boxOutputs(names, shapes);
  if (!found || shapes[found->scores].back() != net_.info().classes)
    throw Error("the model has no outputs of boxes and scores: convert the original model again");
  const auto rowsOf = [&](std::size_t i) {
    const cv::Mat& answer = net_.answer(i);
    return MatrixView<const float>(answer.ptr<float>(), answer.size[1],
                                   static_cast<int>(answer.total() / static_cast<std::size_t>(answer.size[1])));
  };
  BoxQueries queries{rowsOf(found->boxes), rowsOf(found->scores), {}, {}};
  if (masks_ && found->masks) {
    const cv::Mat& masks = net_.answer(*found->masks);
    queries.masks = rowsOf(*found->masks);
    queries.grid = {masks.size[2], masks.size[3]};
  }
  result.ids.create(image.size(), CV_16U);
  result.segments = objectsOf(queries, min_score_, net_.parallel(), result.ids);
  if (labels_) result.labels = segmentClasses(result.ids, result.segments);
  result.ms.postprocess += watch.lap();
}

}  // namespace mpm
