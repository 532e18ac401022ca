// Folders of probes, alive and dead, in a place where others may also make folders. Everything goes by descriptors: no
// link is followed, no mount point crossed, no fifo waited for.
#pragma once

#include <string>
#include <vector>

#include "kit/os/descriptor.h"

namespace probe {

inline const std::string folder_prefix = "switchcost-oci-";  // and six letters of mkdtemp
inline constexpr const char* lock_name = "lock";

// A directory by its name in another, or this very one ("."); closed: errno says why.
Descriptor open_directory(int above, const char* name);

// The file `lock` in the folder of a probe of this user, locked (`how` as in flock, never waiting). Closed: errno says
// why, EPERM where folder or file are not as a probe makes them.
Descriptor lock_folder(int directory, int how);

// Opens the fifos below for reading and closes them again. A runtime that was killed between making a container and
// starting it leaves its init waiting for that, for ever; then the init goes on, finds nobody and ends.
void release_fifos(int directory);

// Removes what is in the folder, then its lock, then the folder itself, which is called `path` as long as nobody has
// renamed it; true: it is gone. What cannot be removed stays, with the lock for the next sweep.
bool remove_folder(int directory, const std::string& path);

// Removes the folders in `parent` whose lock nobody holds, and before it the control groups in `group_places` that are
// called after them.
void sweep_dead_folders(const std::string& parent, const std::vector<std::string>& group_places);

}  // namespace probe
