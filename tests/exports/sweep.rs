//! Every function with arguments that nobody should pass: a status comes back, and nothing else is touched.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::caller::{Client, Library, MOST, Words};
use crate::facts::{self, Kind};

/// Random calls of each function that has a number among its parameters.
const CASES: u32 = 10_000;

/// Runs `body` for each function in a child; every failure is told.
fn each_function(body: impl Fn(&mut Client<'_>) -> Result<(), String>) {
    let library = Library::load();
    let functions = facts::exports();
    assert!(functions.len() > 130);
    let failures: Vec<_> = functions.iter().filter_map(|function| library.in_child(function, &body).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each pointer NULL in turn, the others valid; then all of them, then none.
fn nulls(client: &mut Client<'_>) -> Result<(), String> {
    let pointers: Vec<usize> = (0..client.objects.len()).filter(|&index| client.objects[index].is_some()).collect();
    for chosen in pointers.iter().map(std::slice::from_ref).chain([pointers.as_slice(), &[]]) {
        let mut words = client.zeros();
        for &index in chosen {
            words[index] = 0;
        }
        client.call(words)?;
    }
    Ok(())
}

#[test]
fn no_null_pointer_crashes_a_call() {
    each_function(|client| {
        client.stage("before open");
        nulls(client)?;
        client.stage("after open");
        client.library.open();
        nulls(client)
    });
}

/// Numbers at the edges more often than anywhere else.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0_u64..5,
        1 => (0_u32..64).prop_map(|bit| 1 << bit),
        1 => (0_u32..64).prop_map(|bit| (1 << bit) - 1),
        1 => (0_u64..3).prop_map(|less| u64::MAX - less),
        3 => any::<u64>(),
    ]
}

/// One random word for each parameter: the number itself, a truth value, or whether the pointer is there.
fn words(client: &mut Client<'_>, random: &Words) -> Words {
    let mut words = client.zeros();
    let kinds: Vec<Kind> = client.function.parameters.iter().map(|parameter| parameter.kind).collect();
    for (index, kind) in kinds.into_iter().enumerate() {
        words[index] = match kind {
            Kind::Pointer { .. } if random[index].is_multiple_of(5) => 0,
            Kind::Pointer { .. } => words[index],
            Kind::Bool => random[index] % 2,
            Kind::Number => random[index],
        };
    }
    words
}

#[test]
fn no_random_number_crashes_a_call() {
    each_function(|client| {
        if !client.function.parameters.iter().any(|parameter| parameter.kind == Kind::Number) {
            return Ok(());
        }
        client.stage("with random numbers");
        client.library.open();
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let client = RefCell::new(client);
        let numbers: [_; MOST] = std::array::from_fn(|_| number());
        let tried = TestRunner::new(config).run(&numbers, |random| {
            let mut client = client.borrow_mut();
            let words = words(&mut client, &random);
            client.call(words).map(drop).map_err(TestCaseError::fail)
        });
        tried.map_err(|error| match error {
            TestError::Fail(reason, random) => format!("{reason}, for {random:x?}"),
            TestError::Abort(reason) => reason.to_string(),
        })
    });
}

#[test]
fn a_write_beside_an_object_is_found() {
    let library = Library::load();
    let functions = facts::exports();
    let function = functions.iter().find(|function| function.name == "hsaKmtGetVersion").expect("it is exported");
    for (offset, found) in [(8, "signal 11"), (-1, "it wrote before *VersionInfo"), (0, ""), (7, "")] {
        let result = library.in_child(function, |client| {
            let words = client.zeros();
            let object = client.object("VersionInfo").bytes().as_mut_ptr();
            // SAFETY: this is the mistake that must be found. It leaves the object only for the pattern before it, and
            // for a page that cannot be accessed.
            unsafe { object.offset(offset).write_volatile(1) };
            client.call(words).map(drop)
        });
        assert_eq!(result.is_err(), !found.is_empty(), "{offset}");
        assert!(result.err().is_none_or(|error| error.contains(found)), "{offset}");
    }
}
