import Crypto
import Fixtures
import Foundation
import SwiftASN1
import X509

/// What may be wrong with a path of certificates (RFC 5280 §6.1): with its target, or with the authority above it.
enum BadPath: CaseIterable {
    case targetExpired
    case targetNotYetValid
    case authorityExpired
    case authorityNotYetValid
    /// Another issuer is named than the subject of the next certificate.
    case targetIssuer
    case authorityIssuer
    /// Another key of the same name signed it.
    case targetSignature
    case notAnAuthority
    case mayNotCertify
    /// There is one more authority than the path length permits.
    case tooLong
    case unknownInTarget
    case unknownInAuthority
    case nameConstraints
    /// The target has other bytes that say the same.
    case respelled
}

/// A root, an authority and a target with one fault.
struct BadPathSpecimen {
    let now = TestAuthority.referenceTime
    let rootKey = P256.Signing.PrivateKey()
    let authorityKey = P256.Signing.PrivateKey()
    let belowKey = P256.Signing.PrivateKey()
    let targetKey = P256.Signing.PrivateKey()
    let fault: BadPath?

    init(_ fault: BadPath?) {
        self.fault = fault
    }

    private static let name = AttestationCertificate.name("Authority")
    private static let below = AttestationCertificate.name("Below")
    private static let rootName = AttestationCertificate.name("Root")
    private static let other = AttestationCertificate.name("Other")

    func root() throws -> [UInt8] {
        try AttestationCertificate.make(
            Self.rootName, by: Self.rootName, key: .init(rootKey.publicKey), with: .init(rootKey),
            from: now - 86_400, until: now + 86_400, isAuthority: true)
    }

    /// The authority, which may sign targets and no authorities.
    ///
    /// - Parameter isRoot: whether it signs itself.
    func authority(isRoot: Bool) throws -> [UInt8] {
        var extensions: [Certificate.Extension] = []
        if fault == .unknownInAuthority { extensions.append(AttestationCertificate.unknown) }
        if fault == .nameConstraints { extensions.append(AttestationCertificate.nameConstraints) }
        return try AttestationCertificate.make(
            Self.name, by: fault == .authorityIssuer ? Self.other : isRoot ? Self.name : Self.rootName,
            key: .init(authorityKey.publicKey), with: .init(isRoot ? authorityKey : rootKey),
            from: fault == .authorityNotYetValid ? now + 60 : now - 86_400,
            until: fault == .authorityExpired ? now - 60 : now + 86_400, isAuthority: fault != .notAnAuthority,
            pathLength: 0,
            usage: fault == .mayNotCertify
                ? KeyUsage(digitalSignature: true) : KeyUsage(keyCertSign: true, cRLSign: true), extensions)
    }

    /// The target's certificate, and that of an authority between if the path is too long.
    ///
    /// - Parameter purpose: that of the extended key usage.
    func targets(_ purpose: ExtendedKeyUsage.Usage?, named subject: DistinguishedName) throws -> [[UInt8]] {
        var extensions: [Certificate.Extension] = []
        if let purpose { extensions.append(try ExtendedKeyUsage([purpose]).makeCertificateExtension()) }
        if fault == .unknownInTarget { extensions.append(AttestationCertificate.unknown) }
        let (issuer, key) = fault == .tooLong ? (Self.below, belowKey) : (Self.name, authorityKey)
        let signing = fault == .targetSignature ? P256.Signing.PrivateKey() : key
        func target() throws -> [UInt8] {
            try AttestationCertificate.make(
                subject, by: fault == .targetIssuer ? Self.other : issuer, key: .init(targetKey.publicKey),
                with: .init(signing), from: fault == .targetNotYetValid ? now + 60 : now - 86_400,
                until: fault == .targetExpired ? now - 60 : now + 86_400, extensions)
        }
        let made = fault == .respelled ? try Self.respelled(target) : try target()
        guard fault == .tooLong else { return [made] }
        let between = try AttestationCertificate.make(
            Self.below, by: Self.name, key: .init(belowKey.publicKey), with: .init(authorityKey), from: now - 86_400,
            until: now + 86_400, isAuthority: true)
        return [made, between]
    }

    /// A certificate whose signature says of its last bit, which is zero, that it is unused.
    static func respelled(_ make: () throws -> [UInt8]) throws -> [UInt8] {
        for _ in 0..<200 {
            if let changed = respelled(try make()) { return changed }
        }
        throw Unchanged()
    }

    struct Unchanged: Error {}

    /// `nil` if the last bit is one.
    static func respelled(_ certificate: [UInt8]) -> [UInt8]? {
        guard let last = certificate.last, last & 1 == 0 else { return nil }
        let place = certificate.indices.dropLast(2).last { place in
            certificate[place] == 3 && Int(certificate[place + 1]) == certificate.count - place - 2
                && certificate[place + 2] == 0
        }
        guard let place else { return nil }
        var changed = certificate
        changed[place + 2] = 1
        return changed
    }
}
