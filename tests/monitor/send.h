// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/tell/teller.h"
#include "mpm/error.hpp"

namespace mpm::monitor::test {

/// Lets the teller send there. Why this build cannot, or an empty text: libmosquitto and libcurl are optional.
inline std::string whyNotSent(Teller& teller, const FileTables& receivers) {
  try {
    teller.set(receivers);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace mpm::monitor::test
