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

        init(_ detail: String) {
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
    }

    private static func time(_ value: CBORValue?) -> Date? {
        guard let seconds = value?.number, seconds < 253_402_300_800 else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// The status of a credential.
    ///
    /// - Parameter signer: the signer that ``certificates`` prove, with the root of the credential's own signer.
    func status(
        of reference: StatusReference, signer: Result<CredentialSigner, PresentationDefect>, now: Date
    ) -> CredentialStatus {
        do throws(Defect) {
            return try verifiedStatus(of: reference, signer: signer, now: now)
        } catch {
            return .unknown(error.detail)
        }
    }

    private func verifiedStatus(
        of reference: StatusReference, signer: Result<CredentialSigner, PresentationDefect>, now: Date
    ) throws(Defect) -> CredentialStatus {
        switch signer {
        case .success(let signer):
            guard isSigned(by: signer) else { throw Defect("The signature of the status list does not verify.") }
        case .failure(let defect): throw Defect("The status list has no trusted signer. \(defect.detail)")
        }
        guard let subject, subject.hasSameBytes(as: reference.uri) else {
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
        return try value(at: reference.index)
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

    /// The lowest bits of a byte are the first status in it.
    private func value(at index: Int) throws(Defect) -> CredentialStatus {
        let list: [UInt8]
        do throws(InflateDefect) {
            list = try Inflate.zlib(compressed[...], upTo: Self.maximumDecompressed)
        } catch {
            throw Defect("The status list cannot be decompressed: \(ErrorWords.of(error)).")
        }
        let (byte, place) = index.quotientAndRemainder(dividingBy: 8 / bits)
        guard index >= 0, byte < list.count else { throw Defect("The status list ends before the credential's index.") }
        switch list[byte] >> UInt8(place * bits) & UInt8(truncatingIfNeeded: 1 << bits - 1) {
        case 0: return .valid
        case 1: return .revoked
        case 2: return .suspended
        default: throw Defect("The credential has a status that is neither valid, revoked nor suspended.")
        }
    }
}
