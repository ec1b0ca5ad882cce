// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/tune_job.h"

#include <utility>

namespace mpm::gui {
namespace {

void markDifferences(cli::TuneResult& result) {
  cv::Mat full;
  for (const cli::TuneRow& row : result.rows)
    if (row.variant == kFullModel) full = row.example.clone();
  for (cli::TuneRow& row : result.rows) row.example.setTo(TuneJob::kDiffers, row.example != full);
}

}  // namespace

TuneJob::TuneJob(Pictures pictures, const cli::TuneOptions& options, QObject* parent)
    : QObject(parent), thread_([this, pictures = std::move(pictures), options](const std::stop_token& stop) {
        run(stop, pictures, options);
      }) {}

void TuneJob::run(const std::stop_token& stop, const Pictures& pictures, cli::TuneOptions options) {
  options.progress = [this, &stop](int done, int estimate) {
    queue([this, done, estimate] { emit progressed(done, estimate); });
    return !stop.stop_requested();
  };
  try {
    auto result = cli::tune(pictures(), options);
    if (!result) return queue([this] { emit cancelled(); });
    markDifferences(*result);
    queue([this, shared = std::make_shared<const cli::TuneResult>(std::move(*result))] { emit finished(shared); });
  } catch (const std::exception& error) {
    queue([this, message = QString::fromStdString(error.what())] { emit failed(message); });
  }
}

}  // namespace mpm::gui
