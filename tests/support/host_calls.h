// SPDX-License-Identifier: BSD-3-Clause
// What the API asks of a host endpoint, as one call each.
#pragma once

#include "src/plugin/op.h"

namespace railshmem::test {

template <class Host>
void host_issue(Host& host, Op op) {
  host.issue(op);
}

template <class Host>
void host_put(Host& host, NetContext& context, Remote to, const void* source, size_t nbytes) {
  host_issue(host, put_op(context, to, source, nbytes, Local::awaited));
}
template <class Host>
void host_put_nbi(Host& host, NetContext& context, Remote to, const void* source, size_t nbytes) {
  host_issue(host, put_op(context, to, source, nbytes, Local::lent));
}
template <class Host>
void host_get(Host& host, NetContext& context, Remote from, void* dest, size_t nbytes) {
  host_issue(host, get_op(context, from, dest, nbytes, Local::awaited));
}
template <class Host>
void host_get_nbi(Host& host, NetContext& context, Remote from, void* dest, size_t nbytes) {
  host_issue(host, get_op(context, from, dest, nbytes, Local::lent));
}
template <class Host>
void host_put_signal(Host& host, NetContext& context, Remote to, const void* source, size_t nbytes,
                     const NetSignal& signal) {
  host_issue(host, put_signal_op(context, to, source, nbytes, signal, Local::awaited));
}
template <class Host>
void host_put_signal_nbi(Host& host, NetContext& context, Remote to, const void* source, size_t nbytes,
                         const NetSignal& signal) {
  host_issue(host, put_signal_op(context, to, source, nbytes, signal, Local::lent));
}
/// Returns the old value, for fetching operations.
template <class Host>
uint64_t host_amo(Host& host, NetContext& context, Remote to, const NetAmo& amo) {
  uint64_t old = 0;
  host_issue(host, amo_op(context, to, amo, &old, Local::awaited));
  return old;
}
template <class Host>
void host_amo_nbi(Host& host, NetContext& context, Remote to, const NetAmo& amo, void* fetch) {
  host_issue(host, amo_op(context, to, amo, fetch, Local::lent));
}

}  // namespace railshmem::test
