// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/shared_models.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace mpm::monitor {
namespace {

// Whether the same net serves both. The monitor sets no other options.
bool sameNet(const EstimatorOptions& a, const EstimatorOptions& b) {
  const auto facts = [](const EstimatorOptions& one) {
    const ConvertOptions& convert = one.read.convert;
    return std::tie(convert.reduce, convert.input_size, convert.mean, convert.deviation, convert.precision,
                    one.read.device, one.threads, one.min_score, one.min_overlap, one.refine, one.labels, one.features,
                    one.reuse);
  };
  return facts(a) == facts(b);
}

struct Work {
  const std::function<void()>& work;
  bool done = false;
  std::exception_ptr failure{};
};

struct Net {
  std::string path, digest;
  EstimatorOptions options;
  std::weak_ptr<const Estimator> first;  // lives while a camera has one of another()
};

}  // namespace

struct SharedModels::Impl {
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Work*> queue;

  std::mutex opening;  // held while a model is read: of cameras that start together, one reads it
  std::vector<Net> nets;

  std::jthread thread{[this](const std::stop_token& stop) { runAll(stop); }};

  void runAll(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, stop, [&] { return !queue.empty(); })) {
      Work& next = *queue.front();
      queue.pop_front();
      lock.unlock();
      try {
        next.work();
      } catch (...) {
        next.failure = std::current_exception();
      }
      lock.lock();
      next.done = true;
      changed.notify_all();
    }
  }
};

SharedModels::SharedModels() : impl_(std::make_unique<Impl>()) {}
SharedModels::~SharedModels() = default;

bool SharedModels::run(const std::stop_token& stop, const std::function<void()>& work) {
  Work own{work};
  std::unique_lock lock(impl_->mutex);
  impl_->queue.push_back(&own);
  impl_->changed.notify_all();
  if (!impl_->changed.wait(lock, stop, [&] { return own.done; }) && std::erase(impl_->queue, &own) > 0) return false;
  impl_->changed.wait(lock, [&] { return own.done; });
  if (own.failure) std::rethrow_exception(own.failure);
  return true;
}

std::size_t SharedModels::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->queue.size();
}

std::shared_ptr<Estimator> SharedModels::open(const std::string& path, const std::string& digest,
                                              const EstimatorOptions& options) {
  struct Camera {
    std::shared_ptr<const Estimator> first;
    Estimator own = first->another();
  };
  const std::lock_guard lock(impl_->opening);
  std::erase_if(impl_->nets, [](const Net& net) { return net.first.expired(); });
  std::shared_ptr<const Estimator> first;
  for (const Net& net : impl_->nets)
    if (net.path == path && net.digest == digest && sameNet(net.options, options)) first = net.first.lock();
  if (!first) {
    first = std::make_shared<const Estimator>(path, options);
    impl_->nets.push_back({path, digest, options, first});
  }
  const auto camera = std::make_shared<Camera>(Camera{std::move(first)});
  return {camera, &camera->own};
}

}  // namespace mpm::monitor
