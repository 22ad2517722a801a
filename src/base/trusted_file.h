// SPDX-License-Identifier: BSD-3-Clause
// Files that are opened by a path: who else could have put them there, or could change them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "src/base/unique.h"

namespace railshmem {

/// A file, or why it is not used: "belongs to another user (uid 1001)".
struct TrustedFile {
  UniqueFd fd;
  std::string path;     ///< without links
  std::string refusal;  ///< empty where there is an fd
  int error = 0;        ///< errno where the file could not be opened; 0 where it was opened and refused
};

/// Who can change a file that this process runs already, beside root: distrusting them gains nothing.
struct Keepers {
  uid_t owner = 0;
  std::vector<gid_t> groups = {};  ///< those that may write to the file, or exchange it
};

/// The keepers of `file`, of which the folder counts too. Nobody where the file cannot be looked at.
Keepers keepers_of(const std::string& file);

/// Opens a file whose content decides what this process does: code, a secret, a cache. The file, its folder and the
/// folder above must belong to root, to this process's user, to the owner of "/" (root, as a user namespace shows it)
/// or to the owner in `also`, and no other user may write to them. A folder with the sticky bit, such as /tmp, may be
/// shared: nobody can exchange another user's file there. Groups: only root's, the user's private one (its number is
/// that of the user), those in `also`, or any that root has given a folder to. Folders further up are not looked at:
/// who can rename these can exchange the program too.
TrustedFile open_trusted(const std::string& path, int flags, const Keepers& also = {});

/// Opens a file to be written, and makes it where it does not exist. A file of another user is refused, and so is a
/// link that another user has put there. `flags` may hold O_TRUNC, which waits for this look.
TrustedFile open_own_output(const std::string& path, int flags, mode_t mode);

}  // namespace railshmem
