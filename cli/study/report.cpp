// SPDX-License-Identifier: Apache-2.0
#include "cli/study/report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/quantiles.h"
#include "cli/paths.h"
#include "cli/pictures/picture_canvas.h"
#include "cli/pictures/plot.h"
#include "cli/pictures/svg_canvas.h"
#include "cli/terminal/output.h"
#include "cli/trade/pareto.h"
#include "vision/confusion_matrix.h"
#include "vision/pictures.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

vision::ConfusionMatrix matrixOf(const PixelCounts& counts) {
  const int classes = static_cast<int>(std::lround(std::sqrt(counts.size())));
  vision::ConfusionMatrix matrix(classes, -1);
  std::size_t i = 0;
  for (int truth = 0; truth < classes; ++truth)
    for (int predicted = 0; predicted < classes; ++predicted) matrix.add(truth, predicted, counts[i++]);
  return matrix;
}

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

PixelCounts elsewhere(const StudyRow& row) {
  PixelCounts counts = row.confusion;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= row.near[i];
  return counts;
}

/// A row of the table: a variant against the full model on the same images.
struct Entry {
  const StudyRow* row;
  double miou, loss, near_loss, far_loss, accuracy, agreement, ms, low_ms, high_ms, speed_up, time, gflop, tokens;
};

/// One model on one data set at one precision.
struct Group {
  std::string title, stem;
  std::vector<Entry> entries, sweep;  // the full model first
};

Entry entryOf(const StudyRow& row, const StudyRow& full) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.ms.size(); ++i) ratios.push_back(row.full_ms[i] / row.ms[i]);
  const auto loss = [](const PixelCounts& of_full, const PixelCounts& own) {
    return meanIouOf(of_full) - meanIouOf(own);
  };
  return {&row,
          meanIouOf(row.confusion),
          loss(full.confusion, row.confusion),
          loss(full.near, row.near),
          loss(elsewhere(full), elsewhere(row)),
          100 * matrixOf(row.confusion).pixelAccuracy(),
          meanOf(row.agreement),
          quantile(row.ms, 0.5),
          quantile(row.ms, 0.25),
          quantile(row.ms, 0.75),
          quantile(ratios, 0.5),
          100 / quantile(ratios, 0.5),
          meanOf(row.gflop),
          meanOf(row.tokens)};
}

