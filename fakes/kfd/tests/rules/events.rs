//! Rules 60 and 89 to 103: events.

use std::time::{Duration, Instant};

use rocdxg_fake_gpu::Machine;
use rocdxg_fake_kfd::{Answer, FileId, Fill, Kernel, Mode, Pages, Reply, Wait};

use super::kit::*;

const CREATE: u32 = 0xc020_4b08;
const DESTROY: u32 = 0x4008_4b09;
const SET: u32 = 0x4008_4b0a;
const RESET: u32 = 0x4008_4b0b;
const WAIT: u32 = 0xc018_4b0c;
const SIGNAL: u32 = 0;
const MEMORY: u32 = 8;

/// What CREATE_EVENT leaves in its argument.
#[derive(Debug, PartialEq, Eq)]
struct Created {
    id: u32,
    trigger: u32,
    slot: u32,
    offset: u64,
}

struct Bench {
    kernel: Kernel,
    client: Client,
    kfd: FileId,
    gpu_id: u32,
}

/// A sleeping or ended wait: its argument and its list.
struct Waiting {
    words: Box<[u32; 6]>,
    list: Vec<[u32; 12]>,
    reply: Reply,
}

impl Waiting {
    fn ended(&self) -> (Answer, u32) {
        let Reply::Done(answer) = self.reply else { panic!("it sleeps") };
        (answer, self.words[5])
    }

    fn wait(&self) -> Wait {
        let Reply::Asleep(wait) = self.reply else { panic!("{:?}", self.reply) };
        wait
    }
}

fn bench() -> Bench {
    let mut kernel = kernel("gfx1100");
    let (client, kfd, gpu_id) = bound(&mut kernel);
    Bench { kernel, client, kfd, gpu_id }
}

impl Bench {
    fn create_with(&mut self, page: u64, kind: u32, auto_reset: bool) -> (Answer, Created) {
        let mut words = [page as u32, (page >> 32) as u32, 9, kind, auto_reset.into(), 0, 9, 9];
        let answer = self.client.call(&mut self.kernel, self.kfd, CREATE, &mut words);
        let offset = u64::from(words[0]) | u64::from(words[1]) << 32;
        (answer, Created { id: words[6], trigger: words[2], slot: words[7], offset })
    }

    fn signal(&mut self, auto_reset: bool) -> u32 {
        let (answer, created) = self.create_with(0, SIGNAL, auto_reset);
        assert_eq!(answer, Ok(()));
        created.id
    }

    fn on(&mut self, request: u32, id: u32) -> Answer {
        self.client.call(&mut self.kernel, self.kfd, request, &mut [id, 0])
    }

    /// Waits for (id, age) pairs.
    fn wait(&mut self, entries: &[(u32, u64)], all: bool, timeout: u32) -> Waiting {
        let record = |(id, age): &(u32, u64)| {
            let mut record = [0; 12];
            (record[0], record[1], record[10]) = (*age as u32, (*age >> 32) as u32, *id);
            record
        };
        let list: Vec<_> = entries.iter().map(record).collect();
        let [low, high] = halves(list.as_ptr());
        let mut words = Box::new([low, high, entries.len() as u32, all.into(), timeout, 9]);
        let reply = self.kernel.ioctl(&self.client, self.kfd, WAIT, words.as_mut_ptr() as u64);
        Waiting { words, list, reply }
    }

    /// Whether an event is set; an auto-reset one no longer is.
    fn poll(&mut self, id: u32) -> bool {
        match self.wait(&[(id, 0)], false, 0).ended() {
            (Ok(()), 0) => true,
            (Ok(()), 1) => false,
            odd => panic!("{odd:?}"),
        }
    }

    fn resume(&mut self, waiting: &Waiting) -> Option<(Answer, u32)> {
        let answer = self.kernel.resume(&self.client, &waiting.wait());
        answer.map(|answer| (answer, waiting.words[5]))
    }

    fn buffer(&mut self, size: u32, flags: u32) -> u64 {
        let mut words = [0, 0, size, 0, 0, 0, 0, 0, self.gpu_id, flags];
        assert_eq!(self.client.call(&mut self.kernel, self.kfd, 0xc028_4b16, &mut words), Ok(()));
        u64::from(words[4]) | u64::from(words[5]) << 32
    }
}

