// SPDX-License-Identifier: BSD-3-Clause
// What oshrun and its PEs say to each other over the socket that each PE inherits.
#pragma once

#include <cstdint>

namespace railshmem::local {

inline constexpr const char* kFdVariable = "RAILSHMEM_LAUNCHER_FD";
inline constexpr const char* kPeVariable = "RAILSHMEM_LAUNCHER_PE";
inline constexpr const char* kNpesVariable = "RAILSHMEM_LAUNCHER_NPES";

enum Kind : uint32_t {
  // PE to oshrun
  hello = 1,   ///< i32 pe, i32 npes, i32 process; answered by welcome, so that a stale descriptor is noticed
  contribute,  ///< this PE's bytes of an exchange
  who,         ///< which PEs does the running exchange wait for? answered by missing
  abort,       ///< i32 status, text why: end the job with this status; answered by end. No text: the program wants it
  goodbye,     ///< this PE will not take part in further exchanges
  // oshrun to PE
  welcome = 100,
  gathered,  ///< everyone's bytes in PE order
  missing,   ///< text: the PEs waited for
  ending,    ///< a signal that ends this PE follows
  notice,    ///< text: a PE died; or the exchange can never complete
  lost,      ///< i32 pe: it died, and the others go on
  end,       ///< i32 status, u8 wanted: a PE has ended the job; this PE ends itself
};

}  // namespace railshmem::local
