// SPDX-License-Identifier: Apache-2.0
#include "gui/models/merge_map.h"

#include <numeric>

#include "mpm/error.hpp"

namespace mpm::gui {

MergeLookup::MergeLookup(Size2 grid, const std::vector<std::vector<int>>& cluster_of_token, const Schedule& schedule,
                         const std::vector<int>& hidden)
    : grid_(grid), schedule_(schedule) {
  if (cluster_of_token.size() != schedule.size()) {
    throw Error("a frame has " + std::to_string(cluster_of_token.size()) + " merge maps, its schedule " +
                std::to_string(schedule.size()) + " insertions");
  }
  const std::size_t count = static_cast<std::size_t>(grid.height) * grid.width;
  merged_at_.assign(count, 0);
  std::vector<int> alone(count);
  std::iota(alone.begin(), alone.end(), 0);
  for (std::size_t k = 0; k <= cluster_of_token.size(); ++k) {
    Step& step = steps_.emplace_back(Step{k == 0 ? alone : cluster_of_token[k - 1], {}, {}});
    if (step.cluster_of_token.size() != count) {
      throw Error("a merge map has " + std::to_string(step.cluster_of_token.size()) + " tokens, its grid " +
                  std::to_string(count));
    }
    for (const int cluster : step.cluster_of_token) {
      if (cluster < 0 || cluster >= static_cast<int>(count))
        throw Error("a merge map names a cluster that cannot exist");
    }
    step.first_member.assign(count == 0 ? 1 : std::ranges::max(step.cluster_of_token) + 2, 0);
    step.member.clear();
    for (const int token : hidden) step.cluster_of_token[token] = -1;
    for (const int token : alone) {
      if (step.cluster_of_token[token] < 0) continue;
      ++step.first_member[step.cluster_of_token[token] + 1];
      step.member.push_back(token);
    }
    std::partial_sum(step.first_member.begin(), step.first_member.end(), step.first_member.begin());
    std::ranges::stable_sort(step.member, {}, [&](int token) { return step.cluster_of_token[token]; });
    for (std::size_t token = 0; token < count; ++token) {
      if (merged_at_[token] == 0 && size(static_cast<int>(k), static_cast<int>(token)) > 1)
        merged_at_[token] = static_cast<int>(k);
    }
  }
}

namespace {

struct Sum {
  std::int64_t red = 0, green = 0, blue = 0, count = 0;
  void add(QRgb color) {
    red += qRed(color);
    green += qGreen(color);
    blue += qBlue(color);
    ++count;
  }
  QRgb mean() const {
    if (count == 0) return qRgb(0, 0, 0);
    const auto part = [this](std::int64_t sum) { return static_cast<int>((sum + count / 2) / count); };
    return qRgb(part(red), part(green), part(blue));
  }
};

}  // namespace

std::vector<QRgb> patchColors(const cv::Mat& image, Size2 grid) {
  const int count = grid.height * grid.width;
  std::vector<Sum> sums(count);
  if (image.empty()) return std::vector<QRgb>(count, qRgb(0, 0, 0));
  for (int y = 0; y < image.rows; ++y) {
    const auto* pixel = image.ptr<std::uint8_t>(y);
    const int row = static_cast<int>(static_cast<std::int64_t>(y) * grid.height / image.rows) * grid.width;
    for (int x = 0; x < image.cols; ++x, pixel += 3) {
      sums[row + static_cast<int>(static_cast<std::int64_t>(x) * grid.width / image.cols)].add(
          qRgb(pixel[2], pixel[1], pixel[0]));
    }
  }
  std::vector<QRgb> result(count);
  std::transform(sums.begin(), sums.end(), result.begin(), [](const Sum& sum) { return sum.mean(); });
  return result;
}

std::vector<QRgb> mergeFill(const MergeLookup& lookup, int step, MergeColoring coloring,
                            const std::vector<QRgb>& patch_colors) {
  std::vector<QRgb> fill(lookup.tokens(), qRgb(0, 0, 0));
  if (coloring == MergeColoring::kMean) {
    for (int cluster = 0; cluster < lookup.clusters(step); ++cluster) {
      Sum sum;
      for (int token : lookup.members(step, cluster)) sum.add(patch_colors[token]);
      for (int token : lookup.members(step, cluster)) fill[token] = sum.mean();
    }
    return fill;
  }
  for (int token = 0; token < lookup.tokens(); ++token) {
    if (lookup.hidden(token)) continue;
    fill[token] = coloring == MergeColoring::kSize ? sizeColor(sizeBin(lookup.size(step, token)))
                                                   : insertionColor(lookup.mergedAt(step, token));
  }
  return fill;
}

int sizeBin(int size) { return size <= 1 ? 0 : size == 2 ? 1 : size <= 4 ? 2 : size <= 8 ? 3 : 4; }

// Steps of rising lightness, so that they keep their order in grey and to every eye.
QRgb sizeColor(int bin) {
  constexpr std::array<QRgb, kSizeBins> kRamp = {0xff2b2f3a, 0xff3b5488, 0xff4f93a8, 0xff8fc98b, 0xfff6e27a};
  return kRamp[std::clamp(bin, 0, kSizeBins - 1)];
}

QRgb insertionColor(int step) {
  constexpr std::array<QRgb, 6> kSteps = {0xff3a3f4b, 0xff3f86d0, 0xfff0a030, 0xff30b090, 0xffd060a0, 0xffe8e070};
  return step == 0 ? kSteps[0] : kSteps[1 + (step - 1) % 5];
}

std::vector<GridLine> mergeBorders(const MergeLookup& lookup, int step) {
  std::vector<GridLine> result;
  const auto [height, width] = lookup.grid();
  for (int token = 0; token < lookup.tokens(); ++token) {
    const int x = token % width, y = token / width, cluster = lookup.cluster(step, token);
    if (x + 1 < width && lookup.cluster(step, token + 1) != cluster) result.push_back({x + 1, y, x + 1, y + 1});
    if (y + 1 < height && lookup.cluster(step, token + width) != cluster) result.push_back({x, y + 1, x + 1, y + 1});
  }
  return result;
}

std::vector<GridLine> clusterOutline(const MergeLookup& lookup, int step, int cluster) {
  std::vector<GridLine> result;
  const Size2 grid = lookup.grid();
  const auto inside = [&](int x, int y) {
    return x >= 0 && x < grid.width && y >= 0 && y < grid.height && lookup.cluster(step, y * grid.width + x) == cluster;
  };
  for (int token : lookup.members(step, cluster)) {
    const int x = token % grid.width, y = token / grid.width;
    if (!inside(x, y - 1)) result.push_back({x, y, x + 1, y});
    if (!inside(x, y + 1)) result.push_back({x, y + 1, x + 1, y + 1});
    if (!inside(x - 1, y)) result.push_back({x, y, x, y + 1});
    if (!inside(x + 1, y)) result.push_back({x + 1, y, x + 1, y + 1});
  }
  return result;
}

}  // namespace mpm::gui
