import Foundation
import SwiftASN1
import X509

/// A certificate that must no longer be trusted.
package struct RevokedCertificate: Sendable, Equatable {
    /// The serial number in hexadecimal, in the form of ``IssuedCertificate/serial``.
    let serial: String
    let revocationDate: Date
    let reason: RevocationReason

    package init(serial: String, revocationDate: Date, reason: RevocationReason) {
        self.serial = serial
        self.revocationDate = revocationDate
        self.reason = reason
    }
}

/// The entries of a list, encoded as they are added: a long list has no other form in memory.
package struct RevocationListEntries: Sendable {
    package private(set) var count = 0
    fileprivate private(set) var bytes: [UInt8] = []
    private let reasons: EncodedReasons
}

package extension RevocationListEntries {
    init() throws { reasons = try EncodedReasons() }

    /// Adds an entry. Add each serial once.
    ///
    /// - Throws: ``AuthorityError/invalidSerial`` for a serial that is not hexadecimal.
    mutating func append(_ certificate: RevokedCertificate) throws {
        var entry = DER.Serializer()
        try entry.append(certificate, reasons)
        bytes += entry.serializedBytes
        count += 1
    }
}

/// A certificate revocation list of version 2 (RFC 5280 §5), signed by the authority.
package struct RevocationList: Sendable {
    package let der: [UInt8]
    /// Its number, higher than those of all earlier lists of the authority (§5.2.3).
    let number: UInt64
    let thisUpdate: Date
    /// The time by which the next list is issued.
    let nextUpdate: Date
}

package extension CertificateAuthority {
    /// Signs a revocation list.
    ///
    /// - Parameters:
    ///   - revoked: every certificate that is revoked or superseded and has not expired; each serial once.
    ///   - number: higher than those of all earlier lists.
    ///   - thisUpdate: the time of signing.
    ///   - nextUpdate: when the list expires.
    /// - Throws: ``AuthorityError/module(_:)``.
    func issueRevocationList(
        _ revoked: RevocationListEntries, number: UInt64, thisUpdate: Date, nextUpdate: Date
    ) throws -> RevocationList {
        var list = DER.Serializer()
        try list.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(1)
            coder.serializeRawBytes(signingKey.algorithmIdentifier)
            try coder.serialize(certificate.subject)
            try coder.serialize(CertificateTime(thisUpdate))
            try coder.serialize(CertificateTime(nextUpdate))
            // §5.1.2.6: absent, not empty, if nothing is revoked.
            if revoked.count > 0 {
                coder.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(revoked.bytes) }
            }
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) { coder in
                try coder.serializeSequenceOf(try revocationListExtensions(number: number))
            }
        }
        return try RevocationList(
            der: signingKey.signed(list), number: number, thisUpdate: CertificateTime(thisUpdate).date,
            nextUpdate: CertificateTime(nextUpdate).date)
    }

    private func revocationListExtensions(number: UInt64) throws -> [EncodedExtension] {
        let identifier = try AuthorityKeyIdentifier(keyIdentifier: keyIdentifier).makeCertificateExtension()
        var numberBytes = DER.Serializer()
        try numberBytes.serialize(number)
        return [
            EncodedExtension(oid: identifier.oid, value: identifier.value),
            EncodedExtension(oid: [2, 5, 29, 20], value: numberBytes.serializedBytes[...]),
        ]
    }
}

/// A noncritical extension (RFC 5280 §4.1).
private struct EncodedExtension: DERSerializable {
    let oid: ASN1ObjectIdentifier
    let value: ArraySlice<UInt8>

    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(oid)
            try coder.serialize(ASN1OctetString(contentBytes: value))
        }
    }
}

/// The extensions of an entry, encoded once for each reason: a list has many entries and few reasons.
private struct EncodedReasons: Sendable {
    private let bytes: [RevocationReason: [UInt8]]

    init() throws {
        var bytes: [RevocationReason: [UInt8]] = [:]
        // §5.3.1: an unspecified reason is omitted.
        for reason in RevocationReason.allCases where reason != .unspecified {
            let enumerated: [UInt8] = [0x0A, 0x01, reason.code]
            var serializer = DER.Serializer()
            try serializer.serializeSequenceOf([EncodedExtension(oid: [2, 5, 29, 21], value: enumerated[...])])
            bytes[reason] = serializer.serializedBytes
        }
        self.bytes = bytes
    }

    subscript(_ reason: RevocationReason) -> [UInt8] { bytes[reason] ?? [] }
}

extension DER.Serializer {
    fileprivate mutating func append(_ certificate: RevokedCertificate, _ reasons: EncodedReasons) throws {
        let serial = Certificate.SerialNumber(bytes: try SerialNumber.bytes(certificate.serial))
        try appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(serial.bytes)
            try coder.serialize(CertificateTime(certificate.revocationDate))
            coder.serializeRawBytes(reasons[certificate.reason])
        }
    }
}
