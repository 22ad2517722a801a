// SPDX-License-Identifier: BSD-3-Clause
// Which names and addresses mean the host that oshrun runs on.
#pragma once

#include <string>
#include <string_view>

namespace railshmem::oshrun {

/// A host's name as it is compared: lower case, without the dot that ends a complete name. A user before '@' is kept.
std::string comparable_name(std::string_view name);

/// Whether `name` is this host, for which no ssh is needed: localhost, this host's name with or without its domain, or
/// an address of its interfaces. Only a longer form of this host's own name is looked up in the name service.
bool is_this_host(const std::string& name);

}  // namespace railshmem::oshrun
