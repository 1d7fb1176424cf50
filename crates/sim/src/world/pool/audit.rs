//! The laws that connections must keep.

use super::Pools;

impl Pools {
    /// The laws that are broken.
    pub(in crate::world) fn broken_laws(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (index, shared) in (0u32..).zip(&self.shared) {
            let count = &shared.count;
            let own = || (self.conns.iter()).filter(|(_, c)| self.of[c.pool as usize] == index);
            let open = own().filter(|(_, c)| c.born.is_some()).count() as u64;
            let opening = own().count() as u64 - open;
            let pools = &self.pools[shared.first as usize..][..shared.processes as usize];
            let kept: u32 = pools.iter().map(|pool| pool.open).sum();
            let whose = || {
                format!(
                    "{:?} -> service {}",
                    shared.place.caller, shared.place.service
                )
            };
            if count.opened != count.closed() + open || u64::from(kept) != open + opening {
                broken.push(format!(
                    "each connection is closed once: {} opened {}, closed {}, has {open} and {opening} half open, \
                     and thinks it has {kept}",
                    whose(),
                    count.opened,
                    count.closed()
                ));
            }
            if count.begun + count.warm != count.opened + count.failed + opening {
                broken.push(format!(
                    "each handshake ends once: {} began {} beside {} warm, {} opened, {} failed, {opening} go on",
                    whose(),
                    count.begun,
                    count.warm,
                    count.opened,
                    count.failed
                ));
            }
            let used = own().filter(|(_, c)| c.streams > 0).count() as u64;
            if shared.in_use.count() != used || shared.open.count() != open {
                broken.push(format!(
                    "connections in use: {} counts {} of {}, {used} of {open} are",
                    whose(),
                    shared.in_use.count(),
                    shared.open.count()
                ));
            }
        }
        broken
    }
}
