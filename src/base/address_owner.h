// SPDX-License-Identifier: BSD-3-Clause
// What an address of this process belongs to: for messages about addresses that a call cannot use.
#pragma once

#include <string>

namespace railshmem {

enum class Owner {
  global,         ///< a writable object of the executable
  constant,       ///< read-only data of the executable
  library,        ///< an object of a shared library
  thread_local_,  ///< a thread-local object of the calling thread
  stack,          ///< the calling thread's stack
  other,          ///< malloc's memory, another thread's, mapped files, or nothing
};

struct AddressOwner {
  Owner kind = Owner::other;
  std::string library = {};  ///< the file name of a shared library, without its folder
};

AddressOwner find_owner(const void* address);

}  // namespace railshmem