std::vector<Group> groupsOf(const std::vector<StudyRow>& rows) {
  const std::string none = toString(kFullModel);
  std::vector<Group> groups;
  std::set<std::vector<std::string>> seen;
  UniqueNames unique;
  for (const StudyRow& row : rows) {
    if (row.sweep || !seen.insert({row.digest, row.source, std::to_string(row.limit), row.precision}).second) continue;
    const std::string stem = unique(row.model + "_" + row.data + "_" + row.precision);
    Group group{row.model + ", " + row.data + ", " + row.precision, stem, {}, {}};
    for (const bool sweep : {false, true}) {
      std::vector<const StudyRow*> own;
      const StudyRow* full = nullptr;
      for (const StudyRow& other : rows) {
        if (other.digest != row.digest || other.source != row.source || other.precision != row.precision ||
            other.sweep != sweep || (!sweep && other.limit != row.limit))
          continue;
        (other.variant == none ? full : own.emplace_back()) = &other;
      }
      if (!full) continue;
      std::vector<Entry>& entries = sweep ? group.sweep : group.entries;
      entries.push_back(entryOf(*full, *full));
      for (const StudyRow* one : own)  // another number of images: a study that is not finished
        if (one->images() == full->images()) entries.push_back(entryOf(*one, *full));
    }
    if (!group.entries.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

Plot tradePlot(const Group& group, const std::string& title, const std::string& cost_name, double Entry::*cost) {
  Plot plot{title + ": " + group.title, cost_name, "mIoU, %", {}};
  std::vector<TradePoint> points;
  for (const Entry& entry : group.entries) points.push_back({entry.*cost, entry.miou});
  const std::vector<bool> front = paretoFront(points);
  PlotSeries line{.name = "Pareto front", .points = {}, .line = true, .in_legend = false, .color = 7};
  for (std::size_t i = 0; i < points.size(); ++i)
    if (front[i]) line.points.emplace_back(points[i].cost, points[i].value);
  std::sort(line.points.begin(), line.points.end(),
            [](const cv::Point2d& a, const cv::Point2d& b) { return a.x < b.x; });
  plot.series.push_back(line);
  for (std::size_t i = 0; i < points.size(); ++i)
    plot.series.push_back({.name = group.entries[i].row->variant + (front[i] ? "  *" : ""),
                           .points = {{points[i].cost, points[i].value}},
                           .color = i});
  return plot;
}

Plot tokensPlot(const Group& group) {
  Plot plot{"Tokens kept per image: " + group.title, "tokens at the end", "share of the images, %", {}};
  constexpr int kBins = 24;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (std::size_t i = 1; i < group.entries.size(); ++i)
    for (const double tokens : group.entries[i].row->tokens) {
      low = std::min(low, tokens);
      high = std::max(high, tokens);
    }
  const double width = std::max(1.0, (high - low) / kBins);
  for (std::size_t i = 1; i < group.entries.size(); ++i) {
    std::vector<double> shares(kBins + 1);
    const auto& tokens = group.entries[i].row->tokens;
    for (const double count : tokens)
      shares[static_cast<std::size_t>((count - low) / width)] += 100.0 / static_cast<double>(tokens.size());
    PlotSeries series{.name = group.entries[i].row->variant, .points = {}, .line = true, .color = i};
    for (std::size_t bin = 0; bin < shares.size(); ++bin) {  // steps
      series.points.emplace_back(low + static_cast<double>(bin) * width, shares[bin]);
      series.points.emplace_back(low + static_cast<double>(bin + 1) * width, shares[bin]);
    }
    plot.series.push_back(series);
  }
  return plot;
}

/// At most one entry of each method, so that bars stay readable.
std::vector<const Entry*> onePerMethod(const Group& group) {
  std::vector<const Entry*> chosen;
  std::set<std::string> methods;
  for (std::size_t i = 1; i < group.entries.size(); ++i) {
    const std::string& reduce = group.entries[i].row->reduce;
    if (methods.insert(reduce.substr(0, reduce.find(':'))).second) chosen.push_back(&group.entries[i]);
  }
  return chosen;
}

BarPlot classesPlot(const Group& group) {
  BarPlot plot{"Loss of IoU per class: " + group.title, "points of IoU", group.entries.front().row->classes, {}, {}};
  const std::vector<double> full = iouOf(group.entries.front().row->confusion);
  for (const Entry* entry : onePerMethod(group)) {
    std::vector<double> losses = iouOf(entry->row->confusion);
    for (std::size_t c = 0; c < losses.size(); ++c) losses[c] = 100 * (full[c] - losses[c]);
    plot.series.push_back(entry->row->variant);
    plot.values.push_back(losses);
  }
  return plot;
}

BarPlot boundariesPlot(const Group& group) {
  BarPlot plot{"Loss of mIoU near boundaries: " + group.title,
               "points of mIoU",
               {},
               {"within " + std::to_string(kNearPixels) + " px of a boundary", "elsewhere"},
               {{}, {}}};
  for (std::size_t i = 1; i < group.entries.size(); ++i) {
    plot.categories.push_back(group.entries[i].row->variant);
    plot.values[0].push_back(group.entries[i].near_loss);
    plot.values[1].push_back(group.entries[i].far_loss);
  }
  return plot;
}

BarPlot stagesPlot(const Group& group) {
  BarPlot plot{"Where the time goes: " + group.title, "ms per image, mean", {}, {}, {}, true};
  for (const auto& [name, stage] : kStages)
    if (stage != &StageTimes::total) {
      plot.series.emplace_back(name);
      std::vector<double> values;
      for (const Entry& entry : group.entries) values.push_back(entry.row->stages.*stage / entry.row->images());
      plot.values.push_back(values);
    }
  for (const Entry& entry : group.entries) plot.categories.push_back(entry.row->variant);
  return plot;
}

Plot localityPlot(const Group& group) {
  Plot plot{"Locality of merges: " + group.title,
            "distance between two members of a cluster, tokens",
            "share of the pairs, %",
            {}};
  for (std::size_t i = 1; i < group.entries.size(); ++i) {
    const StudyRow& row = *group.entries[i].row;
    const auto all = static_cast<double>(std::accumulate(row.distances.begin(), row.distances.end(), std::int64_t{0}));
    if (all == 0) continue;
    const double same = 100.0 * static_cast<double>(row.pairs_of_one_class) / static_cast<double>(row.pairs);
    PlotSeries series{
        .name = row.variant + " (" + fixed(same, 1) + " % of one class)", .points = {}, .line = true, .color = i};
    for (std::size_t d = 1; d < row.distances.size(); ++d)
      series.points.emplace_back(static_cast<double>(d), 100.0 * static_cast<double>(row.distances[d]) / all);
    plot.series.push_back(series);
  }
  return plot;
}

/// GFLOP in percent of ragged batches, for each of kBatchSizes of which there were batches.
std::vector<double> batchPercent(const BatchCosts& costs, std::vector<double> BatchCosts::*way) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < costs.batches.size() && costs.batches[i] > 0; ++i)
    percent.push_back(100 * (costs.*way)[i] / costs.ragged[i]);
  return percent;
}

Plot batchesPlot(const Group& group) {
  Plot plot{"Cost of batches, computed from token counts: " + group.title,
            "images in a batch (line: padded, dots: minimum over the batch)",
            "GFLOP, % of a ragged batch",
            {}};
  for (std::size_t i = 1; i < group.entries.size(); ++i) {
    const StudyRow& row = *group.entries[i].row;
    for (const auto& [way, line] : {std::pair{&BatchCosts::padded, true}, {&BatchCosts::minimum, false}}) {
      PlotSeries series{.name = row.variant, .points = {}, .line = line, .in_legend = line, .color = i};
      for (const double percent : batchPercent(row.batches, way))
        series.points.emplace_back(static_cast<double>(kBatchSizes[series.points.size()]), percent);
      plot.series.push_back(series);
    }
  }
  return plot;
}

/// ms of each block, mean over the images.
std::vector<double> blockTimes(const StudyRow& row) {
  std::vector<double> times = row.stages.blocks;
  for (double& ms : times) ms /= row.images();
  return times;
}

Plot blocksPlot(const Group& group) {
  Plot plot{"Time of each block: " + group.title, "block, with the merging before or inside it", "ms, mean", {}};
  std::vector<const Entry*> entries = onePerMethod(group);
  entries.insert(entries.begin(), &group.entries.front());
  for (const Entry* entry : entries) {
    const auto color = static_cast<std::size_t>(entry - group.entries.data());  // as in the other figures
    PlotSeries series{.name = entry->row->variant, .points = {}, .line = true, .color = color};
    for (const double ms : blockTimes(*entry->row))
      series.points.emplace_back(static_cast<double>(series.points.size()), ms);
    plot.series.push_back(series);
  }
  return plot;
}

Plot depthPlot(const Group& group, const std::string& what, const std::string& name,
               const std::function<double(const Entry&)>& value) {
  Plot plot{what + " of one step of MPM: " + group.title, "before block", name, {}};
  PlotSeries series{.name = "mpm:blocks=B", .points = {}, .line = true, .in_legend = false};
  for (std::size_t i = 1; i < group.sweep.size(); ++i)
    series.points.emplace_back(static_cast<double>(i - 1), value(group.sweep[i]));
  PlotSeries dots = series;
  dots.line = false;
  plot.series = {series, dots};
  return plot;
}

struct Figure {
  std::string name, svg;
};

template <class AnyPlot>
Figure figureOf(const std::string& name, const AnyPlot& plot, const fs::path& folder) {
  SvgCanvas svg(sizeOf(plot));
  draw(plot, svg);
  PictureCanvas picture(sizeOf(plot));
  draw(plot, picture);
  writeFileAtomically((folder / (name + ".svg")).string(), svg.svg());
  vision::writePicture((folder / (name + ".png")).string(), picture.picture());
  return {name, svg.svg()};
}

std::vector<Figure> figuresOf(const Group& group, const fs::path& folder) {
  const auto name = [&](const char* what) { return group.stem + "_" + what; };
  std::vector<Figure> figures = {
      figureOf(name("time"),
               tradePlot(group, "mIoU against time", "time, % of the full model's on the same image", &Entry::time),
               folder),
      figureOf(name("gflop"), tradePlot(group, "mIoU against GFLOP", "GFLOP per image", &Entry::gflop), folder)};
  if (group.entries.size() > 1) {
    figures.push_back(figureOf(name("tokens"), tokensPlot(group), folder));
    figures.push_back(figureOf(name("classes"), classesPlot(group), folder));
    figures.push_back(figureOf(name("boundaries"), boundariesPlot(group), folder));
    figures.push_back(figureOf(name("locality"), localityPlot(group), folder));
    figures.push_back(figureOf(name("batches"), batchesPlot(group), folder));
  }
  figures.push_back(figureOf(name("stages"), stagesPlot(group), folder));
  if (!group.entries.front().row->stages.blocks.empty())
    figures.push_back(figureOf(name("blocks"), blocksPlot(group), folder));
  if (group.sweep.size() > 1) {
    figures.push_back(figureOf(
        name("depth_loss"), depthPlot(group, "Loss", "points of mIoU", [](const Entry& e) { return e.loss; }), folder));
    figures.push_back(figureOf(
        name("depth_speed"),
        depthPlot(group, "Speed-up", "times the full model", [](const Entry& e) { return e.speed_up; }), folder));
  }
  return figures;
}

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

Table tableOf(const Group& group) {
  Table table{{"reduction", "mIoU", "loss", "agreement", "ms", "speed-up", "GFLOP", "tokens"}, {}};
  for (const Entry& entry : group.entries)
    table.rows.push_back({entry.row->variant, fixed(entry.miou, 3), fixed(entry.loss, 3), fixed(entry.agreement, 2),
                          fixed(entry.ms, 1), fixed(entry.speed_up, 2), fixed(entry.gflop, 2), fixed(entry.tokens, 1)});
  return table;
}

/// A model of the paper's table of ADE20K, by StudyRow::net: mIoU and GFLOP of the full model and of MPM(2,5).
struct PaperModel {
  const char *net, *name;
  double miou, gflop, mpm_miou, mpm_gflop;
};
constexpr PaperModel kPaperModels[] = {{"mask_transformer 192/16 512x512", "Seg-T/16", 38.1, 25, 37.6, 17.6},
                                       {"mask_transformer 384/16 512x512", "Seg-S/16", 45.3, 76.9, 45.1, 54},
                                       {"mask_transformer 768/16 512x512", "Seg-B/16", 48.5, 258, 48.0, 184},
                                       {"linear 768/8 512x512", "Seg-B/8", 49.5, 1320, 49.2, 809},
                                       {"mask_transformer 1024/16 512x512", "Seg-L/16", 51.7, 800, 50.4, 496}};

/// The paper's numbers beside ours; no rows for other work than the paper's.
Table paperTable(const Group& group) {
  Table table{{"of the paper", "mIoU, paper", "mIoU", "GFLOP, paper", "GFLOP"}, {}};
  for (const PaperModel& paper : kPaperModels)
    for (const Entry& entry : group.entries) {
      const StudyRow& row = *entry.row;
      if (row.net != paper.net || row.data != "ade20k" || row.limit > 0) continue;
      const bool mpm = row.variant == "mpm" || row.variant == "mpm:blocks=2,5";
      if (!mpm && row.variant != toString(kFullModel)) continue;
      table.rows.push_back({paper.name + std::string(mpm ? ", MPM (2,5)" : ""),
                            fixed(mpm ? paper.mpm_miou : paper.miou, 1), fixed(entry.miou, 3),
                            fixed(mpm ? paper.mpm_gflop : paper.gflop, 1), fixed(entry.gflop, 2)});
    }
  return table;
}

constexpr const char* kNotes =
    "mIoU in percent, its loss in points. agreement: percent of the pixels with the label of the full model. ms: "
    "median "
    "over the images, all variants in turns on each image. speed-up: time of the full model on the same image divided "
    "by that of the variant, median. GFLOP and tokens at the end: means over the images. Batches are not measured: "
    "their "
    "GFLOP are computed from the tokens of images that follow each other. In ragged batches, as this library runs "
    "them, "
    "each image has its own tokens. In padded ones it has as many as the image with most. With a minimum over the "
    "batch it "
    "merges as many in each step as the image that merges fewest.";

std::string sourceText(const Group& group) {
  const StudyRow& row = *group.entries.front().row;
  return counted(row.images(), "image") + " of " + row.source + ".";
}

std::string markdownOf(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "\n|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text;
  };
  if (table.rows.empty()) return {};
  std::string text = line(table.columns) + line(std::vector<std::string>(table.columns.size(), "---"));
  for (const auto& row : table.rows) text += line(row);
  return text + "\n";
}

