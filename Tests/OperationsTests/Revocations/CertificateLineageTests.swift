import Domain
import Encoding
import Foundation
import Testing

@testable import Operations

@Suite("How the certificates of a device follow from each other")
struct CertificateLineageTests {
    private static let device = DeviceID(UUID())

    private static func certificate(_ serial: String, key: String, replaces: String?) -> DeviceCertificate {
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        return DeviceCertificate(
            serial: serial, thumbprint: Digest256.of("certificate \(serial)"), deviceID: device,
            keyHash: Digest256.of(key), notBefore: time, notAfter: time + 60, issuedAt: time, replaces: replaces,
            firstSeenAt: nil, revoked: nil)
    }

    /// a renewed with the same key, then with another, then twice from there.
    private static let lineage = CertificateLineage([
        certificate("e", key: "3", replaces: "c"), certificate("a", key: "1", replaces: nil),
        certificate("b", key: "1", replaces: "a"), certificate("c", key: "2", replaces: "b"),
        certificate("d", key: "2", replaces: "c"), certificate("z", key: "9", replaces: "gone"),
    ])

    @Test(
        "The successors of one are its renewals and theirs",
        arguments: [("a", "bcde"), ("b", "cde"), ("c", "de"), ("d", ""), ("z", ""), ("unknown", "")])
    func successors(serial: String, expected: String) {
        #expect(Self.lineage.successors(of: serial).map(\.serial).joined() == expected)
    }

    @Test(
        "Whoever holds a key may have all of that key, and all that was renewed from them",
        arguments: [
            ("a", "abcde"), ("b", "abcde"), ("c", "cde"), ("d", "cde"), ("e", "e"), ("z", "z"), ("unknown", ""),
        ])
    func compromised(serial: String, expected: String) {
        #expect(Self.lineage.compromised(by: serial).map(\.serial).joined() == expected)
    }

    @Test("Certificates that replace each other in a circle come to an end")
    func circle() {
        let lineage = CertificateLineage([
            Self.certificate("a", key: "1", replaces: "b"), Self.certificate("b", key: "2", replaces: "a"),
        ])
        #expect(lineage.successors(of: "a").map(\.serial) == ["b"])
        #expect(lineage.compromised(by: "b").map(\.serial) == ["a", "b"])
    }
}

@Suite("The networks that limits count")
struct SenderNetworksTests {
    private static let limits = NetworkLimits(perAddress: 1, per56: 2, per48: 3)

    @Test("around an IPv6 network of /64 are its /56 and its /48; an IPv4 address has none")
    func wider() {
        let counted = Self.limits.counted("32.1.13.184.0.1.2.3/64")
        #expect(counted.map(\.key) == ["32.1.13.184.0.1.2.3/64", "32.1.13.184.0.1.2/56", "32.1.13.184.0.1/48"])
        #expect(counted.map(\.limit) == [1, 2, 3])
        for key in ["192.0.2.1", "local", "", "/64", "1.2.3/64", "32.1.13.184.0.1.2.3/56"] {
            let counted = Self.limits.counted(key)
            #expect(counted.map(\.key) == [key] && counted.map(\.limit) == [1], "\(key)")
        }
    }
}
