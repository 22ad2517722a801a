// SPDX-License-Identifier: BSD-3-Clause
// Posts again what lost rails left unfinished, by the target's account of what it has executed.
#pragma once

#include <algorithm>
#include <vector>

#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

/// Works in steps: every call posts as much as the rails have room for.
template <Rail R>
class Replay {
 public:
  Replay(OperationTable<R>& table, Requests<R>& requests) : table_(table), requests_(requests) {}

  /// Posts lost data of puts and gets to `pe` again, in the order of issue. True when no data is missing any more.
  template <class FinishPart>
  bool data(int pe, const AccountMessage& account, FinishPart&& finish_part) noexcept {
    bool complete = true;
    std::vector<OpCell*> lost;
    for (uint32_t i = 0; i < table_.cells().size(); ++i) {
      OpCell& cell = table_.cells()[i];
      if (cell.what.kind == OpKind::none || cell.what.pe != pe) continue;
      if (cell.state.data_is_lost()) lost.push_back(&cell);
    }
    std::sort(lost.begin(), lost.end(),
              [](const OpCell* a, const OpCell* b) { return static_cast<int32_t>(a->issue - b->issue) < 0; });
    bool words_go = true;  // a word that finds no room holds back the words behind it
    for (OpCell* cell : lost) {
      const bool word = cell->is_word;
      const bool gone = (words_go || !word) && data(account, *cell, finish_part);
      words_go &= gone || !word;
      complete &= gone;
    }
    return complete;
  }

  /// Sends lost requests to `pe` again, in the order of their numbers. True when none is left.
  template <class Answered>
  bool requests(int pe, const AccountMessage& account, Answered&& answered) noexcept {
    bool complete = true;
    requests_.outbox().for_each(table_.cells(), pe, [&](OpCell& cell) {
      if (cell.state.is_sent()) return settle(account, cell, answered);
      if (!complete) return;
      switch (cell.state.step_of_request(cell.fetch == nullptr && executed(account, cell))) {
        case OperationState::RequestStep::settle:
          return requests_.settle(cell, answered);
        case OperationState::RequestStep::resend:
          if (requests_.repeat(cell) == Post::ok) return cell.state.on<Event::resend>();
          [[fallthrough]];
        case OperationState::RequestStep::wait:
          complete = false;
      }
    });
    return complete;
  }

 private:
  bool executed(const AccountMessage& account, const OpCell& cell) const noexcept {
    const uint32_t ahead = cell.sequence - account.header.sequence;
    if (ahead > ~uint32_t{0} / 2) return true;  // before the first one missing
    if (ahead >= kWindow) return false;
    return (account.executed[ahead / 64] >> (ahead % 64)) & 1;
  }

  template <class FinishPart>
  bool data(const AccountMessage& account, OpCell& cell, FinishPart&& finish_part) noexcept {
    const int pe = cell.what.pe;
    const bool signals = cell.parent == kNoCell && cell.what.kind == OpKind::put_signal;
    if (signals && cell.state.data_was_used(executed(account, cell))) {
      cell.state.on<Event::drop_data>();
      finish_part(cell);
      return true;
    }
    const RailMask usable = table_.rails().usable(pe);
    if (usable == 0) return false;
    const size_t first = cell.is_word ? table_.rails().after(0, usable) : table_.rails().pick(pe);
    const Post posted = cell.is_word ? table_.post(cell, first)
                                     : table_.try_rails(pe, first, [&](size_t r) { return table_.post(cell, r); });
    if (posted != Post::ok) return false;
    if (cell.is_word) table_.words().moved(pe, first);
    if (cell.parent != kNoCell) table_.rails().long_posted(cell.rail, cell.what.nbytes);
    return true;
  }

  /// Ends a request whose path lives but whose answer may have gone over a path that died: nobody sends such an answer
  /// again, unless another answer follows.
  template <class Answered>
  void settle(const AccountMessage& account, OpCell& cell, Answered&& answered) noexcept {
    if (cell.fetch == nullptr && !cell.state.data_is_lost() && executed(account, cell))
      requests_.settle(cell, answered);
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
};

}  // namespace railshmem
