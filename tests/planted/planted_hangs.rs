// SPDX-License-Identifier: BSD-3-Clause
// Bugs that programs have, in Rust with the crate mpi (rsmpi); see planted_hangs.c.
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut halo = [0.0f64; 8];

    // Each receives of the rank on its left, and sends to that one, too.
    let left = world.process_at_rank((rank + size - 1) % size);
    if std::env::args().nth(1).as_deref() == Some("wrong_neighbour") {
        left.receive_into_with_tag(&mut halo[..], 5); // HANG wrong_neighbour 0-3
        left.send_with_tag(&halo[..], 5);
    }
}