std::string htmlOf(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells, const std::string& tag) {
    std::string text = "<tr>";
    for (const std::string& cell : cells) text += "<" + tag + ">" + escaped(cell) + "</" + tag + ">";
    return text + "</tr>\n";
  };
  if (table.rows.empty()) return {};
  std::string text = "<table>\n" + line(table.columns, "th");
  for (const auto& row : table.rows) text += line(row, "td");
  return text + "</table>\n";
}

std::string markdownOf(const std::vector<Group>& groups, const std::string& command) {
  std::string text = "# Token reduction study\n\n`" + command + "`\n\n" + kNotes + "\n";
  for (const Group& group : groups)
    text += "\n## " + group.title + "\n" + sourceText(group) + "\n" + markdownOf(tableOf(group)) +
            markdownOf(paperTable(group));
  return text;
}

std::string htmlOf(const Group& group, const std::vector<Figure>& figures) {
  std::string text = "<h2>" + escaped(group.title) + "</h2>\n<p>" + escaped(sourceText(group)) + "</p>\n" +
                     htmlOf(tableOf(group)) + htmlOf(paperTable(group));
  for (const Figure& figure : figures) text += "<figure>" + figure.svg + "</figure>\n";
  return text;
}

/// With spaces between them, one cell.
std::string listOf(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + fixed(value, 3);
  return text;
}

