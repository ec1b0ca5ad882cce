// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "canvas.h"

namespace mpm::scene {

/// The state of the trees on a day of the year.
struct Season {
  float leaves = 1;  ///< share of the leaves that hang
  float autumn = 0;  ///< 0 green .. 1 gold
  float spring = 0;  ///< 1: the light green of May
};
Season seasonAt(double unix_time, double latitude);

/// A tree as the camera sees it: drawn once with all that light needs, bent by the wind in every picture.
class TreeSprite {
 public:
  TreeSprite(const Tree& tree, const View& view, float leaves);

  void draw(const Picture& picture, const Season& season, double unix_time) const;

  struct Puff {
    Vec3 centre;
    float radius;
  };
  /// Balls of leaves whose shades make the tree's.
  const std::vector<Puff>& puffs() const { return puffs_; }
  const Tree& tree() const { return tree_; }

 private:
  struct Texel {
    float alpha = 0, open = 0, leaf = 0;  // all but alpha times alpha
    bool inside = false;                  // of the outline of a crown that is labelled as a whole
    Vec3 albedo, normal;
  };
  void markInside();

  Tree tree_;
  cv::Point origin_;  // of the sprite in the picture, px
  int width_ = 0, height_ = 0;
  float scale_ = 1;  // px per m
  std::vector<Texel> texels_;
  std::vector<Puff> puffs_;
};

}  // namespace mpm::scene
