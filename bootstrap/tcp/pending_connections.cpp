// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/pending_connections.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/common/deadline.h"
#include "bootstrap/tcp/address.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/socket.h"
#include "src/base/log.h"

namespace railshmem::tcp {
namespace {

constexpr uint64_t kLargestGreeting = 4096;  // ours have some 300 bytes

/// Enough for the PEs that come in one moment, and a part of the descriptors that this process may have.
size_t capacity_here() noexcept {
  constexpr size_t kMost = 256, kLeast = 8;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMost;
  return std::clamp<size_t>(limit.rlim_cur / 4, kLeast, kMost);
}

uint64_t ns(double seconds) noexcept {
  return static_cast<uint64_t>(seconds * 1e9);
}

}  // namespace

PendingConnections::PendingConnections(std::vector<UniqueFd> listeners, uint32_t kind, const Secret& secret)
    : listeners_(std::move(listeners)), kind_(kind), secret_(secret), capacity_(capacity_here()) {}

PendingConnections::~PendingConnections() {
  if (unsaid_ > 0) log_warn("%zu more connections were dropped while the job formed", unsaid_);
}

void PendingConnections::watch(std::vector<pollfd>& wait) const {
  if (has_room())
    for (const UniqueFd& listener : listeners_) wait.push_back({listener.get(), POLLIN, 0});
  for (const Stranger& stranger : strangers_) wait.push_back({stranger.stream.fd(), POLLIN, 0});
}

std::vector<Arrival> PendingConnections::look() {
  accept_all();
  std::vector<Arrival> arrivals;
  std::erase_if(strangers_, [&](Stranger& stranger) {
    Verdict verdict = Verdict::gone;
    try {
      verdict = receive(stranger);
    } catch (const Error& e) {
      turned_away(stranger.from, e.what());
    }
    if (verdict == Verdict::waits) return false;
    if (verdict == Verdict::gone) return true;
    Bytes proof;
    if (!secret_.empty()) proof = Packer().add(secret_.proof(End::listener, stranger.encounter)).take();
    arrivals.push_back(
        {std::move(stranger.stream), std::move(stranger.encounter.claim), std::move(proof), std::move(stranger.from)});
    return true;
  });
  return arrivals;
}

void PendingConnections::admit(UniqueFd fd) {
  if (strangers_.size() >= capacity_) make_room();
  const Address here = local_address(fd.get());
  std::string from = peer_name(fd.get());
  Stream stream(std::move(fd));
  stream.distrust(kLargestGreeting);
  strangers_.push_back({std::move(stream), std::move(from), now_ns()});
  strangers_.back().encounter.port = static_cast<uint16_t>(here.port());
}

PendingConnections::Verdict PendingConnections::receive(Stranger& stranger) {
  stranger.stream.pump();
  if (const auto frame = stranger.stream.pop()) return answer(stranger, *frame);
  if (stranger.stream.state() == Stream::State::garbled) {
    turned_away(stranger.from, "it does not speak the protocol of this job");
    return Verdict::gone;
  }
  if (!stranger.stream.open() && stranger.step == Step::challenged)
    throw Error("it left when it was asked to prove that it knows the secret of this job");
  if (!stranger.stream.open()) {  // a probe of the port, or a PE whose patience was over
    log_debug("%s connected and left without a word", stranger.from.c_str());
    return Verdict::gone;
  }
  if (now_ns() - stranger.since_ns < ns(kPatienceSeconds)) return Verdict::waits;
  turned_away(stranger.from, text("it did not say who it is within %g s", kPatienceSeconds));
  return Verdict::gone;
}

PendingConnections::Verdict PendingConnections::answer(Stranger& stranger, const Frame& frame) {
  Encounter& encounter = stranger.encounter;
  if (stranger.step == Step::silent) {
    if (frame.kind != kind_) throw Error("it does not begin with a greeting");
    Unpacker fields(frame.payload);
    encounter.kind = frame.kind;
    encounter.caller = fields.get<Nonce>();
    const Want want = fields.get<Want>();
    encounter.claim.assign(fields.rest().begin(), fields.rest().end());
    if (secret_.empty() && want == Want::nothing) return Verdict::arrived;
    if (secret_.empty()) {
      stranger.stream.push(noticed);  // without a proof, which says it
      stranger.stream.pump_output();
      throw Error(
          "it asks for a secret, and this PE has none; if it is a PE of this job, set SHMEM_TCP_SECRET or "
          "SHMEM_TCP_SECRET_FILE to one value on all PEs");
    }
    encounter.listener = random_bytes<Nonce>();
    stranger.stream.push(challenge, Packer().add(encounter.listener).take());
    stranger.stream.pump_output();
    stranger.step = Step::challenged;
    return Verdict::waits;
  }
  if (frame.kind == proof && frame.payload.size() == sizeof(Digest) &&
      secret_.proven(Unpacker(frame.payload).get<Digest>(), End::caller, encounter))
    return Verdict::arrived;
  stranger.stream.push(denied);
  stranger.stream.pump_output();
  throw Error(
      "it does not know the secret of this job (SHMEM_TCP_SECRET, SHMEM_TCP_SECRET_FILE); if it is a PE, give it the "
      "secret of PE 0");
}

void PendingConnections::accept_all() {
  size_t accepted = 0;
  for (const UniqueFd& listener : listeners_) {
    // Not more in one look than fit, so that nobody is dropped unheard.
    for (; accepted < capacity_ && has_room(); ++accepted) {
      UniqueFd fd = accept_from(listener.get());
      if (fd) {
        admit(std::move(fd));
        continue;
      }
      const bool exhausted = errno == EMFILE || errno == ENFILE;
      if (!exhausted) break;
      if (strangers_.empty())
        throw Error(
            "no descriptor is left for the connection of another PE: raise the limit of open files (ulimit -n) "
            "above the number of PEs");
      turned_away(strangers_.front().from, "this process has no descriptor left");
      strangers_.erase(strangers_.begin());
    }
  }
}

bool PendingConnections::has_room() const noexcept {
  return strangers_.size() < capacity_ || whom_to_drop() < strangers_.size();
}

/// The place of a stranger, or their number. A PE greets at once, so the silent go first; one that was challenged needs
/// a moment for its proof.
size_t PendingConnections::whom_to_drop() const noexcept {
  constexpr double kMoment = 1;
  const auto silent =
      std::find_if(strangers_.begin(), strangers_.end(), [](const Stranger& s) { return s.step == Step::silent; });
  if (silent != strangers_.end()) return static_cast<size_t>(silent - strangers_.begin());
  return now_ns() - strangers_.front().since_ns > ns(kMoment) ? 0 : strangers_.size();
}

void PendingConnections::make_room() {
  const size_t out = whom_to_drop();
  if (out == strangers_.size()) return;
  turned_away(strangers_[out].from, text("%zu connections wait already, and it has not said who it is", capacity_));
  strangers_.erase(strangers_.begin() + static_cast<ptrdiff_t>(out));
}

void PendingConnections::turned_away(const std::string& from, const std::string& why) {
  constexpr double kPauseSeconds = 10;
  const uint64_t now = now_ns();
  if (said_ns_ != 0 && now - said_ns_ < ns(kPauseSeconds)) {
    ++unsaid_;
    log_debug("a connection from %s was dropped: %s", from.c_str(), why.c_str());
    return;
  }
  const std::string more = unsaid_ > 0 ? text(" (and %zu more before)", unsaid_) : "";
  log_warn("a connection from %s was dropped while the job forms: %s%s", from.c_str(), why.c_str(), more.c_str());
  said_ns_ = now;
  unsaid_ = 0;
}

}  // namespace railshmem::tcp