std::string csvOf(const std::vector<Group>& groups) {
  std::string text =
      "model,data,precision,reduction,sweep,images,miou,miou_loss,miou_loss_near,miou_loss_elsewhere,pixel_accuracy,"
      "agreement,ms_median,ms_p25,ms_p75,speed_up,gflop,tokens_end,preprocess_ms,backbone_ms,merge_ms,restore_ms,"
      "head_ms,postprocess_ms,pairs_of_one_class,block_ms,padded_percent,minimum_percent\n";
  for (const Group& group : groups)
    for (const auto* entries : {&group.entries, &group.sweep})
      for (const Entry& e : *entries) {
        const StudyRow& row = *e.row;
        text += row.model + "," + row.data + "," + row.precision + ",\"" + row.variant + "\"," +
                (row.sweep ? "1" : "0") + "," + std::to_string(row.images());
        for (const double value : {e.miou, e.loss, e.near_loss, e.far_loss, e.accuracy, e.agreement, e.ms, e.low_ms,
                                   e.high_ms, e.speed_up, e.gflop, e.tokens})
          text += "," + fixed(value, 4);
        for (const auto& [name, stage] : kStages)
          if (stage != &StageTimes::total) text += "," + fixed(row.stages.*stage / row.images(), 4);
        const double pairs = row.pairs > 0 ? static_cast<double>(row.pairs) : std::nan("");
        text += "," + fixed(static_cast<double>(row.pairs_of_one_class) / pairs, 4) + "," + listOf(blockTimes(row)) +
                "," + listOf(batchPercent(row.batches, &BatchCosts::padded)) + "," +
                listOf(batchPercent(row.batches, &BatchCosts::minimum)) + "\n";
      }
  return text;
}

}  // namespace

