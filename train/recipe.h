// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augmentation.h"
#include "base/json_file.h"
#include "base/learning_rate.h"
#include "mpm/model_info.hpp"
#include "network_config.h"
#include "samples.h"

namespace mpm::train {

/// Everything that decides which weights come out. It is stored in every checkpoint, so that a run can be resumed, and
/// its model card written, from the checkpoint alone.
struct Recipe {
  std::string network = "vit-t16";
  int dim = 0, blocks = 0;  ///< 0: those of `network`
  std::string positions = "absolute";
  Size2 size = {256, 384};
  std::string data, validation, init;
  std::vector<ClassInfo> classes;  ///< of `data`; empty: those of the scene
  int ignore = 255;
  std::uint64_t seed = 1;

  int steps = 20000;
  int batch = 16;
  std::string optimizer = "adamw";
  double lr = 1e-3;
  int warmup = 500;
  double final_share = 0.01;
  double weight_decay = 0.05;
  double clip = 1;
  double label_smoothing = 0;
  double drop_path = 0;
  double average = 0.999;
  double class_balance = 0.5;
  int label_stride = 1;
  std::string precision = "auto";

  AugmentationOptions augmentation;
  SceneOptions scene;

  /// Throws mpm::Error naming the option.
  void validate() const;
  NetworkConfig networkConfig(int class_count) const;
  struct StartingPart {
    std::string path;
    float share = 1;
  };
  std::vector<StartingPart> startingParts() const;  ///< of `init`
  LearningRate learningRate() const { return {lr, warmup, steps, final_share}; }
};

/// Calls field(group, name, reference, help) for every option of a recipe: the one list behind the command line and
/// the JSON form.
template <class Field>
void visit(Recipe& r, Field&& field) {
  const char* group = "Network";
  field(group, "network", r.network, "Segmenter with this encoder: vit-t16, vit-s16 or vit-b16");
  field(group, "dim", r.dim, "Another width, a multiple of 64 (0: the network's)");
  field(group, "blocks", r.blocks, "Another number of encoder blocks (0: the network's)");
  field(group, "positions", r.positions,
        "absolute: a learned embedding is added to the tokens; rotary: q and k turn with row and column");
  field(group, "size", r.size, "Network input in pixels, multiples of 16");
  field(
      group, "init", r.init,
      "Start from the weights of a checkpoint, of an .onnx that mpm-train wrote, or of a timm .safetensors instead of "
      "random ones: fine-tuning. Another size or another list of classes is fine. "
      "A.onnx:0.6,B.onnx:0.4 is the mean of several, of which one was fine-tuned from the other; --steps 0 writes it");

  group = "Data";
  field(group, "data", r.data,
        "Folder with images/ and labels/ (8-bit class indices, paired by name);\n"
        "without it the built-in scene");
  field(group, "validation", r.validation, "The same, to evaluate on; without it every tenth pair is held out");
  field(group, "ignore", r.ignore, "Label of pixels that belong to no class");
  field(group, "per-street", r.scene.samples_per_street, "Scene: images of a street before the next one is built");
  field(group, "per-view", r.scene.windows_per_view,
        "Scene: windows cut out of each rendering; more save time where --scale-min is 1.5 or more");
  field(group, "varied", r.scene.varied,
        "Scene: share of the training streets with variety=1 (docs/scene.md); the others are usual streets");
  field(group, "eval-streets", r.scene.held_out_streets, "Scene: streets to evaluate on, which training never sees");
  field(group, "eval-hours", r.scene.held_out_per_street, "Scene: images of each, evenly over the day");

  group = "Augmentation";
  field(group, "scale-min", r.augmentation.scale_min,
        "Smallest scale of the image under the window (scene: at least 1)");
  field(group, "scale-max", r.augmentation.scale_max, "Largest scale");
  field(group, "flip", r.augmentation.flip, "Probability of a mirror image");
  field(group, "brightness", r.augmentation.brightness, "Largest change of exposure, in stops");
  field(group, "contrast", r.augmentation.contrast, "Largest relative change of contrast");
  field(group, "saturation", r.augmentation.saturation, "Largest relative change of saturation");
  field(group, "color", r.augmentation.color, "Largest relative change of one channel");
  field(group, "noise", r.augmentation.noise, "Probability of extra sensor noise");
  field(group, "dim-light", r.augmentation.dim, "Probability of a fifth to a half of the light");

  group = "Optimisation";
  field(group, "seed", r.seed, "Of the weights and the data");
  field(group, "steps", r.steps, "Steps of the optimiser");
  field(group, "batch", r.batch, "Images per step");
  field(group, "optimizer", r.optimizer, "adamw, or muon: Muon for the matrices of the blocks and AdamW for the rest");
  field(group, "lr", r.lr, "Peak learning rate");
  field(group, "warmup", r.warmup, "Steps of linear warm-up; half a cosine follows");
  field(group, "final-lr", r.final_share, "Share of the peak at the end");
  field(group, "weight-decay", r.weight_decay, "On matrices; never on norms, biases and embeddings");
  field(group, "clip", r.clip, "Largest norm of the gradient (0: no limit)");
  field(group, "label-smoothing", r.label_smoothing, "Share of the truth spread over all classes");
  field(group, "drop-path", r.drop_path, "Stochastic depth of the last block; for small folders of images");
  field(group, "average", r.average,
        "Decay of the moving average of the weights; the average is exported\n"
        "(0: none)");
  field(group, "class-balance", r.class_balance,
        "Weight of a class in the loss: (median frequency / frequency) to this\n"
        "power, 0.2 to 5 (0: all alike)");
  field(group, "label-stride", r.label_stride,
        "The loss sees one pixel of each square of 1, 2 or 4 pixels a side, another\none at each step: less time in "
        "the loss");
  field(group, "precision", r.precision, "Of matrix products: fp32, bf16, or auto: bf16 where it is faster");
}

Json toJson(const Recipe& recipe);
/// A field that a checkpoint of an older version lacks keeps its default. Throws mpm::Error when one is of another
/// type.
Recipe recipeFromJson(const JsonValue& json);

/// The classes of vision::readClassList(). Throws mpm::Error, also for fewer than two.
std::vector<ClassInfo> readClasses(const std::string& path);

}  // namespace mpm::train
