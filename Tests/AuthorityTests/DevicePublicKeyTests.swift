import Authority
import Domain
import Encoding
import Fixtures
import Foundation
import SwiftASN1
import Testing

@Suite("A device's public key")
struct DevicePublicKeyTests {
    @Test("with a modulus made as CVE-2017-15361 describes is weak")
    func brokenGenerator() throws {
        let modulus = Natural.fingerprintedModulus()
        try #require(modulus.count == 256)
        #expect(ROCA.isFingerprinted(modulus: modulus))
        #expect(throws: Refusal(.invalidCSR, "", reason: .weakKey)) {
            try DevicePublicKey(subjectPublicKeyInfo: Self.rsa(modulus: modulus))
        }
    }

    @Test("with a modulus of any other making carries no fingerprint")
    func otherModuli() {
        var generator = SeededGenerator(seed: 15_361)
        for _ in 0..<2000 {
            let modulus = (0..<256).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(!ROCA.isFingerprinted(modulus: modulus))
        }
        var next = Natural.fingerprintedModulus()
        next[next.count - 1] &+= 2
        #expect(!ROCA.isFingerprinted(modulus: next))
    }

    @Test(
        "is RSA of 2048 to 4096 bits with exponent 65537",
        arguments: [
            (2047, [1, 0, 1], "weak_key"), (2048, [1, 0, 1], nil), (4096, [1, 0, 1], nil),
            (4097, [1, 0, 1], "unsupported_key"), (2048, [3], "weak_key"), (2048, [1, 0, 3], "weak_key"),
            (2048, [1, 0, 0, 0, 1], "weak_key"),
        ] as [(Int, [UInt8], String?)])
    func sizes(bits: Int, exponent: [UInt8], reason: String?) {
        var generator = SeededGenerator(seed: UInt64(bits))
        var modulus = (0..<(bits + 7) / 8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let top = (bits - 1) % 8
        modulus[0] = modulus[0] & ((1 << top) - 1) | 1 << top
        modulus[modulus.count - 1] |= 1
        let bytes = Self.rsa(modulus: modulus, exponent: exponent)
        if let reason {
            #expect(throws: Refusal(.invalidCSR, "", reason: Refusal.Reason(rawValue: reason))) {
                try DevicePublicKey(subjectPublicKeyInfo: bytes)
            }
        } else {
            #expect(throws: Never.self) { try DevicePublicKey(subjectPublicKeyInfo: bytes) }
        }
    }

    @Test("with an even modulus is weak, and off its curve malformed")
    func impossibleKeys() {
        let even = [UInt8](repeating: 0xFE, count: 256)
        #expect(throws: Refusal(.invalidCSR, "", reason: .weakKey)) {
            try DevicePublicKey(subjectPublicKeyInfo: Self.rsa(modulus: even))
        }
        var point = Self.p256Prefix + [0x04] + [UInt8](repeating: 7, count: 64)
        #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
            try DevicePublicKey(subjectPublicKeyInfo: point)
        }
        point = Self.p256Prefix + [0x04] + [UInt8](repeating: 7, count: 63)
        #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
            try DevicePublicKey(subjectPublicKeyInfo: point)
        }
    }

    /// What stands before the point in a P-256 SubjectPublicKeyInfo.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private static func rsa(modulus: [UInt8], exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = content.count
            return count < 128
                ? [tag, UInt8(count)] + content : [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
        }
        func integer(_ bytes: [UInt8]) -> [UInt8] { node(0x02, (bytes[0] > 127 ? [0] : []) + bytes) }
        let key = node(0x30, integer(modulus) + integer(exponent))
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        return node(0x30, algorithm + node(0x03, [0] + key))
    }
}

/// Natural numbers, least significant 32 bits first: enough arithmetic to make a modulus as the broken library did.
private struct Natural {
    var limbs: [UInt32]

    static func * (left: Natural, right: Natural) -> Natural {
        var product = [UInt32](repeating: 0, count: left.limbs.count + right.limbs.count)
        for (i, a) in left.limbs.enumerated() {
            var carry: UInt64 = 0
            for (j, b) in right.limbs.enumerated() {
                carry += UInt64(a) * UInt64(b) + UInt64(product[i + j])
                product[i + j] = UInt32(truncatingIfNeeded: carry)
                carry >>= 32
            }
            product[i + right.limbs.count] = UInt32(carry)
        }
        return Natural(limbs: product)
    }

    static func + (left: Natural, right: Natural) -> Natural {
        var sum: [UInt32] = []
        var carry: UInt64 = 0
        for index in 0..<max(left.limbs.count, right.limbs.count) {
            carry += index < left.limbs.count ? UInt64(left.limbs[index]) : 0
            carry += index < right.limbs.count ? UInt64(right.limbs[index]) : 0
            sum.append(UInt32(truncatingIfNeeded: carry))
            carry >>= 32
        }
        return Natural(limbs: sum + [UInt32(carry)])
    }

    var bigEndian: [UInt8] {
        let bytes = limbs.reversed().flatMap { limb in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: limb >> UInt32($0)) }
        }
        return Array(bytes.drop { $0 == 0 })
    }

    /// `k·M + 65537^a`, which is `k'·M + (65537^a mod M)` for some `k'`; `M` is the product of the first 39 primes.
    private static func prime(power: Int, using generator: inout SeededGenerator) -> Natural {
        let primes = (2...167).filter { candidate in !(2..<candidate).contains { candidate % $0 == 0 } }
        let product = primes.reduce(Natural(limbs: [1])) { $0 * Natural(limbs: [UInt32($1)]) }
        let residue = (0..<power).reduce(Natural(limbs: [1])) { result, _ in result * Natural(limbs: [65_537]) }
        var factor = Natural(limbs: (0..<26).map { _ in UInt32.random(in: .min ... .max, using: &generator) })
        factor.limbs[25] &= 63
        return factor * product + residue
    }

    /// The product of two such numbers, 2048 bits long.
    static func fingerprintedModulus() -> [UInt8] {
        var generator = SeededGenerator(seed: 2017)
        for _ in 0..<200 {
            let (p, q) = (prime(power: 11, using: &generator), prime(power: 23, using: &generator))
            let modulus = (p * q).bigEndian
            if modulus.count == 256, modulus[0] > 127 { return modulus }
        }
        return []
    }
}
