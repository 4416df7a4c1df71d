import Domain
import Foundation

/// Bends texts at random, the same way for the same seed.
struct Mutation {
    var random: SplitMix64

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let foreign = Array("=.+/ \n\t\0\u{7F}{}\"\\,:[]".utf8)

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    private mutating func character() -> UInt8 {
        let set = Int.random(in: 0..<8, using: &random) == 0 ? Self.foreign : Self.alphabet
        return set[Int.random(in: 0..<set.count, using: &random)]
    }

    private mutating func index(in bytes: [UInt8]) -> Int {
        Int.random(in: 0..<max(bytes.count, 1), using: &random)
    }

    /// Changes, drops, adds, doubles or moves some bytes; the result differs from the text.
    mutating func bend(_ text: String) -> String {
        var bytes = Array(text.utf8)
        repeat {
            for _ in 0...Int.random(in: 0...2, using: &random) {
                guard !bytes.isEmpty else {
                    bytes.append(character())
                    continue
                }
                let place = index(in: bytes)
                switch Int.random(in: 0..<7, using: &random) {
                case 0, 1, 2: bytes[place] = character()
                case 3: bytes.remove(at: place)
                case 4: bytes.insert(character(), at: place)
                case 5: bytes.swapAt(place, index(in: bytes))
                default:
                    bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
                }
            }
        } while bytes.elementsEqual(text.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Bends the last character of a base64url text so that a lenient decoder reads the same bytes; `nil` where its
    /// length leaves no bits over.
    func respell(_ text: String) -> String? {
        guard text.utf8.count % 4 != 0, let last = text.utf8.last, let value = Self.alphabet.firstIndex(of: last) else {
            return nil
        }
        return text.dropLast() + String(decoding: [Self.alphabet[value ^ 1]], as: UTF8.self)
    }
}
