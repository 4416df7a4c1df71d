import Authority
import Encoding
import Fixtures
import Foundation
import Testing

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Runs a program that must succeed, and gives what it wrote.
@discardableResult
func expectSuccess(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Command.Result {
    let result = try await Command.run(executable, arguments, environment: environment)
    #expect(result.status == 0, "\(result.output)\(result.errors)", sourceLocation: sourceLocation)
    return result
}

/// The seconds of a time, as OpenSSL's `-attime` takes them.
func seconds(_ date: Date) -> String {
    String(Int(date.timeIntervalSince1970))
}

extension CertificateAuthority {
    /// Signs a revocation list of these certificates, in this order.
    func issueRevocationList(
        _ revoked: [RevokedCertificate], number: UInt64, thisUpdate: Date, nextUpdate: Date
    ) throws -> RevocationList {
        var entries = try RevocationListEntries()
        for certificate in revoked { try entries.append(certificate) }
        return try issueRevocationList(entries, number: number, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    }
}

extension RevocationList {
    /// The list in PEM (RFC 7468 §6).
    var pem: String { PEM.encode(der, label: "X509 CRL") }
}
