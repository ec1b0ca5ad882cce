// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpm/options.hpp"
#include "vision/labels/labelled_picture.h"

namespace mpm::evaluation {

/// Published data sets for semantic segmentation, each in the folders of its authors.
enum class Dataset {
  kAde20k,         ///< ADEChallengeData2016: images/validation, annotations/validation
  kCityscapes,     ///< leftImg8bit/val/CITY, gtFine/val/CITY (labelIds)
  kPascalContext,  ///< VOC2010: JPEGImages, SegmentationClassContext, ImageSets/SegmentationContext/val.txt
  kCamVid,         ///< val and valannot (the 11 classes of SegNet), or images and labels without splits
};

/// "ade20k", "cityscapes", "pascal-context", "camvid".
std::string toString(Dataset dataset);

/// How the papers measure on a data set.
struct DatasetProtocol {
  int classes = 0;
  std::string split{};    ///< of the images
  Size2 window{};         ///< sliding windows, px; {0, 0}: one pass over the resized image
  int window_stride = 0;  ///< px
  int short_side = 0;     ///< images are resized to it before the windows, px; 0: not resized
};
DatasetProtocol protocolOf(Dataset dataset);

/// Its labels as classes from 0. ADE20K and Pascal Context count classes from 1, Cityscapes has ids of its own.
vision::LabelMeaning labelMeaningOf(Dataset dataset);

/// The images of a split, sorted by name, each with its label map. Throws mpm::Error naming the folder or the file that
/// is missing.
std::vector<vision::LabelledFile> datasetFiles(Dataset dataset, const std::string& folder, const std::string& split);

/// The film that an image is a frame of: of CamVid and Cityscapes the recording that its name begins with. The images
/// of the others are photographs that have nothing to do with each other, so each is a film.
std::string filmOf(Dataset dataset, const std::string& image);

}  // namespace mpm::evaluation
