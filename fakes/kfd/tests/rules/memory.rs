//! Rules 27 to 57 and 63: buffers and their mappings.

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Answer, Descriptor, FileId, Kernel, Mode, Pages};

use super::kit::*;

const ALLOC: u32 = 0xc028_4b16;
const FREE: u32 = 0x4008_4b17;
const MAP: u32 = 0xc018_4b18;
const UNMAP: u32 = 0xc018_4b19;

const VRAM: u32 = 1;
const GTT: u32 = 2;
const USERPTR: u32 = 4;
const DOORBELL: u32 = 8;
const MMIO: u32 = 0x10;
const AQL: u32 = 1 << 27;
const PUBLIC: u32 = 1 << 29;

const MIB: u64 = 1 << 20;

/// A process with all GPUs bound.
struct Bench {
    kernel: Kernel,
    client: Client,
    kfd: FileId,
    ids: Vec<u32>,
}

fn bench_of(machine: &Machine) -> Bench {
    let mut kernel = kernel_of(machine, Mode::default());
    let mut client = Client::new(100);
    let kfd = kernel.open_kfd(100).unwrap();
    let gpus: Vec<_> = kernel.config().gpus.iter().map(|g| (g.gpu_id, g.render_minor)).collect();
    for (id, minor) in &gpus {
        let render = kernel.open_render(*minor).unwrap();
        client.install(*minor as i32, render);
        assert_eq!(client.acquire_vm(&mut kernel, kfd, *minor as i32, *id), Ok(()));
    }
    Bench { kernel, client, kfd, ids: gpus.iter().map(|(id, _)| *id).collect() }
}

fn bench(name: &str) -> Bench {
    bench_of(&Machine::load(name).unwrap())
}

/// Two GPUs whose memory the CPU and each other reach.
fn large() -> Bench {
    let text = rocdxg_fake_gpu::machine::BUILT_IN.iter().find(|(n, _)| *n == "two-gfx1100").unwrap().1;
    let text = text.replace("[adapter.private]", "[adapter.kfd]\nlarge_bar = true\n[adapter.private]");
    bench_of(&Machine::parse("large", &text).unwrap())
}

impl Bench {
    /// Handle and offset.
    fn alloc_at(&mut self, gpu: usize, va: u64, size: u64, flags: u32, address: u64) -> Answer<(u64, u64)> {
        let mut words = [0_u32; 10];
        for (i, wide) in [va, size, 0, address].into_iter().enumerate() {
            words[2 * i] = wide as u32;
            words[2 * i + 1] = (wide >> 32) as u32;
        }
        words[8] = self.ids[gpu];
        words[9] = flags;
        self.client.call(&mut self.kernel, self.kfd, ALLOC, &mut words)?;
        let wide = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        Ok((wide(4), wide(6)))
    }

    fn alloc(&mut self, va: u64, size: u64, flags: u32) -> Answer<(u64, u64)> {
        self.alloc_at(0, va, size, flags, 0)
    }

    fn free(&mut self, handle: u64) -> Answer {
        self.client.call(&mut self.kernel, self.kfd, FREE, &mut [handle as u32, (handle >> 32) as u32])
    }

    /// The answer and `n_success`.
    fn list(&mut self, request: u32, handle: u64, ids: &[u32], done: u32) -> (Answer, u32) {
        let [low, high] = halves(ids.as_ptr());
        let mut words = [handle as u32, (handle >> 32) as u32, low, high, ids.len() as u32, done];
        (self.client.call(&mut self.kernel, self.kfd, request, &mut words), words[5])
    }

    fn map(&mut self, handle: u64, gpu: usize) -> Answer {
        self.list(MAP, handle, &[self.ids[gpu]], 0).0
    }

    fn unmap(&mut self, handle: u64, gpu: usize) -> Answer {
        self.list(UNMAP, handle, &[self.ids[gpu]], 0).0
    }

