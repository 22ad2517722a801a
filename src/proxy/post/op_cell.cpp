// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/op_cell.h"

namespace railshmem {

const char* name_of(Flight flight) noexcept {
  switch (flight) {
    case Flight::none:
      return "nothing under way";
    case Flight::under_way:
      return "under way";
    case Flight::only_one:
      return "under way as a whole";
    case Flight::lost:
      return "data lost";
  }
  return "?";
}

const char* name_of(RequestStage stage) noexcept {
  switch (stage) {
    case RequestStage::none:
      return "none";
    case RequestStage::owed:
      return "owed";
    case RequestStage::sent:
      return "unanswered";
    case RequestStage::lost:
      return "lost";
    case RequestStage::behind_data:
      return "behind its data";
  }
  return "?";
}

}  // namespace railshmem
