//! Tests of closed-loop clients.

use super::*;
use crate::engine::verify::HEAD_BYTES;

/// Creates a client in a window that never ends.
fn client(outstanding: usize) -> Client {
    let client = Client::new(Numbering::new(7, None), (outstanding, 1), Arc::default());
    client.meter.open_window();
    client
}

/// Sends the next request, and returns it.
fn asks(client: &mut Client) -> Vec<u8> {
    assert_eq!(client.prepare(), Some(0), "there is room");
    let mut memory = vec![0; HEAD_BYTES];
    client.fill(&mut memory);
    client.sent(1);
    memory
}

/// Returns the number of responses in time, of requests without a response, and of late responses.
fn found(client: &Client) -> (u64, u64, u64) {
    let found = client.meter.round_trips();
    (found.times.count(), found.unanswered, found.late)
}

#[test]
fn an_answer_ends_the_wait_of_its_own_request() {
    let mut client = client(2);
    let (first, second) = (asks(&mut client), asks(&mut client));
    assert_eq!(client.prepare(), None, "two are outstanding");
    client.check(&second, Origin::PEER);
    client.check(&second, Origin::PEER);
    assert_eq!(
        found(&client),
        (1, 1, 1),
        "the second time, nobody waits for it"
    );
    let third = asks(&mut client);
    assert!(first != third && second != third);
    for answer in [third, first] {
        client.check(&answer, Origin::PEER);
    }
    client.check(b"no answer at all", Origin::PEER);
    client.check(b"short", Origin::PEER);
    assert_eq!(found(&client), (3, 0, 3));
}

#[test]
fn a_request_that_goes_in_the_window_is_of_it_with_its_answer() {
    let mut client = client(2);
    client.meter.close_window();
    let before = asks(&mut client);
    client.meter.open_window();
    let within = asks(&mut client);
    client.meter.close_window();
    client.check(&before, Origin::PEER);
    let after = asks(&mut client);
    for answer in [after, within] {
        client.check(&answer, Origin::PEER);
    }
    assert_eq!(found(&client), (1, 0, 0));
}

#[test]
fn what_is_not_answered_is_given_up_and_its_answer_is_late() {
    let mut client = client(1);
    let request = asks(&mut client);
    client.give_up(1);
    assert_eq!(client.prepare(), None, "not yet");
    client.requests[0].asked_ns -= TIMEOUT_NS;
    client.give_up(1);
    assert_eq!(client.prepare(), None, "nobody has asked again");
    client.give_up(2);
    assert_eq!(found(&client), (0, 1, 0));
    client.check(&request, Origin::PEER);
    assert_eq!(found(&client), (0, 1, 1));
    let next = asks(&mut client);
    client.check(&next, Origin::PEER);
    assert_eq!(found(&client), (1, 1, 1));
}

#[test]
fn a_client_that_thinks_asks_again_when_it_has_been_silent_for_as_long() {
    let mut client = client(1).thinking(Some(3_000_000));
    assert!(!client.thinks(), "at first it asks at once");
    asks(&mut client);
    assert!(!client.thinks(), "nor is there silence before the second");
    let request = asks(&mut client);
    assert_eq!(client.prepare(), None, "it waits for an answer");
    let answer_ns = clock::monotonic_ns();
    client.check(&request, Origin::PEER);
    while client.thinks() {}
    let silence_ns = clock::monotonic_ns() - answer_ns;
    assert!(silence_ns >= 2_900_000, "{silence_ns}");
    asks(&mut client);
    assert_eq!(client.prepare(), None, "one at a time");
}

#[test]
fn after_a_request_in_vain_a_client_that_thinks_wakes_the_link() {
    let mut client = client(1).thinking(Some(1_000_000_000));
    let requests = [asks(&mut client), asks(&mut client)];
    client.check(&requests[1], Origin::PEER);
    client.pause = Some(Pause {
        ns: 1_000_000_000,
        end_ns: 0,
    });
    asks(&mut client);
    client.requests[0].asked_ns -= TIMEOUT_NS;
    client.requests[1].asked_ns -= TIMEOUT_NS;
    client.give_up(1);
    assert!(!client.thinks(), "there was silence enough");
    let (first, second) = (asks(&mut client), asks(&mut client));
    assert_eq!(client.prepare(), None, "two have gone");
    client.check(&second, Origin::PEER);
    client.check(&first, Origin::PEER);
    assert_eq!(found(&client), (2, 3, 1));
    assert!(client.thinks(), "it is answered, and thinks");
    client.pause = Some(Pause { ns: 1, end_ns: 0 });
    asks(&mut client);
    assert_eq!(client.prepare(), None, "one at a time again");
}

#[test]
fn a_request_that_has_to_wait_for_room_keeps_its_time() {
    let mut client = client(1);
    assert_eq!(client.prepare(), Some(0));
    let asked_ns = client.next.map(|next| next.asked_ns);
    assert_eq!(
        client.prepare(),
        Some(0),
        "the system refused it, and it is tried again"
    );
    assert_eq!(client.next.map(|next| next.asked_ns), asked_ns);
}

#[test]
fn each_link_has_as_many_outstanding_and_takes_its_own_answers() {
    let mut client = Client::new(Numbering::new(7, None), (2, 3), Arc::default());
    client.meter.open_window();
    let mut requests = Vec::new();
    while let Some(endpoint) = client.prepare() {
        let mut memory = vec![0; HEAD_BYTES];
        client.fill(&mut memory);
        client.sent(1);
        requests.push((endpoint, memory));
    }
    for endpoint in 0..3 {
        assert_eq!(
            requests
                .iter()
                .filter(|(over, _)| *over == endpoint)
                .count(),
            2
        );
    }
    let over = |endpoint| Origin {
        endpoint,
        source: None,
    };
    let (endpoint, request) = &requests[0];
    client.check(request, over(endpoint + 1));
    assert_eq!(found(&client), (0, 6, 1), "another link's");
    for (endpoint, request) in &requests {
        client.check(request, over(*endpoint));
    }
    assert_eq!(found(&client), (6, 0, 1));
}

#[test]
fn it_takes_some_time() {
    assert!(own_round_trip_ns() > Some(0.0));
}