    fn available(&mut self) -> u64 {
        let mut words = [0, 0, self.ids[0], 0];
        assert_eq!(self.client.call(&mut self.kernel, self.kfd, AVAILABLE_MEMORY, &mut words), Ok(()));
        u64::from(words[0]) | u64::from(words[1]) << 32
    }

    fn mmap(&mut self, length: u64, offset: u64, private: bool) -> Answer<Pages> {
        let Descriptor::Device(render) = self.client.fds[&128] else { panic!() };
        self.kernel.mmap(&self.client, render, (length, offset), private)
    }
}

#[test]
fn rule_12_alloc_and_map_on_an_unbound_gpu_are_enodev() {
    let mut b = large();
    let (handle, _) = b.alloc(0x10_0000, 4096, GTT).unwrap();
    b.client.tgid = 200;
    b.kfd = b.kernel.open_kfd(200).unwrap();
    assert_eq!(b.alloc(0, 4096, GTT), Err(E::ENODEV));
    assert_eq!(b.map(handle, 0), Err(E::ENODEV), "before the handle is looked up");
    assert_eq!(b.unmap(handle, 0), Err(E::ENOMEM));
}

#[test]
fn rules_27_28_and_29_a_buffer_has_a_size_and_one_kind() {
    let mut b = bench("gfx1100");
    assert_eq!(b.alloc(0, 0, GTT), Err(E::EINVAL));
    assert_eq!(b.alloc(0, 4096, 0), Err(E::EINVAL));
    assert_eq!(b.alloc(0, 4096, 0xd000_0000), Err(E::EINVAL));
    violations_are(&b.kernel, &[]);
    assert_eq!(b.alloc(0, 4096, VRAM | GTT), Err(E::EINVAL));
    violations_are(&b.kernel, &["two kinds"]);
    b.ids[0] ^= 1;
    assert_eq!(b.alloc(0, 4096, GTT), Err(E::EINVAL));
}

#[test]
fn rule_31_public_vram_needs_a_large_bar() {
    let mut small = bench("gfx1100");
    assert_eq!(small.alloc(0, 4096, VRAM | PUBLIC), Err(E::EINVAL));
    assert!(small.alloc(0, 4096, VRAM).is_ok());
    assert!(small.alloc(0, 4096, GTT | PUBLIC).is_ok());
    assert!(large().alloc(0, 4096, VRAM | PUBLIC).is_ok());
}

#[test]
fn rules_32_33_and_39_doorbells_and_registers_have_their_sizes_and_buffers_their_offsets() {
    let mut b = large();
    assert_eq!(b.alloc(0, 4096, DOORBELL), Err(E::EINVAL));
    assert!(b.alloc(0, 8192, DOORBELL).is_ok());
    assert_eq!(b.alloc(0, 8192, MMIO), Err(E::EINVAL));
    let (_, offset) = b.alloc(0, 4096, MMIO).unwrap();
    assert_eq!(offset, u64::from(b.ids[0]) << 46);
    let offsets: Vec<u64> = (0..3).map(|_| b.alloc(0, 5000, VRAM).unwrap().1).collect();
    for pair in offsets.windows(2) {
        assert!(pair[0] >= 1 << 32 && pair[0] % 4096 == 0 && pair[1] >= pair[0] + 8192, "{offsets:x?}");
    }
}

