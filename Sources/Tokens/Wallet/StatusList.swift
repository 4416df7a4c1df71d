import Domain
import Encoding
import Foundation

/// An issuer's list of the status of its credentials (Token Status List), parsed but not verified.
///
/// Credentials in JSON have lists that are JWTs, and mobile documents have lists that are CWTs (ISO/IEC 18013-5 2nd
/// edition §12.3.6.3).
package struct StatusList: Sendable {
    /// The certificates of the list's signer in DER. Nothing proves them yet.
    package let certificates: [[UInt8]]
    private let form: Form
    private let subject: String?
    private let issuedAt: Date?
    private let expiresAt: Date?
    private let hasExpiry: Bool
    /// For how long the issuer lets it be kept, seconds; `nil` if it says nothing.
    private let timeToLive: TimeInterval?
    /// Bits of one status: 1, 2, 4 or 8.
    private let bits: Int
    /// The statuses, compressed by zlib.
    private let compressed: [UInt8]

    private enum Form: Sendable {
        case jwt(UnverifiedToken)
        case cwt(COSESignature, payload: ArraySlice<UInt8>)
    }
}

package extension StatusList {
    /// Why a list cannot be used, as a sentence.
    struct Defect: Error, Sendable, Equatable {
        package let detail: String

        package init(_ detail: String) {
            self.detail = detail
        }
    }

    /// The longest list that is read, and the longest that it may be when it is decompressed, bytes.
    static let maximumLength = 2 << 20
    static let maximumDecompressed = 8 << 20
    /// How far clocks may differ, seconds.
    private static let clockSkew: TimeInterval = 60

    /// Parses the list of a credential's format.
    init(_ bytes: [UInt8], for format: RequestedCredential.Format) throws(Defect) {
        guard bytes.count <= Self.maximumLength else {
            throw Defect("The status list is longer than \(Self.maximumLength) bytes.")
        }
        switch format {
        case .mobileDocument: try self.init(cwt: bytes)
        case .selectiveDisclosure: try self.init(jwt: bytes)
        }
    }

    private init(jwt bytes: [UInt8]) throws(Defect) {
        let token: UnverifiedToken
        do throws(TokenDefect) {
            token = try UnverifiedToken(reading: String(decoding: bytes, as: UTF8.self), upTo: Self.maximumLength)
            if let defect = token.header.unsupportedDefect { throw defect }
            if let defect = token.header.typeDefect(required: true, among: ["statuslist+jwt"]) { throw defect }
        } catch {
            throw Defect("The status list is not a JWT of a status list. \(error.detail)")
        }
        guard let certificates = try? token.header.certificates() else {
            throw Defect("The certificates of the status list are not base64.")
        }
        let list = token.payload["status_list"]
        guard case .integer(let bits)? = list?["bits"], let text = list?["lst"]?.text,
            let compressed = Base64URL.decode(text), [1, 2, 4, 8].contains(bits)
        else { throw Defect("The status list has no bits of 1, 2, 4 or 8, or no lst in base64url.") }
        self.certificates = certificates
        form = .jwt(token)
        subject = token.payload["sub"]?.text
        issuedAt = SelectiveDisclosure.time("iat", in: token.payload)
        expiresAt = SelectiveDisclosure.time("exp", in: token.payload)
        hasExpiry = token.payload["exp"] != nil
        if case .integer(let seconds)? = token.payload["ttl"] {
            timeToLive = TimeInterval(seconds)
        } else {
            timeToLive = nil
        }
        self.bits = Int(bits)
        self.compressed = compressed
    }

    private init(cwt bytes: [UInt8]) throws(Defect) {
        guard let value = try? CBORReader.read(bytes[...], upTo: Self.maximumLength),
            let message = try? COSESignature(value), let payload = message.payload,
            let claims = try? CBORReader.read(payload, upTo: Self.maximumLength),
            let certificates = try? message.certificates
        else { throw Defect("The status list is not a CWT that is signed by COSE_Sign1.") }
        guard let type = message[Label.type]?.text,
            TokenHeader.mediaType(type).hasSameBytes(as: "statuslist+cwt")
        else { throw Defect("The type of the status list is not statuslist+cwt.") }
        let list = claims[Label.statusList]
        guard let bits = list?["bits"]?.number, let compressed = list?["lst"]?.bytes, [1, 2, 4, 8].contains(bits)
        else { throw Defect("The status list has no bits of 1, 2, 4 or 8, or no lst.") }
        self.certificates = certificates
        form = .cwt(message, payload: payload)
        subject = claims[Label.subject]?.text
        issuedAt = Self.time(claims[Label.issuedAt])
        expiresAt = Self.time(claims[Label.expiresAt])
        hasExpiry = claims[Label.expiresAt] != nil
        timeToLive = claims[Label.timeToLive]?.number.map { TimeInterval($0) }
        self.bits = Int(bits)
        self.compressed = Array(compressed)
    }

    /// The labels of RFC 9596 and RFC 8392, and that of a status list.
    private enum Label {
        static let type: CBORKey = 16
        static let subject: CBORKey = 2
        static let expiresAt: CBORKey = 4
        static let issuedAt: CBORKey = 6
        static let statusList: CBORKey = 65533
        static let timeToLive: CBORKey = 65534
    }

    private static func time(_ value: CBORValue?) -> Date? {
        guard let seconds = value?.number, seconds < 253_402_300_800 else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Verifies a list and decompresses it.
    ///
    /// - Parameters:
    ///   - uri: where the credential says that the list is.
    ///   - signer: the signer that ``certificates`` prove, with the root of the credential's own signer.
    func verified(
        at uri: String, signer: Result<CredentialSigner, PresentationDefect>, now: Date
    ) throws(Defect) -> Verified {
        let end: Date
        switch signer {
        case .success(let signer):
            guard isSigned(by: signer) else { throw Defect("The signature of the status list does not verify.") }
            end = signer.notAfter
        case .failure(let defect): throw Defect("The status list has no trusted signer. \(defect.detail)")
        }
        guard let subject, subject.hasSameBytes(as: uri) else {
            throw Defect("The sub of the status list is not the URI in the credential.")
        }
        guard let issuedAt, issuedAt <= now + Self.clockSkew else {
            throw Defect("The iat of the status list is missing or in the future.")
        }
        if hasExpiry {
            guard let expiresAt, expiresAt > now - Self.clockSkew else {
                throw Defect("The status list has expired, or its exp is not a time.")
            }
        }
        return Verified(
            lifetime: min(min(end, expiresAt ?? end).timeIntervalSince(now), timeToLive ?? .infinity), bits: bits,
            statuses: try statuses())
    }

    /// A list that a trusted signer signed, decompressed.
    struct Verified: Sendable {
        /// For how long it may be kept by its `exp` and `ttl` and its signer's certificate, seconds. It is not positive if
        /// only the tolerance for clocks lets it be used.
        package let lifetime: TimeInterval
        private let bits: Int
        private let statuses: [UInt8]

        init(lifetime: TimeInterval, bits: Int, statuses: [UInt8]) {
            (self.lifetime, self.bits, self.statuses) = (lifetime, bits, statuses)
        }

        /// Its length in memory, bytes.
        package var size: Int { statuses.count }

        /// Whether it has a status at an index.
        package func contains(_ index: Int) -> Bool { index >= 0 && index / (8 / bits) < statuses.count }

        /// The status of a credential. The lowest bits of a byte are the first status in it.
        package func status(at index: Int) -> CredentialStatus {
            guard contains(index) else { return .unknown("The status list ends before the credential's index.") }
            let (byte, place) = index.quotientAndRemainder(dividingBy: 8 / bits)
            return switch statuses[byte] >> UInt8(place * bits) & UInt8(truncatingIfNeeded: 1 << bits - 1) {
            case 0: .valid
            case 1: .revoked
            case 2: .suspended
            default: .unknown("The credential has a status that is neither valid, revoked nor suspended.")
            }
        }
    }

    private func isSigned(by signer: CredentialSigner) -> Bool {
        switch form {
        case .jwt(let token):
            guard let key = try? VerificationKey(signer.key, algorithm: nil) else { return false }
            return token.header.algorithm == key.algorithm.rawValue
                && key.isValid(signature: token.signature, over: token.signingInput)
        case .cwt(let message, let payload): return message.isValid(by: signer.key, over: payload)
        }
    }

    private func statuses() throws(Defect) -> [UInt8] {
        do throws(InflateDefect) {
            return try Inflate.zlib(compressed[...], upTo: Self.maximumDecompressed)
        } catch {
            throw Defect("The status list cannot be decompressed: \(ErrorWords.of(error)).")
        }
    }
}
