// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/net_control.h"
#include "gui/models/camera_configs.h"

namespace mpm::gui {

/// Opens, pauses and closes a source, and puts its frames on show.
class CameraControl : public QObject {
  Q_OBJECT
 public:
  CameraControl(const WindowOptions& options, LiveMonitor* live, OnShow* on_show, CameraConfigs* configs,
                NetControl* net, const ActionRegistry* actions, QObject* parent);

  /// Opens what vision::openSource() understands, or gst:PIPELINE.
  void open(const QString& asked) { begin(asked, false); }
  void openAgain();
  /// Opens the archive again and measures all its pictures, into a series of their own.
  void measureAgain();
  void close();
  void setPaused(bool on);
  /// Shows what has changed; also twice a second.
  void tick();
  /// All that is said of the source that is open.
  monitor::CameraConfig config() const;
  /// Writes config() into the file of the source, and copies the command that takes it.
  void copyCommandLine();

 signals:
  /// `times`: how those of an archive are read; nullopt: its pictures count as taken when they are read.
  void opened(const QString& source, const std::optional<mpm::vision::TimeOptions>& times);
  void closed();
  /// This source, which gave a frame, is what is gone on with after a power cut; `variant`: of the model that runs.
  void watched(const QString& asked, const std::optional<mpm::Reduction>& variant);
  /// Each frame of the source, also behind a stored picture. It is on show by then, unless a stored one is.
  void frameTaken(const mpm::gui::LiveFramePtr& frame);
  void statusChanged(const mpm::monitor::SessionStatus& status);
  void said(const QString& text, mpm::gui::Badge badge);
  void logged(const QString& text);

 private:
  void begin(const QString& asked, bool again);
  void endPause(bool open) const;
  ShownSource describe(const QString& opened) const;
  void takeRegions();
  void takeConfig(const QString& of);
  void takeFrame(const LiveFramePtr& frame);
  void takeState(const monitor::CaptureStatus& status);
  void takeEvent(const monitor::Event& event);
  void remember();
  void keepByConfig();
  monitor::Session& session() const { return live_->session(); }

  const WindowOptions options_;
  LiveMonitor* const live_;
  OnShow* const on_show_;
  CameraConfigs* const configs_;
  NetControl* const net_;
  const ActionRegistry* const actions_;
};

}  // namespace mpm::gui
