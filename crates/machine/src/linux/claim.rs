//! Which host measures on a CPU, told among the hosts of a machine.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// A name that nobody else has as long as this lives. It is not a file: nothing is left of it,
/// whoever is killed, and no folder has to be writable.
#[derive(Debug)]
pub(crate) struct Claim {
    _socket: UnixDatagram,
}

/// See [`crate::cpus::Claim`]. Hosts in other network namespaces do not see it.
pub(crate) fn claim(cpu: u32) -> Result<Option<Claim>, ()> {
    let name = SocketAddr::from_abstract_name(format!("switchcost measures on CPU {cpu}"));
    match name.and_then(|name| UnixDatagram::bind_addr(&name)) {
        Ok(socket) => Ok(Some(Claim { _socket: socket })),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(()),
        // No such sockets here (a sandbox): then nobody is told.
        Err(_) => Ok(None),
    }
}