#[test]
fn rules_34_and_35_user_memory_is_there_aligned_and_writable() {
    let mut b = bench("gfx1100");
    let map = |protection| {
        // SAFETY: fresh memory, which is never given back.
        let at = unsafe {
            libc::mmap(std::ptr::null_mut(), 8192, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(at, libc::MAP_FAILED);
        at as u64
    };
    let fine = map(libc::PROT_READ | libc::PROT_WRITE);
    assert_eq!(b.alloc_at(0, 0, 4096, USERPTR, 0), Err(E::EINVAL));
    assert_eq!(b.alloc_at(0, 0, 4096, USERPTR, fine + 64), Err(E::EINVAL));
    assert_eq!(b.alloc_at(0, 0, 8192, USERPTR, map(libc::PROT_READ)), Err(E::EPERM));
    assert_eq!(b.alloc_at(0, 0, 8192, USERPTR, map(libc::PROT_NONE)), Err(E::EFAULT));
    assert_eq!(b.alloc_at(0, 0, 8192, USERPTR, 0x1000), Err(E::EFAULT));
    assert_eq!(b.kernel.ledger().buffers, 0);
    let (_, offset) = b.alloc_at(0, 0, 8192, USERPTR, fine).unwrap();
    assert_eq!(b.mmap(4096, offset, false), Err(E::EPERM), "rule 63");
}

#[test]
fn rules_36_and_54_an_aql_buffer_is_halved_and_mapped_twice() {
    let mut b = bench("gfx1100");
    assert_eq!(b.alloc(0x10_0000, 1, GTT | AQL), Err(E::EINVAL));
    let (queue, offset) = b.alloc(0x10_0000, 0x4000, GTT | AQL).unwrap();
    assert_eq!(b.mmap(0x4000, offset, false), Err(E::EINVAL), "half of it is memory");
    assert!(b.mmap(0x2000, offset, false).is_ok());
    assert_eq!(b.map(queue, 0), Ok(()));
    let (behind, _) = b.alloc(0x10_3000, 4096, GTT).unwrap();
    assert_eq!(b.map(behind, 0), Err(E::EINVAL), "in the second half");
    let (next, _) = b.alloc(0x10_4000, 4096, GTT).unwrap();
    assert_eq!(b.map(next, 0), Ok(()));
}

#[test]
fn rules_37_and_42_what_does_not_fit_is_enomem_and_vram_counts_in_2_mib() {
    let mut b = bench("gfx1100");
    let free = b.available();
    let (small, _) = b.alloc(0, 4096, VRAM).unwrap();
    assert_eq!(b.available(), free - 2 * MIB);
    assert_eq!(
        b.alloc(0, free - 4096, VRAM).unwrap().0,
        small + 1,
        "more than is available, and still no more than there is"
    );
    assert_eq!(b.available(), 0);
    assert_eq!(b.alloc(0, 16 * MIB, VRAM), Err(E::ENOMEM));
    assert_eq!(b.free(small + 1), Ok(()));
    assert_eq!(b.available(), free - 2 * MIB);
    // Of 64 GiB half are for GTT, and 61.5 for GTT and user memory together.
    let gib = 1 << 30;
    assert_eq!(b.alloc(0, 32 * gib + 4096, GTT), Err(E::ENOMEM));
    let (most, _) = b.alloc(0, 32 * gib, GTT).unwrap();
    assert_eq!(b.alloc(0, 4096, GTT), Err(E::ENOMEM));
    assert_eq!(b.alloc(0, u64::MAX, GTT), Err(E::ENOMEM));
    assert_eq!(b.free(most), Ok(()));
    assert!(b.alloc(0, 4096, GTT).is_ok());
}

#[test]
fn rule_37_all_processes_share_the_memory() {
    let mut b = bench("gfx1100");
    let free = b.available();
    b.alloc(0, free, VRAM).unwrap();
    let mut other = Client::new(200);
    let kfd = b.kernel.open_kfd(200).unwrap();
    let render = b.kernel.open_render(128).unwrap();
    other.install(128, render);
    assert_eq!(other.acquire_vm(&mut b.kernel, kfd, 128, b.ids[0]), Ok(()));
    (b.client, b.kfd) = (other, kfd);
    assert_eq!(b.available(), 0);
    assert_eq!(b.alloc(0, 16 * MIB, VRAM), Err(E::ENOMEM));
    b.kernel.exit(100);
    assert_eq!(b.available(), free);
    assert!(b.alloc(0, 16 * MIB, VRAM).is_ok());
}

#[test]
fn rules_38_and_43_handles_are_the_lowest_free_and_a_failed_free_keeps_them() {
    let mut b = large();
    let base = u64::from(b.ids[0]) << 32;
    for i in 0..3 {
        assert_eq!(b.alloc(0x10_0000 * (i + 1), 4096, GTT).unwrap().0, base + i);
    }
    assert_eq!(b.alloc_at(1, 0, 4096, GTT, 0).unwrap().0, u64::from(b.ids[1]) << 32, "each GPU has its own");
    assert_eq!(b.free(base + 3), Err(E::EINVAL));
    assert_eq!(b.free(1), Err(E::EINVAL));
    assert_eq!(b.map(base + 1, 0), Ok(()));
    assert_eq!(b.free(base + 1), Err(E::EBUSY));
    assert_eq!(b.unmap(base + 1, 0), Ok(()));
    assert_eq!(b.free(base + 1), Ok(()));
    assert_eq!(b.free(base + 1), Err(E::EINVAL));
    assert_eq!(b.alloc(0, 4096, GTT).unwrap().0, base + 1);
    let ledger = b.kernel.ledger();
    assert_eq!((ledger.buffers, ledger.mappings), (4, 0));
}

#[test]
fn rules_45_to_48_lists_are_checked_in_order_and_partial_work_stays() {
    let mut b = large();
    let (handle, _) = b.alloc(0x10_0000, 4096, VRAM).unwrap();
    let [first, second] = [b.ids[0], b.ids[1]];
    for request in [MAP, UNMAP] {
        assert_eq!(b.list(request, handle, &[], 0), (Err(E::EINVAL), 0));
        assert_eq!(b.list(request, handle, &[first], 2), (Err(E::EINVAL), 2));
        let mut bad = [handle as u32, (handle >> 32) as u32, 8, 0, 1, 0];
        assert_eq!(b.client.call(&mut b.kernel, b.kfd, request, &mut bad), Err(E::EFAULT));
        assert_eq!(b.list(request, handle + 1, &[first], 0), (Err(E::ENOMEM), 0));
        assert_eq!(b.list(request, 7 << 32, &[first], 0), (Err(E::EINVAL), 0));
    }
    assert_eq!(b.list(MAP, handle, &[first, 7, second], 0), (Err(E::EINVAL), 1));
    assert_eq!(b.kernel.ledger().mappings, 1);
    assert_eq!(b.list(MAP, handle, &[first, second, second], 1), (Ok(()), 3), "the second time does nothing");
    assert_eq!(b.list(MAP, handle, &[first], 1), (Ok(()), 1), "nothing left to do");
    assert_eq!(b.list(UNMAP, handle, &[first, first], 0), (Err(E::EINVAL), 1));
    assert_eq!(b.list(UNMAP, handle, &[second], 0), (Ok(()), 1));
    assert_eq!(b.kernel.ledger().mappings, 0);
}

#[test]
fn rules_49_and_50_mapping_again_is_fine_and_unmapping_again_is_not() {
    let mut b = bench("gfx1100");
    let (handle, _) = b.alloc(0x10_0000, 4096, GTT).unwrap();
    assert_eq!(b.unmap(handle, 0), Err(E::EINVAL));
    assert_eq!(b.map(handle, 0), Ok(()));
    assert_eq!(b.map(handle, 0), Ok(()));
    assert_eq!(b.unmap(handle, 0), Ok(()));
    assert_eq!(b.unmap(handle, 0), Err(E::EINVAL));
}

#[test]
fn rules_40_51_and_52_addresses_are_checked_when_mapping_in_each_space() {
    let mut b = large();
    let top = 1_u64 << 48;
    let odd = [0, 0x10_0800, top, top - 0x1000, u64::MAX - 0xfff, top - (4 << 20) - 0x2000];
    for (va, size) in odd.into_iter().zip([4096, 4096, 4096, 8192, 8192, 4096]) {
        let (handle, _) = b.alloc(va, size, GTT).unwrap();
        assert_eq!(b.map(handle, 0), Err(E::EINVAL), "{va:#x}");
    }
    let (first, _) = b.alloc(0x10_0000, 8192, GTT).unwrap();
    let (over, _) = b.alloc_at(1, 0x10_1000, 8192, GTT, 0).unwrap();
    let (beside, _) = b.alloc(0x10_2000, 4096, GTT).unwrap();
    assert_eq!(b.map(first, 0), Ok(()));
    assert_eq!(b.map(over, 0), Err(E::EINVAL));
    assert_eq!(b.map(over, 1), Ok(()), "another GPU is another space");
    assert_eq!(b.map(beside, 0), Ok(()));
    assert_eq!(b.unmap(first, 0), Ok(()));
    assert_eq!(b.unmap(beside, 0), Ok(()));
    assert_eq!(b.map(over, 0), Ok(()));
}

#[test]
fn rule_53_local_memory_of_a_peer_needs_a_large_bar() {
    for (mut b, answer) in [(bench("two-gfx1100"), Err(E::EINVAL)), (large(), Ok(()))] {
        let (vram, _) = b.alloc(0x10_0000, 4096, VRAM).unwrap();
        let (gtt, _) = b.alloc(0x20_0000, 4096, GTT).unwrap();
        let (mmio, _) = b.alloc(0x30_0000, 4096, MMIO).unwrap();
        assert_eq!(b.map(vram, 1), answer);
        assert_eq!(b.map(mmio, 1), answer);
        assert_eq!(b.map(gtt, 1), Ok(()));
        assert_eq!(b.map(vram, 0), Ok(()));
    }
}

#[test]
fn rule_57_unmapping_from_an_unbound_gpu_is_einval() {
    let mut b = large();
    let mut other = Client::new(200);
    let kfd = b.kernel.open_kfd(200).unwrap();
    let render = b.kernel.open_render(128).unwrap();
    other.install(128, render);
    assert_eq!(other.acquire_vm(&mut b.kernel, kfd, 128, b.ids[0]), Ok(()));
    (b.client, b.kfd) = (other, kfd);
    let (handle, _) = b.alloc(0x10_0000, 4096, GTT).unwrap();
    assert_eq!(b.unmap(handle, 1), Err(E::EINVAL));
    assert_eq!(b.map(handle, 1), Err(E::ENODEV));
}

#[test]
fn rule_63_a_buffer_is_mapped_whole_offset_by_the_file_of_its_vm() {
    let mut b = large();
    let (_, offset) = b.alloc(0x10_0000, 8192, VRAM).unwrap();
    let (_, other) = b.alloc(0x20_0000, 8192, GTT).unwrap();
    let first = b.mmap(8192, offset, false).unwrap();
    assert_eq!(b.mmap(100, offset, false), Ok(first), "shorter is fine");
    assert_ne!(b.mmap(8192, other, false), Ok(first));
    assert_eq!(b.mmap(8193, offset, false), Err(E::EINVAL));
    assert_eq!(b.mmap(4096, offset + 4096, false), Err(E::EINVAL));
    assert_eq!(b.mmap(8192, offset, true), Err(E::EINVAL));
    let stranger = b.kernel.open_render(128).unwrap();
    b.client.install(128, stranger);
    assert_eq!(b.mmap(8192, offset, false), Err(E::EACCES));
    assert_eq!(b.kernel.page_bytes(first), Some(8192));
    let handle = u64::from(b.ids[0]) << 32;
    assert_eq!(b.free(handle), Ok(()));
    assert_eq!(b.kernel.page_bytes(first), None);
    let mut small = bench("gfx1100");
    let (_, offset) = small.alloc(0, 8192, VRAM).unwrap();
    let pages = small.mmap(8192, offset, false).unwrap();
    assert_eq!(small.kernel.page_bytes(pages), Some(0), "beyond the BAR: a touch faults");
}

#[test]
fn registers_are_mapped_through_dev_kfd_by_the_offset_that_alloc_gave() {
    let mut b = bench("gfx1100");
    let (_, offset) = b.alloc(0x10_0000, 4096, MMIO).unwrap();
    assert_eq!(b.kernel.mmap(&b.client, b.kfd, (4096, offset), false), Ok(Pages::Registers(0)));
    assert_eq!(b.mmap(4096, offset, false), Err(E::EINVAL), "the render node does not know it");
}
