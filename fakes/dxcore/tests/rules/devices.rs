//! Devices and paging queues: rules 38 to 42 and 47 to 49.

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;

#[test]
fn a_device_and_its_paging_queue_come_and_go() {
    let _bench = machine("gfx1100");
    let adapter = adapter();
    let device = device(adapter);
    let queue = queue(device);
    assert_eq!(control::ledger(), control::Ledger { adapter_opens: 1, devices: 1, paging_queues: 1, lost_opens: 0 });
    assert_eq!(destroy_queue(queue.hPagingQueue), OK);
    assert_eq!(destroy_device(device), OK);
    assert_eq!(close(adapter), OK);
    assert_eq!(control::ledger().total(), 0);
    violations_are(&[]);
}
