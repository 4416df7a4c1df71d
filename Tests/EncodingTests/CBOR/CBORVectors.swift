import Encoding

/// The examples of RFC 8949, Appendix A, and what the subset makes of each.
enum CBORVectors {
    /// Examples of the subset, and their values.
    static let read: [(hex: String, value: CBORValue)] = [
        ("00", .unsigned(0)), ("01", .unsigned(1)), ("0a", .unsigned(10)), ("17", .unsigned(23)),
        ("1818", .unsigned(24)), ("1819", .unsigned(25)), ("1864", .unsigned(100)), ("1903e8", .unsigned(1000)),
        ("1a000f4240", .unsigned(1_000_000)), ("1b000000e8d4a51000", .unsigned(1_000_000_000_000)),
        ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)),
        ("20", .negative(0)), ("29", .negative(9)), ("3863", .negative(99)), ("3903e7", .negative(999)),
        ("c249010000000000000000", tag(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
        ("c349010000000000000000", tag(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
        ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
        ("c074323031332d30332d32315432303a30343a30305a", tag(0, .text("2013-03-21T20:04:00Z"))),
        ("c11a514b67b0", tag(1, .unsigned(1_363_896_240))), ("d74401020304", tag(23, .bytes([1, 2, 3, 4]))),
        ("d818456449455446", tag(24, .bytes([0x64, 0x49, 0x45, 0x54, 0x46]))),
        ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", tag(32, .text("http://www.example.com"))),
        ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6161", .text("a")),
        ("6449455446", .text("IETF")), ("62225c", .text("\"\\")), ("62c3bc", .text("\u{FC}")),
        ("63e6b0b4", .text("\u{6C34}")), ("64f0908591", .text("\u{10151}")),
        ("80", .array([])), ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
        (
            "8301820203820405",
            .array([
                .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
            ])
        ),
        (
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            .array((1...25).map { CBORValue.unsigned($0) })
        ),
        ("a0", .map([:])), ("a201020304", .map([1: .unsigned(2), 3: .unsigned(4)])),
        ("a26161016162820203", .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])])),
        ("826161a161626163", .array([.text("a"), .map(["b": .text("c")])])),
        (
            "a56161614161626142616361436164614461656145",
            .map(["a": .text("A"), "b": .text("B"), "c": .text("C"), "d": .text("D"), "e": .text("E")])
        ),
    ]

    /// Examples outside of the subset: floats, simple values, and indefinite lengths.
    static let refused: [(defect: CBORDefect, hex: [String])] = [
        (
            .unsupported,
            [
                "f90000", "f98000", "f93c00", "fb3ff199999999999a", "f93e00", "f97bff", "fa47c35000", "fa7f7fffff",
                "fb7e37e43c8800759c", "f90001", "f90400", "f9c400", "fbc010666666666666", "f97c00", "f97e00", "f9fc00",
                "fa7f800000", "fa7fc00000", "faff800000", "fb7ff0000000000000", "fb7ff8000000000000",
                "fbfff0000000000000", "f7", "f0", "f8ff", "c1fb41d452d9e8200000",
            ]
        ),
        (
            .indefiniteLength,
            [
                "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff",
                "9f01820203820405ff", "83018202039f0405ff", "83019f0203ff820405",
                "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", "bf61610161629f0203ffff",
                "826161bf61626163ff", "bf6346756ef563416d7421ff",
            ]
        ),
    ]

    private static func tag(_ number: UInt64, _ value: CBORValue) -> CBORValue { .tagged(CBORTag(number, value)) }
}
