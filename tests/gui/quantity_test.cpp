// SPDX-License-Identifier: Apache-2.0
#include "monitor/quantity.h"

#include "base/atomic_file.h"
#include "gui/views/chart_panel.h"
#include "monitor/samples.h"
#include "monitor/statistics/alarms.h"
#include "monitor/store/export.h"

namespace mpm::gui {
namespace {

using monitor::Sample, monitor::StoreReader;

// The table of this test. It ends as it was.
struct OneMore {
  OneMore() {
    monitor::quantities().push_back({"red_blue", "Red by blue", "", 2, [](const monitor::RegionInput& m) {
                                       return std::optional(m.mean[0] / m.mean[2]);
                                     }});
  }
  ~OneMore() { monitor::quantities().pop_back(); }
};

std::string exported(const StoreReader& store, monitor::ExportFormat format, const std::string& path) {
  monitor::exportSamples(store, {.format = format, .source = 1}, path);
  return readFile(path);
}

Sample measured(UnixMs time) {
  const monitor::FrameFacts facts;
  Sample sample;
  sample.time = time;
  sample.whole() = monitor::evaluate({.pixels = 10, .mean = {90, 20, 40}, .frame = &facts});
  return sample;
}

using Quantity = monitor::test::InFolder;

TEST_F(Quantity, OneMoreLineIsStoredExportedDrawnAndAlarmedOn) {
  monitor::test::record(path_, {measured(1000)});  // before there was such a quantity
  const OneMore table;
  monitor::test::record(path_, {measured(2000)});
  const StoreReader reader(path_);
  std::vector<std::optional<double>> values;
  for (const Sample& sample : monitor::test::allSamples(reader)) values.push_back(sample.whole().value("red_blue"));
  EXPECT_EQ(values, (std::vector<std::optional<double>>{std::nullopt, 2.25}));
  const auto chart = reader.chart({.source = 1, .from = 0, .to = 5000, .series = {{.quantity = "red_blue"}}});
  ASSERT_EQ(chart.buckets.size(), 2u);
  EXPECT_EQ(chart.buckets[1].values[0].mean, 2.25);

  const std::string csv = exported(reader, monitor::ExportFormat::kCsv, folder_ / "a.csv"),
                    json = exported(reader, monitor::ExportFormat::kJsonLines, folder_ / "a.jsonl");
  EXPECT_NE(csv.find(",red_blue\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",2.25\n"), std::string::npos) << csv;
  EXPECT_NE(json.find("\"red_blue\":2.25"), std::string::npos) << json;

  History history;
  HistorySources sources(&history);
  const ChartPanel panel(&history, &sources);
  const auto* action = panel.findChild<QAction*>("red_blue");
  ASSERT_NE(action, nullptr);
  EXPECT_EQ(action->text(), "Red by blue");

  monitor::Alarms alarms({.alarms = {monitor::parseAlarm("red_blue>2")}, .minutes = 0});
  EXPECT_EQ(alarms.add(measured(3000), 0).size(), 1u);
}

}  // namespace
}  // namespace mpm::gui
