// SPDX-License-Identifier: Apache-2.0
#include "program/teach_options.h"

#include "program/model_options.h"

namespace mpm::cli {

void addTeachOptions(CLI::App& verb, TeachOptions& options) {
  addOption(verb, "--images", options.images, "DIR", "Folder of pictures. Those without a label map are not used")
      ->required();
  addOption(verb, "--labels", options.labels, "DIR",
            "Folder of label maps (PNG) with the names of their pictures: one channel of 8 bits, the class index of "
            "each pixel, as large as the picture. Pixels with the label \"ignore\" (255) are not labelled: a few "
            "strokes are enough. Or JSON of LabelMe or COCO, whose labels are names of classes")
      ->required();
  addOption(verb, "--classes", options.classes, "FILE.json",
            "Names and colours of the classes, in the order of their labels. Default: the classes of the model");
  addOption(verb, "--model", options.model, "M.onnx",
            "A plain ViT as ONNX, whose encoder is used. Default: MPM_MODEL of the environment, else the default "
            "model ('mpm info' names it)");
  addReduction(verb, options.reduce,
               "The head is trained on merged tokens, and the new model merges the same way by default. Default: none");
  addOption(verb, "-o,--output", options.output, "MINE.onnx",
            "The new model. Its classes and colours go to MINE.json beside it")
      ->required();
  verb.add_flag_callback(
          "--no-cross-validation", [&options] { options.cross_validation = false; },
          "Leave out the test on pictures that the head was not trained on. The test takes most of the time")
      ->group("Training");
  addNumber(verb, "--steps", options.steps, "N", 1, 1e6, "Steps of training. Default: 150")->group("Training");
  addNumber(verb, "--seed", options.seed, "N", 0, 1e9, "Of the first weights and of the order of pictures. Default: 1")
      ->group("Training");
  addThreads(verb, options.threads);
  verb.add_flag("--json", options.json, "Lines of JSON: {\"progress\": 0.5} while it works, then the result");
  verb.footer(
      R"(Trains a new head (LayerNorm, linear, GELU, linear) on the encoder of the model, which stays as it is. Label about
four pictures that differ, by day and by night, each class in at least two of them. Four pictures take seconds.

The cross-validation trains on some pictures and tests on the others. It says which classes are good and which need
more labels. The model itself is then trained on all pictures.

classes.json: {"classes": [{"name": "river", "color": "#2060c0"}, {"name": "bank"}], "ignore": 255}. Colours are
optional; the .json beside any model will do. The result is plain ONNX, which mpm run, eval, monitor, info, convert and
the app open. Both files are written at the end, so an error or a kill leaves an older model as it was.

Training is the work of mpm-train, which needs LibTorch. On a computer without it, copy pictures, label maps and
classes.json to one that has it, and copy the two files back.

With --json the last line is {"model", "pictures", "reduce", "cross_validation": {"rounds", "miou", "pixel_accuracy",
"iou": {name: value}, "pictures": [..], "confusion": [[..]..]}}, in percent. "pictures": of each class, in how many it
is labelled. "cross_validation" is null where there was none.

Examples:
  mpm teach --images pictures --labels labels --classes classes.json -o mine.onnx
  mpm teach --images pictures --labels labels --classes classes.json --schedule 2,5 -o mine.onnx
  mpm run picture.png --model mine.onnx --out results
)");
}

}  // namespace mpm::cli
