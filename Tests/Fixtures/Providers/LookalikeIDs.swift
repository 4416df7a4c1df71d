/// External ids that look like `user0`, and how people are shown them.
package enum LookalikeIDs {
    package static let all: [(id: String, shown: String)] = [
        ("user0 ", "user0\\u{20}"), (" user0", "\\u{20}user0"), ("us  er0", "us \\u{20}er0"),
        ("user0\u{3164}", "user0\\u{3164}"), ("user0\u{34F}", "user0\\u{34F}"),
        ("user0\u{FE0F}", "user0\\u{FE0F}"), ("user0\u{2800}", "user0\\u{2800}"),
        ("user\u{A0}0", "user\\u{A0}0"), ("user0\u{202E}", "user0\\u{202E}"), ("user0\u{2066}", "user0\\u{2066}"),
        ("user0\u{200B}", "user0\\u{200B}"), ("user0\u{E0041}", "user0\\u{E0041}"), ("user0", "user0"),
    ]
}
