// SPDX-License-Identifier: BSD-3-Clause
// Grammars of environment values: each turns text into a value or throws Error saying which form is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log.h"

namespace railshmem {

enum class BootstrapKind : uint8_t { automatic, local, tcp, pmi, pmix, mpi };
enum class TransportKind : uint8_t { p2p, ofi, loopback };
enum class HeapKind : uint8_t { automatic, host, device };
enum class HugePagesMode : uint8_t { automatic, on, off };
enum class DataSegmentMode : uint8_t { automatic, shared, network, off };
enum class FlushMode : uint8_t { automatic, none, cuda, read, write_read };
enum class OfiHmemMode : uint8_t { automatic, hmem, dmabuf, staging };
/// How overlapped products gather their operand inside a node.
enum class GatherProtocol : uint8_t { automatic, get, put };
enum class GpuContextMode : uint8_t { program, own };
enum class OfiProgressMode : uint8_t { automatic, manual, thread };

/// On which CPUs a thread is to run. Of several lists the PEs of a host take one each, in turn.
struct CpuWish {
  enum class Kind : uint8_t { automatic, none, lists };
  Kind kind = Kind::automatic;
  std::vector<std::vector<int>> lists = {};
};

/// The library chooses the size; parse_size() returns less than 2^63.
inline constexpr uint64_t kAutomaticSize = UINT64_MAX;

/// Parses a size of the standard's grammar (section 8): ceil(number x suffix); text after the suffix is ignored.
uint64_t parse_size(std::string_view value);

/// Characters that a secret needs at least, so that nobody finds it by trying: 128 bits where they are random bytes.
inline constexpr size_t kShortestSecret = 16;

namespace env_types {
struct Flag {
  using Value = bool;
  static Value parse(std::string_view);
};
struct Switch {
  using Value = bool;
  static Value parse(std::string_view);
};
struct Text {
  using Value = std::string;
  static Value parse(std::string_view);
};
/// What nobody but the job may know: no message holds it.
struct Secret {
  using Value = std::string;
  static Value parse(std::string_view);
};
struct Size {
  using Value = uint64_t;
  static Value parse(std::string_view);
};
/// kAutomaticSize for auto.
struct HeapSize {
  using Value = uint64_t;
  static Value parse(std::string_view);
};
struct Count {
  using Value = uint64_t;
  static Value parse(std::string_view);
};
struct Seconds {
  using Value = double;
  static Value parse(std::string_view);
};
struct LogLevelText {
  using Value = LogLevel;
  static Value parse(std::string_view);
};
struct BootstrapName {
  using Value = BootstrapKind;
  static Value parse(std::string_view);
};
/// Empty = auto.
struct TransportList {
  using Value = std::vector<TransportKind>;
  static Value parse(std::string_view);
};
struct HeapKindName {
  using Value = HeapKind;
  static Value parse(std::string_view);
};
struct HugePages {
  using Value = HugePagesMode;
  static Value parse(std::string_view);
};
struct DataSegment {
  using Value = DataSegmentMode;
  static Value parse(std::string_view);
};
struct OfiProgress {
  using Value = OfiProgressMode;
  static Value parse(std::string_view);
};
struct GpuContext {
  using Value = GpuContextMode;
  static Value parse(std::string_view value);
};
struct GatherProtocolName {
  using Value = GatherProtocol;
  static Value parse(std::string_view);
};
struct OfiHmem {
  using Value = OfiHmemMode;
  static Value parse(std::string_view);
};
struct FlushName {
  using Value = FlushMode;
  static Value parse(std::string_view);
};
struct CpuLists {
  using Value = CpuWish;
  static Value parse(std::string_view);
};
}  // namespace env_types

}  // namespace railshmem
