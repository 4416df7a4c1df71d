import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Sealing")
struct SealingTests {
    private static func seal(_ text: String, _ key: DataKey) throws -> [UInt8] {
        try key.seal(text, in: .fullName, row: "1")
    }

    @Test("A sealed text opens in its own table, column and row, and nowhere else")
    func places() throws {
        let key = DataKey.generate()
        let sealed = try Self.seal("Ada Canary", key)
        #expect(try key.open(sealed, in: .fullName, row: "1") == "Ada Canary")
        let others = [
            ("users", "full_name", "1"), ("authenticated_users", "jurisdiction", "1"),
            ("authenticated_users", "full_name", "2"), ("authenticated_user", "sfull_name", "1"),
            ("authenticated_users", "full_nam", "e1"), ("authenticated_usersfull_name", "", "1"), ("", "", ""),
        ]
        for (table, column, row) in others {
            #expect(throws: SealingFailure.notAuthentic) {
                try key.open(sealed, in: SealedColumn(table: table, name: column), row: row)
            }
        }
        #expect(throws: SealingFailure.notAuthentic) {
            try DataKey.generate().open(sealed, in: .fullName, row: "1")
        }
    }

    @Test("Any text opens as it was, and two seals of one text share nothing")
    func texts() throws {
        let key = DataKey.generate()
        var random = SeededRandom(seed: 1)
        for length in [0, 1, 15, 16, 17, 255, 4096] {
            let text = String(
                (0..<length).map { _ in Character(UnicodeScalar(UInt8.random(in: 32...126, using: &random))) })
            let (first, second) = (try Self.seal(text, key), try Self.seal(text, key))
            #expect(first != second)
            #expect(first.count == text.utf8.count + 29)
            #expect(first[0] == 1)
            #expect(try key.open(first, in: .fullName, row: "1") == text)
        }
        let accented = "Zoë Ångström 𝔸"
        let sealed = try Self.seal(accented, key)
        #expect(try key.open(sealed, in: .fullName, row: "1") == accented)
    }

    @Test("A bit that is flipped anywhere, a byte more or less, and anything short are refused")
    func damage() throws {
        let key = DataKey.generate()
        let sealed = try Self.seal("Ada Canary", key)
        func isRefused(_ bytes: [UInt8]) -> Bool {
            (try? key.open(bytes, in: .fullName, row: "1")) == nil
        }
        #expect(!isRefused(sealed))
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(isRefused(changed), "bit \(bit) of byte \(index)")
            }
            #expect(isRefused(Array(sealed[..<index])), "the first \(index) bytes")
        }
        #expect(isRefused(sealed + [0]))
        #expect(isRefused([UInt8](repeating: 1, count: 29)))
    }

    @Test("A wrapped key opens for its own user under its own version, and nowhere else")
    func wrapping() throws {
        let (key, first, second) = (DataKey.generate(), SealedStore.key(1), SealedStore.key(2))
        let wrapped = try key.wrapped(under: first, version: 1, row: "user")
        let sealed = try Self.seal("Ada Canary", key)
        let again = try DataKey(wrapped: wrapped, under: first, version: 1, row: "user")
        #expect(try again.open(sealed, in: .fullName, row: "1") == "Ada Canary")
        for (wrappingKey, version, row) in [(first, 2, "user"), (first, 1, "other"), (second, 1, "user")] {
            #expect(throws: SealingFailure.notAuthentic) {
                try DataKey(wrapped: wrapped, under: wrappingKey, version: version, row: row)
            }
        }
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 0x80
            #expect(throws: SealingFailure.notAuthentic) {
                try DataKey(wrapped: changed, under: first, version: 1, row: "user")
            }
        }
    }

    @Test("Keys that are missing or of another length cannot be used")
    func unusableKeys() {
        let (good, short) = ([1: SealedStore.key(1)], [1: SymmetricKey(size: .bits128)])
        for (wrapping, index) in [([:], good), (good, [:]), (short, good), (good, short)] {
            #expect(throws: SealingFailure.unusableKeys) { try PersonalKeys(wrapping: wrapping, index: index) }
        }
    }

    @Test("A data key shows nothing of itself")
    func descriptions() {
        let key = DataKey.generate()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "••••")
        #expect(dumped == "- ••••\n")
    }

    @Test("Blind indexes are equal for equal things of one kind and version alone")
    func blindIndexes() throws {
        let (one, two) = (try SealedStore.keys(), try SealedStore.keys(index: [1, 2]))
        let number = "+14155552671"
        #expect(one.phoneIndex(number) == one.phoneIndex(number))
        #expect(
            Set(PersonalKeys.BlindIndexKind.allCases.map { one.blindIndex(number, $0) }).count
                == PersonalKeys.BlindIndexKind.allCases.count)
        #expect(one.phoneIndex(number) != one.phoneIndex("+14155552672"))
        #expect(two.phoneIndex(number) != one.phoneIndex(number))
        // The current version first, so that what is written anew and what is looked up first are the same.
        let indexes = two.phoneIndexes(number)
        #expect(indexes == [two.phoneIndex(number), one.phoneIndex(number)])
        #expect(one.phoneIndexes(number) == [one.phoneIndex(number)])
    }
}