#[test]
fn rules_43_89_and_90_the_first_page_is_a_buffer_of_all_slots_for_ever() {
    let mut b = bench();
    let (small, page) = (b.buffer(16384, 2), b.buffer(32768, 2));
    let kept = Created { id: 9, trigger: 9, slot: 9, offset: page + 7 };
    assert_eq!(b.create_with(page + 7, SIGNAL, false), (Err(E::EINVAL), kept));
    assert_eq!(b.create_with(small, SIGNAL, false).0, Err(E::EINVAL));
    assert_eq!(b.create_with(7 << 32, SIGNAL, false).0, Err(E::EINVAL));
    assert_eq!(b.kernel.take_fills(), []);
    assert_eq!(b.create_with(page, MEMORY, false).0, Ok(()));
    let [Fill { pages, offset: 0, bytes: 32768 }] = b.kernel.take_fills()[..] else { panic!() };
    assert!(matches!(pages, Pages::Buffer(_)));
    assert_eq!(b.create_with(page, SIGNAL, false).0, Err(E::EINVAL), "a second page");
    assert_eq!(
        b.client.call(&mut b.kernel, b.kfd, 0x4008_4b17, &mut [page as u32, (page >> 32) as u32]),
        Err(E::EPERM)
    );
    let id = b.signal(false);
    assert_eq!(b.kernel.take_fills(), [Fill { pages, offset: 8 * u64::from(id), bytes: 8 }]);
    b.client.tgid = 200;
    b.kfd = b.kernel.open_kfd(200).unwrap();
    assert_eq!(b.create_with(page, SIGNAL, false).0, Err(E::ENODEV));
}

#[test]
fn rule_60_the_drivers_own_page_exists_with_the_first_slot_and_a_mapping_opens_all() {
    let mut b = bench();
    let map = |b: &mut Bench, length| b.kernel.mmap(&b.client, b.kfd, (length, 1 << 63), false);
    assert_eq!(map(&mut b, 32768), Err(E::EINVAL));
    assert_eq!(b.create_with(0, MEMORY, false).0, Ok(()));
    assert_eq!(map(&mut b, 32768), Err(E::EINVAL));
    for id in 1..256 {
        assert_eq!(b.signal(false), id);
    }
    assert_eq!(b.create_with(0, SIGNAL, false).0, Err(E::ENOSPC));
    assert_eq!(map(&mut b, 65536), Err(E::EINVAL));
    assert_eq!(map(&mut b, 32768), Ok(Pages::Events(100)));
    assert_eq!(b.signal(false), 256);
}

#[test]
fn rules_91_and_92_ids_are_the_lowest_free_and_slots_go_with_them() {
    let mut b = bench();
    let page = b.buffer(32768, 2);
    let (_, first) = b.create_with(page, SIGNAL, true);
    assert_eq!(first, Created { id: 1, trigger: 1, slot: 1, offset: 1 << 63 });
    let (_, other) = b.create_with(0, MEMORY, false);
    assert_eq!(other, Created { id: 0x4000_0000, trigger: 0x4000_0000, slot: 9, offset: 0 });
    assert_eq!(b.create_with(0, 77, false).1.id, 0x4000_0001, "the type is not looked at");
    assert_eq!(b.create_with(0, 5, false).1.id, 2, "a debug event has a slot");
    for id in 3..4096 {
        assert_eq!(b.signal(false), id);
    }
    assert_eq!(b.create_with(0, SIGNAL, false).0, Err(E::ENOSPC));
    assert_eq!(b.on(DESTROY, 7), Ok(()));
    assert_eq!(b.signal(false), 7);
    assert_eq!(b.kernel.ledger().events, 4095 + 2);
}

#[test]
fn rules_93_and_94_only_signals_are_set_and_only_events_are_destroyed() {
    let mut b = bench();
    let (id, memory) = (b.signal(false), b.create_with(0, MEMORY, false).1.id);
    for request in [SET, RESET] {
        assert_eq!(b.on(request, 99), Err(E::EINVAL));
        assert_eq!(b.on(request, memory), Err(E::EINVAL));
        assert_eq!(b.on(request, id), Ok(()));
    }
    assert_eq!(b.on(DESTROY, 0), Err(E::EINVAL));
    assert_eq!(b.on(DESTROY, memory), Ok(()));
    assert_eq!(b.on(DESTROY, memory), Err(E::EINVAL));
}

#[test]
fn rules_95_to_97_lists_are_read_in_order_and_no_event_is_complete() {
    let mut b = bench();
    let id = b.signal(false);
    assert_eq!(b.wait(&[(id, 0), (99, 0)], false, 0).ended(), (Err(E::EINVAL), 2));
    let mut bad = [8, 0, 1, 0, 0, 9];
    assert_eq!(b.client.call(&mut b.kernel, b.kfd, WAIT, &mut bad), Err(E::EFAULT));
    assert_eq!(bad[5], 2);
    for (mode, answer) in [(Mode::V7_2, E::ENOMEM), (Mode::V6_12, E::EFAULT)] {
        let mut kernel = kernel_of(&Machine::load("gfx1100").unwrap(), mode);
        let kfd = kernel.open_kfd(1).unwrap();
        let mut many = [8, 0, 4097, 0, 0, 9];
        assert_eq!(Client::new(1).call(&mut kernel, kfd, WAIT, &mut many), Err(answer));
    }
    assert_eq!(b.wait(&[], false, 0).ended(), (Ok(()), 0));
    assert_eq!(b.wait(&[], true, u32::MAX).ended(), (Ok(()), 0));
}

