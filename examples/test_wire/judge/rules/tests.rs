use super::*;

fn numbers(text: &str) -> Numbers {
    Numbers::parse(text).expect("a list")
}

#[test]
fn rules_read_as_they_are_documented() {
    let text = "count size 300-; count port 9000-9999; drop all; a>b drop 3,5-7; b>a delay every 10 by 2ms;;
                limit 20mbit/s queue 50; police 10000/s burst 10; reorder size 1400- by 3; misdirect silence 20ms;
                duplicate 4";
    let Rules { counted, rules } = Rules::parse(text).expect("rules");
    let of_size = Counted::Size(numbers("300-"));
    assert_eq!(counted, [of_size, Counted::Port(numbers("9000-9999"))]);
    let read: Vec<_> = rules
        .iter()
        .map(|rule| (rule.direction, &rule.action))
        .collect();
    let ms = Duration::from_millis;
    let expected = [
        (Direction::Both, Action::OnMatch(Which::All, Effect::Drop)),
        (
            Direction::NearToFar,
            Action::OnMatch(Which::Numbered(numbers("3,5-7")), Effect::Drop),
        ),
        (
            Direction::FarToNear,
            Action::OnMatch(Which::Every(10), Effect::Delay(ms(2))),
        ),
        (
            Direction::Both,
            Action::Limit {
                rate: Rate::Bits(20_000_000),
                queue: 50,
                burst: 1,
            },
        ),
        (
            Direction::Both,
            Action::Police {
                rate: Rate::Datagrams(10_000),
                burst: 10,
            },
        ),
        (
            Direction::Both,
            Action::OnMatch(Which::Size(numbers("1400-")), Effect::Reorder(3)),
        ),
        (
            Direction::Both,
            Action::OnMatch(Which::Silence(ms(20)), Effect::Misdirect),
        ),
        (
            Direction::Both,
            Action::OnMatch(Which::Numbered(numbers("4")), Effect::Duplicate),
        ),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(direction, action)| (*direction, action))
        .collect();
    assert_eq!(read, expected);
    assert_eq!(rules[1].text, "a>b drop 3,5-7");
}

#[test]
fn a_rule_that_cannot_be_read_is_refused_with_the_fix() {
    for (rule, problem) in [
        (
            "lose 3",
            "\"lose\" is no action: write one of drop, duplicate, misdirect, delay, reorder, limit, police",
        ),
        (
            "a>b",
            "write one of drop, duplicate, misdirect, delay, reorder, limit, police",
        ),
        (
            "drop",
            "say which: all, 3,5-7,100-, every K, size LIST or silence TIME",
        ),
        (
            "drop 0x3",
            "\"0x3\" is not a number: write a list such as 3,5-7,100-",
        ),
        ("drop every 0", "\"0\" is not a number from 1: write one"),
        (
            "delay all 2ms",
            "write delay WHICH by TIME, such as delay all by 2ms",
        ),
        ("delay all by 2", "\"2\" has no unit: write 2ms or 2s"),
        (
            "reorder 3",
            "write reorder WHICH by K, such as reorder 4 by 3",
        ),
        ("limit", "write a rate behind it, such as 10000/s"),
        (
            "limit 5/s depth 3",
            "\"depth\" is not known here: write queue or burst",
        ),
        ("police 5/s burst", "write a number behind burst"),
        (
            "police 5/s burst 1000001",
            "1000001 is too many: write at most 1000000",
        ),
        ("count all", "write count size LIST or count port LIST"),
    ] {
        let refused = Rules::parse(&format!("drop 1; {rule} ")).expect_err(rule);
        assert_eq!(refused, (rule.to_owned(), problem.to_owned()));
    }
}
