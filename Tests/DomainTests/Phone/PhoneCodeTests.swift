import Domain
import Fixtures
import Foundation
import Testing

@Suite("A code")
struct PhoneCodeTests {
    private let secret = Secret([UInt8](repeating: 7, count: 32))
    private let verification = PhoneVerificationID("00112233-4455-6677-8899-aabbccddeeff"[...])
    private let user = UserID("0f0e0d0c-0b0a-0908-0706-050403020100"[...])
    private let device = DeviceID("ffeeddcc-bbaa-9988-7766-554433221100"[...])

    private func digits(
        version: Int = 1, number: String = "+14155552671", verification: PhoneVerificationID? = nil,
        user: UserID? = nil, device: DeviceID? = nil, digits: Int = 6
    ) throws -> String {
        let keys = try #require(PhoneCodeKeys([1: secret, 2: secret]))
        let code = keys.code(
            version: version, verification: try #require(verification ?? self.verification),
            user: try #require(user ?? self.user), device: try #require(device ?? self.device), e164: number,
            digits: digits)
        return try #require(code).digits.reveal()
    }

    /// Computed with Python's `hmac` and `hashlib` from the documented construction.
    @Test(
        "is what an independent computation of it gives",
        arguments: [
            (1, "+14155552671", 6, "749301"), (2, "+14155552671", 6, "635018"), (1, "+14155552672", 6, "267276"),
            (1, "+14155552671", 10, "0857749301"), (1, "+14155552671", 4, "9301"),
        ])
    func vectors(version: Int, number: String, length: Int, expected: String) throws {
        #expect(try digits(version: version, number: number, digits: length) == expected)
    }

    @Test("belongs to one verification, user, device, number and key")
    func separation() throws {
        let other = UUID()
        let codes = [
            try digits(digits: 10), try digits(version: 2, digits: 10), try digits(number: "+14155552670", digits: 10),
            try digits(verification: PhoneVerificationID(other), digits: 10),
            try digits(user: UserID(other), digits: 10), try digits(device: DeviceID(other), digits: 10),
        ]
        #expect(Set(codes).count == codes.count)
    }

    @Test("has no favourites: tens of thousands of codes fall evenly on ten classes")
    func evenness() throws {
        let keys = try #require(PhoneCodeKeys([1: secret]))
        let (user, device) = (try #require(user), try #require(device))
        var classes = [Int](repeating: 0, count: 10)
        var generator = SeededGenerator(state: 42)
        let count = Soak.count(40_000, soak: 200_000)
        for _ in 0..<count {
            let id = PhoneVerificationID(generator.uuid())
            let code = keys.code(
                version: 1, verification: id, user: user, device: device, e164: "+14155552671", digits: 6)
            let number = try #require(code.flatMap { Int($0.digits.reveal()) })
            classes[number / 100_000] += 1
        }
        // Chi-squared with nine degrees of freedom: 33.7 is passed by chance once in 10,000 times; the seed is fixed.
        let chiSquared = classes.reduce(0.0) { $0 + pow(Double($1) - Double(count) / 10, 2) / (Double(count) / 10) }
        #expect(chiSquared < 33.7)
    }

    @Test("is matched by its own digits alone, and prints as nothing")
    func matching() throws {
        let keys = try #require(PhoneCodeKeys([1: secret]))
        let (id, user, device) = (try #require(verification), try #require(user), try #require(device))
        let derived = keys.code(
            version: 1, verification: id, user: user, device: device, e164: "+14155552671", digits: 6)
        let code = try #require(derived)
        for right in [
            "749301", " 749301", "749 301", "749-301", "749–301", "7 4 9 3 0 1", "749\u{00A0}301\n", "７４９３０１", "٧٤٩٣٠١",
            "۷۴۹۳۰۱", "७४९३०१", "\u{200F}٧٤٩ ٣٠١\u{200E}", "\u{2068}749301\u{2069}",
        ] {
            #expect(code.matches(PhoneCode.Submitted(right)), "\(right)")
        }
        let blanks = String(repeating: " ", count: 64)
        for wrong in ["749302", "74930", "7493011", "", "749301x", "749+301", "⑦④⑨③⓪①", "七四九三〇一", "749301" + blanks] {
            #expect(!code.matches(PhoneCode.Submitted(wrong)), "\(wrong)")
        }
        #expect(!"\(code)".contains("749301"))
        let unknown = keys.code(
            version: 3, verification: id, user: user, device: device, e164: "+14155552671", digits: 6)
        #expect(unknown == nil)
        #expect(PhoneCodeKeys([:]) == nil)
    }

    @Test("A version that another node has already is read from the file when it is met")
    func readAgain() throws {
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let both: @Sendable () -> PhoneCodeKeys.Secrets = { [1: secret, 2: secret] }
        let old = try #require(PhoneCodeKeys([1: secret], readAgain: both))
        let new = try #require(PhoneCodeKeys([1: secret, 2: secret]))
        func code(_ keys: PhoneCodeKeys, _ version: Int) -> String? {
            let id = "00000000-0000-4000-8000-000000000001"[...]
            guard let verification = PhoneVerificationID(id), let user = UserID(id), let device = DeviceID(id) else {
                return nil
            }
            return keys.code(
                version: version, verification: verification, user: user, device: device, e164: "+14155552671",
                digits: 6)?.digits.reveal()
        }
        #expect(old.currentVersion == 1)
        #expect(code(old, 2) != nil && code(old, 2) == code(new, 2))
        #expect(old.currentVersion == 2)
        #expect(old.fingerprints == new.fingerprints)
        #expect(code(old, 3) == nil)
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func uuid() -> UUID {
        let words = (next(), next())
        return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
