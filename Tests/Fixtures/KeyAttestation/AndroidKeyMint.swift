import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// Mints chains of Android's Key Attestation, with the faults that its properties make.
package struct AndroidKeyMint: Sendable {
    package static let package = "com.example.app"
    package static let signer = Digest256.of("the certificate that signs the app")

    package let rootKey = P384.Signing.PrivateKey()
    package let intermediateKey = P384.Signing.PrivateKey()
    package let batchKey = P256.Signing.PrivateKey()
    package var deviceKey = P256.Signing.PrivateKey()
    package let now: Date
    /// Whether the key was provisioned remotely; if not, in the factory.
    package var isRemote = true
    /// What an authority from the factory is for.
    package var factoryTitle = "TEE"
    package var hasRoot = false
    package var rootUntil: Date
    package var (intermediateFrom, intermediateUntil): (Date, Date)
    package var (batchFrom, batchUntil): (Date, Date)
    package var (leafFrom, leafUntil): (Date, Date)
    /// The names of issuers, where they are not those of the certificates above.
    package var (intermediateIssuer, batchIssuer, leafIssuer): (String?, String?, String?)
    /// How many authorities may be below the intermediate one.
    package var pathLength: Int?
    package var isBatchAuthority = true
    package var batchUsage: KeyUsage?
    /// Further extensions of the certificates from the key's own on.
    package var extensions: [[Certificate.Extension]] = [[], [], []]
    package var batchSerial: [UInt8] = TestAuthority.serial()
    package var (attestationLevel, keyLevel) = (1, 1)
    package var uniqueID: [UInt8] = []
    package var (isLocked, bootState) = (true, 0)
    package var origin: Int? = 0
    package var purposes = [2, 3]
    package var patchLevel: Int? = 202_603
    package var package = AndroidKeyMint.package
    package var signer = AndroidKeyMint.signer
    /// Tags of the hardware's list with text, such as 714 for an IMEI.
    package var identifiers: [UInt] = []
    /// Which lists say that every app may use the key.
    package var isForAllApplications = (software: false, hardware: false)
    /// Whether the operating system names the app.
    package var hasApplication = true
    /// Whether the operating system says what the hardware has to say.
    package var isBootOfSoftware = false

    package init(now: Date = TestAuthority.referenceTime) {
        self.now = now
        rootUntil = now + 3_650 * 86_400
        (intermediateFrom, intermediateUntil) = (now - 86_400, now + 3_000 * 86_400)
        (batchFrom, batchUntil) = (now - 86_400, now + 30 * 86_400)
        (leafFrom, leafUntil) = (Date(timeIntervalSince1970: 0), now + 7_300 * 86_400)
    }

    private static let root = AttestationCertificate.name("Root")

    /// The root's certificate in DER.
    package func root() throws -> [UInt8] {
        try AttestationCertificate.make(
            Self.root, by: Self.root, key: .init(rootKey.publicKey), with: .init(rootKey), from: now - 7_300 * 86_400,
            until: rootUntil, isAuthority: true)
    }

    /// What the key store returns: certificates in DER, the key's own first.
    ///
    /// - Parameter key: a key that was made elsewhere; `nil` for the device's.
    package func chain(_ digest: Digest256, of key: P256.Signing.PublicKey? = nil) throws -> [[UInt8]] {
        let (intermediate, batch) = (
            isRemote
                ? AttestationCertificate.name("CA 2", organization: "Google LLC")
                : AttestationCertificate.factoryName(title: factoryTitle),
            AttestationCertificate.name("batch", organization: isRemote ? "TEE" : "Example")
        )
        let rest = try [
            AttestationCertificate.make(
                batch, by: Self.name(batchIssuer, or: intermediate), key: .init(batchKey.publicKey),
                with: .init(intermediateKey), serial: batchSerial, from: batchFrom, until: batchUntil,
                isAuthority: isBatchAuthority, usage: batchUsage, extensions[1]),
            AttestationCertificate.make(
                intermediate, by: Self.name(intermediateIssuer, or: Self.root), key: .init(intermediateKey.publicKey),
                with: .init(rootKey), from: intermediateFrom, until: intermediateUntil, isAuthority: true,
                pathLength: pathLength, extensions[2]),
        ]
        let leaf = try leaf(
            of: key ?? deviceKey.publicKey, by: Self.name(leafIssuer, or: batch), .init(batchKey), digest)
        return try [leaf] + rest + (hasRoot ? [root()] : [])
    }

    private static func name(_ wrong: String?, or right: DistinguishedName) -> DistinguishedName {
        wrong.map { AttestationCertificate.name($0) } ?? right
    }

    /// The certificate of another key, signed with the device's key, before a true chain.
    package func extendedChain(_ digest: Digest256, by other: P256.Signing.PrivateKey) throws -> [[UInt8]] {
        try [
            leaf(of: other.publicKey, by: AttestationCertificate.name("Android Keystore Key"), .init(deviceKey), digest)
        ] + chain(digest)
    }

    private func leaf(
        of key: P256.Signing.PublicKey, by issuer: DistinguishedName, _ signing: Certificate.PrivateKey,
        _ digest: Digest256
    ) throws -> [UInt8] {
        let description = Certificate.Extension(
            oid: [1, 3, 6, 1, 4, 1, 11_129, 2, 1, 17], critical: false, value: try description(digest)[...])
        return try AttestationCertificate.make(
            AttestationCertificate.name("Android Keystore Key"), by: issuer, key: .init(key), with: signing,
            serial: [1], from: leafFrom, until: leafUntil, [description] + extensions[0])
    }

    private func description(_ digest: Digest256) throws -> [UInt8] {
        var document = DER.Serializer()
        try document.appendConstructedNode(identifier: .sequence) { fields in
            try fields.serialize(300)
            try attestationLevel.serialize(into: &fields, withIdentifier: .enumerated)
            try fields.serialize(300)
            try keyLevel.serialize(into: &fields, withIdentifier: .enumerated)
            try fields.serialize(ASN1OctetString(contentBytes: digest.bytes[...]))
            try fields.serialize(ASN1OctetString(contentBytes: uniqueID[...]))
            try fields.appendConstructedNode(identifier: .sequence) { software in
                if isForAllApplications.software { try tagged(600, in: &software) { try $0.serialize(ASN1Null()) } }
                if isBootOfSoftware { try appendBoot(to: &software) }
                if hasApplication {
                    try tagged(709, in: &software) {
                        try $0.serialize(ASN1OctetString(contentBytes: try application()[...]))
                    }
                }
            }
            try fields.appendConstructedNode(identifier: .sequence) { try appendHardware(to: &$0) }
        }
        return document.serializedBytes
    }

    private func appendHardware(to list: inout DER.Serializer) throws {
        try tagged(1, in: &list) { list in
            try list.appendConstructedNode(identifier: .set) { for purpose in purposes { try $0.serialize(purpose) } }
        }
        if isForAllApplications.hardware { try tagged(600, in: &list) { try $0.serialize(ASN1Null()) } }
        if let origin { try tagged(702, in: &list) { try $0.serialize(origin) } }
        if !isBootOfSoftware { try appendBoot(to: &list) }
        if let patchLevel { try tagged(706, in: &list) { try $0.serialize(patchLevel) } }
        for identifier in identifiers {
            try tagged(identifier, in: &list) {
                try $0.serialize(ASN1OctetString(contentBytes: Array("sample".utf8)[...]))
            }
        }
    }

    private func appendBoot(to list: inout DER.Serializer) throws {
        try tagged(704, in: &list) { list in
            try list.appendConstructedNode(identifier: .sequence) { fields in
                try fields.serialize(ASN1OctetString(contentBytes: [UInt8](repeating: 7, count: 32)[...]))
                try fields.serialize(isLocked)
                try bootState.serialize(into: &fields, withIdentifier: .enumerated)
                try fields.serialize(ASN1OctetString(contentBytes: [UInt8](repeating: 8, count: 32)[...]))
            }
        }
    }

    private func application() throws -> [UInt8] {
        var document = DER.Serializer()
        try document.appendConstructedNode(identifier: .sequence) { fields in
            try fields.appendConstructedNode(identifier: .set) { packages in
                try packages.appendConstructedNode(identifier: .sequence) {
                    try $0.serialize(ASN1OctetString(contentBytes: Array(package.utf8)[...]))
                    try $0.serialize(1)
                }
            }
            try fields.appendConstructedNode(identifier: .set) {
                try $0.serialize(ASN1OctetString(contentBytes: signer.bytes[...]))
            }
        }
        return document.serializedBytes
    }

    private func tagged(
        _ number: UInt, in list: inout DER.Serializer, _ content: (inout DER.Serializer) throws -> Void
    ) throws {
        try list.appendConstructedNode(
            identifier: ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific), content)
    }
}
