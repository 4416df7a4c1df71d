import Authority
import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// Mints attestations and assertions of App Attest, with the faults that its properties make.
package struct AppAttestMint: Sendable {
    package static let app = "ABCDE12345.com.example.app"

    package let rootKey = P384.Signing.PrivateKey()
    package let intermediateKey = P384.Signing.PrivateKey()
    package var deviceKey = P256.Signing.PrivateKey()
    package let now: Date
    package var app = AppAttestMint.app
    package var format = "apple-appattest"
    package var environment = "appattest"
    package var counter: UInt32 = 0
    package var flags: UInt8 = 0x40
    /// The key and the identifier in the credential; `nil` for those of the device's key.
    package var credentialKey: P256.Signing.PrivateKey?
    package var credentialID: [UInt8]?
    /// The bytes of the leaf's extension before the nonce.
    package var extensionStart: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
    package var (leafUntil, intermediateUntil): (Date, Date)
    package var isIntermediateAuthority = true
    package var intermediateUsage: KeyUsage?
    /// The key that signs the leaf instead of the intermediate's.
    package var leafSigner: P384.Signing.PrivateKey?
    /// Changes the leaf after it was signed.
    package var changingLeaf: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    /// The names of issuers, where they are not those of the certificates above.
    package var (leafIssuer, intermediateIssuer): (String, String) = ("CA 1", "Root")
    /// Further extensions of the two certificates.
    package var (leafExtensions, intermediateExtensions): ([Certificate.Extension], [Certificate.Extension]) = ([], [])

    package init(now: Date = TestAuthority.referenceTime) {
        self.now = now
        (leafUntil, intermediateUntil) = (now + 3 * 86_400, now + 3_000 * 86_400)
    }

    /// The root's certificate in DER.
    package func root() throws -> [UInt8] {
        let name = AttestationCertificate.name("Root")
        return try AttestationCertificate.make(
            name, by: name, key: .init(rootKey.publicKey), with: .init(rootKey), from: now - 86_400,
            until: now + 3_650 * 86_400, isAuthority: true)
    }

    /// The name that the device gives its key.
    package var keyID: Digest256 { Digest256.of(deviceKey.publicKey.x963Representation) }

    /// What `attestKey` returns.
    package func object(_ digest: Digest256) throws -> [UInt8] {
        let data = try authenticatorData()
        let nonce = Digest256.of(data + digest.bytes)
        let nonceExtension = Certificate.Extension(
            oid: [1, 2, 840, 113_635, 100, 8, 2], critical: false, value: (extensionStart + nonce.bytes)[...])
        let intermediate = AttestationCertificate.name("CA 1")
        let leaf = try AttestationCertificate.make(
            AttestationCertificate.name("leaf"), by: AttestationCertificate.name(leafIssuer),
            key: .init(deviceKey.publicKey), with: .init(leafSigner ?? intermediateKey), from: now - 86_400,
            until: leafUntil,
            [nonceExtension] + leafExtensions)
        let above = try AttestationCertificate.make(
            intermediate, by: AttestationCertificate.name(intermediateIssuer), key: .init(intermediateKey.publicKey),
            with: .init(rootKey), from: now - 86_400, until: intermediateUntil, isAuthority: isIntermediateAuthority,
            usage: intermediateUsage,
            intermediateExtensions)
        let statement: [CBORKey: CBORValue] = [
            "x5c": .array([.bytes(changingLeaf(leaf)[...]), .bytes(above[...])]), "receipt": .bytes([0x30, 0x80]),
        ]
        return CBORValue.map([
            "fmt": .text(format), "attStmt": .map(statement), "authData": .bytes(data[...]),
        ]).encoded
    }

    /// What `generateAssertion` returns.
    package func assertion(_ digest: Digest256, app: String = app, counter: UInt32) throws -> [UInt8] {
        let data = Self.head(app, 0x40, counter)
        let signature = try deviceKey.signature(for: Digest256.of(data + digest.bytes).bytes)
        return CBORValue.map([
            "signature": .bytes(Array(signature.derRepresentation)[...]), "authenticatorData": .bytes(data[...]),
        ]).encoded
    }

    private func authenticatorData() throws -> [UInt8] {
        let environment = Array(environment.utf8)
        let key = try PublicKey(
            subjectPublicKeyInfo: Array((credentialKey ?? deviceKey).publicKey.derRepresentation))
        guard case .map(var members)? = key.coseKey else { return [] }
        members[3] = .negative(6)
        return Self.head(app, flags, counter) + environment
            + [UInt8](repeating: 0, count: max(0, 16 - environment.count)) + [0, 32] + (credentialID ?? keyID.bytes)
            + CBORValue.map(members).encoded
    }

    private static func head(_ app: String, _ flags: UInt8, _ counter: UInt32) -> [UInt8] {
        Digest256.of(app).bytes + [flags] + withUnsafeBytes(of: counter.bigEndian) { Array($0) }
    }
}
