//! Destroying memory: rules 40, 64 to 68, 70 and 71.

use dxcore::control;
use dxcore::d3dkmt::*;

use crate::kit::*;
use crate::rig::*;

#[test]
fn rule_64_list_and_resource_exclude_each_other() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    assert_eq!(destroy(rig.device, &[]), IP);
    let mut both = D3DKMT_DESTROYALLOCATION2 {
        hDevice: rig.device,
        hResource: 1,
        phAllocationList: &raw const allocation,
        AllocationCount: 1,
        ..zero()
    };
    assert_eq!(destroy_args(&mut both), IP);
    (both.hResource, both.AllocationCount) = (0, 1025);
    assert_eq!(destroy_args(&mut both), IP);
    violations_are(&["0 allocations", "1 allocations", "1025 allocations"]);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    rig.done();
}

#[test]
fn rule_65_one_bad_handle_keeps_the_whole_list_alive() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let (one, two) = (vram(rig.device, PAGE), vram(rig.device, PAGE));
    for bad in [0, rig.device, rig.queue.hSyncObject, 0xdead_0000] {
        assert_eq!(destroy(rig.device, &[one, bad, two]), IP);
        assert_eq!(control::ledger().allocations, 2);
    }
    violations_are(&["is zero", "is a device", "is a paging fence", "never issued"]);
    assert_eq!(destroy(rig.device, &[one, two]), OK);
    rig.done();
}

#[test]
fn rule_66_and_67_owners_decide_what_a_list_may_hold() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let alone = vram(rig.device, PAGE);
    let mut shared = Creation::shared(rig.device, &[PAGE, PAGE]);
    assert_eq!(shared.send(), OK);
    let mut plain = Creation::local(rig.device, &[PAGE, PAGE]);
    plain.args.Flags = create_allocation_flags::CREATE_RESOURCE;
    assert_eq!(plain.send(), OK);
    assert_eq!(destroy(rig.device, &shared.handles()), IP);
    assert_eq!(destroy(rig.device, &[alone, plain.entries[0].hAllocation]), IP);
    violations_are(&["of a shared resource", "another owner"]);
    assert_eq!(destroy(rig.device, &[plain.entries[0].hAllocation]), OK);
    assert_eq!(control::ledger().allocations, 4);
    assert_eq!(destroy_resource(rig.device, plain.args.hResource), OK, "what is left of it");
    assert_eq!(destroy_resource(rig.device, shared.args.hResource), OK);
    assert_eq!(destroy(rig.device, &[alone]), OK);
    rig.done();
}

#[test]
fn rule_68_a_duplicate_is_a_fault() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    assert_eq!(destroy(rig.device, &[allocation, allocation]), OK);
    violations_are(&["twice"]);
    rig.done();
}

#[test]
fn rule_70_destroying_releases_all_that_hangs_on_the_memory() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = visible(rig.device, 64 << 10);
    let (status, reserved) = reserve(rig.adapter, 0, 64 << 10);
    assert_eq!(status, OK);
    assert_eq!(map(mapping(rig.queue.hPagingQueue, reserved, allocation, 64 << 10)).0, PENDING);
    let own = settle(&rig, allocation, 64 << 10);
    assert_eq!(lock(rig.device, allocation).0, OK);
    let ledger = control::ledger();
    assert_eq!((ledger.mappings, ledger.ranges, ledger.residents, ledger.locks), (2, 2, 1, 1));
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    let ledger = control::ledger();
    assert_eq!((ledger.mappings, ledger.ranges, ledger.residents, ledger.locks), (0, 1, 0, 0));
    assert_eq!(gpu_read(own, 1), Err(control::memory::Fault::Unmapped));
    assert_eq!(destroy(rig.device, &[allocation]), IP);
    assert_eq!(free(rig.adapter, own, 64 << 10), IP, "what a mapping took went with it");
    violations_are(&["is gone", "not owned"]);
    assert_eq!(free(rig.adapter, reserved, 64 << 10), OK, "what was reserved stays reserved");
    rig.done();
}

#[test]
fn rule_70_a_failing_destruction_destroys() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    assert!(control::fail("DestroyAllocation2", 1, None));
    assert_eq!(destroy(rig.device, &[allocation]), IP);
    assert_eq!(control::ledger().allocations, 0);
    rig.done();
    violations_are(&[]);
}

#[test]
fn rule_71_only_the_owning_device_destroys() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let other = device(rig.adapter);
    let allocation = vram(rig.device, PAGE);
    let mut resource = Creation::shared(rig.device, &[PAGE]);
    assert_eq!(resource.send(), OK);
    assert_eq!(destroy(other, &[allocation]), IP);
    assert_eq!(destroy_resource(other, resource.args.hResource), IP);
    violations_are(&["another owner", "another device"]);
    assert_eq!(destroy(rig.device, &[allocation]), OK);
    assert_eq!(destroy_resource(rig.device, resource.args.hResource), OK);
    assert_eq!(destroy_device(other), OK);
    rig.done();
}

#[test]
fn rule_40_a_device_takes_its_memory_along() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    let allocation = vram(rig.device, PAGE);
    let va = settle(&rig, allocation, PAGE);
    let mut resource = Creation::shared(rig.device, &[PAGE, PAGE]);
    assert_eq!(resource.send(), OK);
    assert_eq!(destroy_device(rig.device), OK);
    assert_eq!(destroy(rig.device, &[allocation]), IP);
    assert_eq!(gpu_read(va, 1), Err(control::memory::Fault::Unmapped));
    assert_eq!(close(rig.adapter), OK);
    assert_eq!(control::ledger(), control::Ledger::default());
    violations_are(&["1 allocations, 1 resources, 1 paging queues were alive", "is gone"]);
}

#[test]
fn rule_7_what_is_left_is_told_by_kind() {
    let _bench = machine("gfx1100");
    let rig = Rig::new();
    assert_eq!(control::ledger().to_string(), "1 adapter opens, 1 devices, 1 paging queues");
    let allocation = vram(rig.device, PAGE);
    settle(&rig, allocation, PAGE);
    let left =
        "1 adapter opens, 1 devices, 1 paging queues, 1 allocations, 1 residencies, 1 GPU ranges, 1 GPU mappings";
    assert_eq!(control::ledger().to_string(), left);
    assert_eq!(control::ledger().of("lost_opens"), Some(0));
    assert_eq!(control::ledger().of("opens"), None);
    assert!(control::reset().is_err(), "something is alive");
    control::unload();
    assert_eq!(control::ledger(), control::Ledger::default());
}
