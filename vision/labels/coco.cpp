// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/coco.h"

#include <algorithm>
#include <filesystem>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "vision/labels/label_json.h"
#include "vision/labels/outlines.h"

namespace mpm::vision {
namespace {

using Json = nlohmann::json;

bool holdsCoco(const Json& json) {
  return json.is_object() && json.contains("images") && json.contains("annotations") && json.contains("categories");
}

std::string stemOf(const Json& image) {
  return std::filesystem::path(image.at("file_name").get<std::string>()).stem().string();
}

template <typename Read>
auto orNotCoco(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const Json::exception&) {
    throw Error("'" + path +
                "' is not a file of COCO: images need \"id\" and \"file_name\", annotations \"image_id\", " +
                "\"category_id\" and \"segmentation\"");
  }
}

std::map<std::int64_t, std::string> categoriesOf(const Json& json) {
  std::map<std::int64_t, std::string> names;
  for (const Json& category : json.at("categories")) names[category.at("id")] = category.at("name");
  return names;
}

// Lengths of runs of 0 and 1 in turns, down the columns.
void paintRuns(cv::Mat& labels, const Json& runs, int label, const std::string& path) {
  if (!runs.at("counts").is_array())
    throw Error("'" + path + "' holds compressed run lengths: export polygons, or run lengths as numbers");
  requireSize({runs.at("size").at(1).get<int>(), runs.at("size").at(0).get<int>()}, labels.size(), path);
  std::int64_t at = 0;
  bool inside = false;
  for (const Json& run : runs.at("counts")) {
    const auto end =
        std::clamp<std::int64_t>(at + run.get<std::int64_t>(), at, static_cast<std::int64_t>(labels.total()));
    for (; at < end; ++at)
      if (inside)
        labels.at<uchar>(static_cast<int>(at % labels.rows), static_cast<int>(at / labels.rows)) =
            static_cast<uchar>(label);
    inside = !inside;
  }
}

void paint(cv::Mat& labels, const Json& segmentation, int label, const std::string& path) {
  if (segmentation.is_object()) return paintRuns(labels, segmentation, label, path);
  for (const Json& polygon : segmentation.get<std::vector<Json>>()) {
    std::vector<cv::Point> points;
    for (std::size_t i = 0; i + 1 < polygon.size(); i += 2)
      points.push_back(labelPoint(polygon.at(i).get<double>(), polygon.at(i + 1).get<double>()));
    if (points.empty()) throw Error("'" + path + "' holds a polygon without points");
    cv::fillPoly(labels, std::vector<std::vector<cv::Point>>{points}, cv::Scalar(label));
  }
}

Json polygonOf(const std::vector<cv::Point>& points) {
  Json polygon = Json::array();
  for (const cv::Point& point : points) {
    polygon.push_back(point.x);
    polygon.push_back(point.y);
  }
  return polygon;
}

}  // namespace

std::map<std::string, std::string> cocoFiles(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : jsonFiles(folder))
    orNotCoco(file, [&, &path = file] {
      const Json json = readLabelJson(path);
      if (!holdsCoco(json)) return;
      std::map<std::int64_t, bool> has_shapes;
      for (const Json& annotation : json.at("annotations")) has_shapes[annotation.at("image_id")] = true;
      for (const Json& image : json.at("images"))
        if (has_shapes[image.at("id")]) files.emplace(stemOf(image), path);
    });
  return files;
}

bool isCoco(const std::string& path) { return holdsCoco(readLabelJson(path)); }

std::vector<std::string> cocoNames(const std::string& path) {
  return orNotCoco(path, [&] {
    const Json json = readLabelJson(path);
    std::map<std::int64_t, bool> used;
    for (const Json& annotation : json.at("annotations")) used[annotation.at("category_id")] = true;
    std::vector<std::string> names;
    for (const Json& category : json.at("categories"))
      if (used[category.at("id")]) names.push_back(category.at("name"));
    return names;
  });
}

cv::Mat readCoco(const std::string& path, const std::string& name, const std::vector<ClassInfo>& classes, int ignore,
                 cv::Size size) {
  return orNotCoco(path, [&] {
    const Json json = readLabelJson(path);
    const auto categories = categoriesOf(json);
    const auto image = std::find_if(json.at("images").begin(), json.at("images").end(),
                                    [&](const Json& one) { return stemOf(one) == name; });
    if (image == json.at("images").end()) throw Error("'" + path + "' names no picture '" + name + "'");
    requireSize({image->value("width", size.width), image->value("height", size.height)}, size, path);
    cv::Mat labels(size, CV_8U, cv::Scalar(ignore));
    for (const Json& annotation : json.at("annotations")) {
      if (annotation.at("image_id") != image->at("id")) continue;
      const auto category = categories.find(annotation.at("category_id").get<std::int64_t>());
      if (category == categories.end()) throw Error("'" + path + "' holds a shape of no category");
      paint(labels, annotation.at("segmentation"), numberOfClass(category->second, classes, path), path);
    }
    return labels;
  });
}

void writeCoco(const std::string& path, const std::vector<CocoPicture>& pictures, const ClassList& classes) {
  Json json = {{"images", Json::array()}, {"categories", Json::array()}, {"annotations", Json::array()}};
  for (int label = 0; label < classes.count(); ++label)
    json["categories"].push_back({{"id", label + 1}, {"name", classes.classes[static_cast<std::size_t>(label)].name}});
  for (const CocoPicture& picture : pictures) {
    const auto id = json["images"].size() + 1;
    json["images"].push_back(
        {{"id", id}, {"file_name", picture.file}, {"height", picture.labels.rows}, {"width", picture.labels.cols}});
    for (int label = 0; label < classes.count(); ++label) {
      cv::Mat regions, boxes, centres;
      const int count = cv::connectedComponentsWithStats(picture.labels == label, regions, boxes, centres, 8, CV_32S);
      for (int region = 1; region < count; ++region) {
        const cv::Mat mask = regions == region;
        Json polygons = Json::array();
        for (const auto& points : outlines(mask)) polygons.push_back(polygonOf(points));
        const int* const box = boxes.ptr<int>(region);
        json["annotations"].push_back({{"id", json["annotations"].size() + 1},
                                       {"image_id", id},
                                       {"category_id", label + 1},
                                       {"iscrowd", 0},
                                       {"area", box[cv::CC_STAT_AREA]},
                                       {"bbox", {box[0], box[1], box[2], box[3]}},
                                       {"segmentation", std::move(polygons)}});
      }
    }
  }
  writeFileAtomically(path, json.dump() + "\n");
}

}  // namespace mpm::vision