std::vector<double> iouOf(const PixelCounts& counts) { return matrixOf(counts).iou(); }

double meanIouOf(const PixelCounts& counts) { return 100 * matrixOf(counts).meanIou(); }

void writeReport(const std::vector<StudyRow>& rows, const std::string& folder, const std::string& command) {
  const fs::path figures = fs::path(folder) / "figures";
  makeFolder(figures.string());
  const std::vector<Group> groups = groupsOf(rows);
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Token reduction study</title>\n<style>"
      "body{font-family:sans-serif;max-width:900px;margin:2em auto;color:#1b1f27}table{border-collapse:collapse}"
      "td,th{padding:3px 10px;text-align:right;border-bottom:1px solid #d3d7de}td:first-child,th:first-child{"
      "text-align:left}figure{margin:1.5em 0}code{background:#eef0f3;padding:2px 4px}</style></head><body>\n"
      "<h1>Token reduction study</h1>\n<p><code>" +
      escaped(command) + "</code></p>\n<p>" + escaped(kNotes) + " * : on the Pareto front.</p>\n";
  std::string markdown = markdownOf(groups, command);
  markdown += "\n## Figures\n";
  for (const Group& group : groups) {
    const std::vector<Figure> drawn = figuresOf(group, figures);
    html += htmlOf(group, drawn);
    for (const Figure& figure : drawn) markdown += "![" + figure.name + "](figures/" + figure.name + ".png)\n";
  }
  writeFileAtomically((fs::path(folder) / "results.csv").string(), csvOf(groups));
  writeFileAtomically((fs::path(folder) / "report.html").string(), html + "</body></html>\n");
  writeFileAtomically((fs::path(folder) / "report.md").string(), markdown);
}

}  // namespace mpm::cli