#[test]
fn rule_98_a_timeout_is_no_error() {
    let mut b = bench();
    let id = b.signal(false);
    assert_eq!(b.wait(&[(id, 0)], false, 0).ended(), (Ok(()), 1));
    assert_eq!(b.wait(&[(id, 0)], false, u32::MAX).wait().deadline, None);
    let waiting = b.wait(&[(id, 0)], false, 20);
    let deadline = waiting.wait().deadline.unwrap();
    assert_eq!(b.resume(&waiting), None);
    std::thread::sleep(deadline.saturating_duration_since(Instant::now()) + Duration::from_millis(1));
    assert_eq!(b.resume(&waiting), Some((Ok(()), 1)));
}

#[test]
fn rule_99_a_wait_consumes_every_auto_reset_event_that_it_lists() {
    let mut b = bench();
    let (first, second, third) = (b.signal(true), b.signal(true), b.signal(true));
    for id in [first, second] {
        assert_eq!(b.on(SET, id), Ok(()));
    }
    assert_eq!(b.wait(&[(first, 0), (second, 0)], false, 0).ended(), (Ok(()), 0));
    assert!(!b.poll(first) && !b.poll(second));
    assert_eq!(b.on(SET, first), Ok(()));
    assert_eq!(b.wait(&[(first, 0), (third, 0)], true, 0).ended(), (Ok(()), 1), "not all");
    assert!(!b.poll(first), "and yet consumed");
    let manual = b.signal(false);
    assert_eq!(b.on(SET, manual), Ok(()));
    assert!(b.poll(manual) && b.poll(manual));
    assert_eq!(b.on(RESET, manual), Ok(()));
    assert!(!b.poll(manual));
}

#[test]
fn rule_100_a_set_wakes_all_waiters_and_leaves_an_auto_reset_event_unset() {
    let mut b = bench();
    let (auto, other) = (b.signal(true), b.signal(true));
    let waits = [b.wait(&[(auto, 0)], false, u32::MAX), b.wait(&[(auto, 0)], false, 5000)];
    let both = b.wait(&[(auto, 0), (other, 0)], true, u32::MAX);
    assert_eq!(b.resume(&waits[0]), None);
    assert_eq!(b.on(SET, auto), Ok(()));
    for waiting in &waits {
        assert_eq!(b.resume(waiting), Some((Ok(()), 0)));
    }
    assert!(!b.poll(auto));
    assert_eq!(b.resume(&both), None);
    assert_eq!(b.on(SET, other), Ok(()));
    assert_eq!(b.resume(&both), Some((Ok(()), 0)));
    assert_eq!(b.on(SET, auto), Ok(()));
    assert!(b.poll(auto), "with nobody waiting it stays set");
}

#[test]
fn rule_101_any_other_age_than_the_events_is_news() {
    let mut b = bench();
    let id = b.signal(true);
    let age = |waiting: &Waiting| waiting.list[0][0];
    let waiting = b.wait(&[(id, 1)], false, 0);
    assert_eq!((waiting.ended(), age(&waiting)), ((Ok(()), 1), 1), "an event starts with age 1");
    let waiting = b.wait(&[(id, 5)], false, 0);
    assert_eq!((waiting.ended(), age(&waiting)), ((Ok(()), 0), 1), "older is other");
    let waiting = b.wait(&[(id, 1)], false, u32::MAX);
    assert_eq!(b.on(SET, id), Ok(()));
    assert_eq!(b.resume(&waiting), Some((Ok(()), 0)));
    assert_eq!(age(&waiting), 2);
    let waiting = b.wait(&[(id, 0)], false, 0);
    assert_eq!((waiting.ended(), age(&waiting)), ((Ok(()), 1), 0), "0 does not care");
}

#[test]
fn rule_102_an_event_that_is_destroyed_ends_the_wait_with_eio() {
    let mut b = bench();
    let (id, other) = (b.signal(false), b.signal(false));
    let waiting = b.wait(&[(id, 0), (other, 0)], false, u32::MAX);
    assert_eq!(b.on(SET, id), Ok(()));
    assert_eq!(b.on(DESTROY, id), Ok(()));
    assert_eq!(b.resume(&waiting), Some((Err(E::EIO), 2)), "although it had been set");
}

#[test]
fn rule_103_an_interrupted_wait_gives_back_what_it_consumed_and_tells_the_time_that_is_left() {
    let mut b = bench();
    let (set, unset) = (b.signal(true), b.signal(true));
    assert_eq!(b.on(SET, set), Ok(()));
    let waiting = b.wait(&[(set, 0), (unset, 0)], true, 10_000);
    assert!(b.resume(&waiting).is_none());
    assert!(!b.poll(set), "the wait has it");
    b.kernel.interrupt(&b.client, &waiting.wait());
    assert!((1..=10_000).contains(&waiting.words[4]) && waiting.words[5] == 2, "{:?}", waiting.words);
    assert!(b.poll(set));
    assert_eq!(b.kernel.resume(&b.client, &waiting.wait()), Some(Err(E::EINVAL)), "it is over");
    let forever = b.wait(&[(unset, 0)], false, u32::MAX);
    b.kernel.interrupt(&b.client, &forever.wait());
    assert_eq!((forever.words[4], forever.words[5]), (u32::MAX, 2));
}
