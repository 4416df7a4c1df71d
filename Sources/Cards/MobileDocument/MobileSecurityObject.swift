import Domain
import Encoding
import Foundation

/// What the issuer of a mobile document signs (`MobileSecurityObject`, ISO/IEC 18013-5 §9.1.2.4): digests of all
/// elements, the key of the device, and a time.
struct MobileSecurityObject: Sendable {
    let type: String
    let digestAlgorithm: DigestAlgorithm
    /// The digests by name space and number.
    private let digests: CBORValue
    let deviceKey: PublicKey
    let signedAt: Date
    let validFrom: Date
    let validUntil: Date
    let status: StatusClaim
}

extension MobileSecurityObject {
    /// Parses the payload of the issuer's signature.
    init(_ payload: ArraySlice<UInt8>) throws(PresentationDefect) {
        guard let content = (try? CBORReader.read(payload))?.embedded else {
            throw Self.malformed("The issuer signed something else than a MobileSecurityObject with tag 24.")
        }
        guard content["version"]?.text == "1.0" else {
            throw Self.malformed("The version of the MobileSecurityObject is not 1.0.")
        }
        guard let algorithm = content["digestAlgorithm"]?.text.flatMap(DigestAlgorithm.init) else {
            throw Self.malformed("The digestAlgorithm is not SHA-256, SHA-384 or SHA-512.")
        }
        guard let type = content["docType"]?.text, let digests = content["valueDigests"], case .map = digests else {
            throw Self.malformed("The MobileSecurityObject has no docType or no valueDigests.")
        }
        guard let key = content["deviceKeyInfo"]?["deviceKey"] else {
            throw PresentationDefect(.unbound, "The issuer signed no key of a device.")
        }
        do throws(PublicKeyDefect) {
            deviceKey = try PublicKey(coseKey: key)
        } catch {
            throw Self.malformed(error.detail)
        }
        guard let validity = content["validityInfo"], let signedAt = Self.time("signed", in: validity),
            let validFrom = Self.time("validFrom", in: validity),
            let validUntil = Self.time("validUntil", in: validity)
        else {
            throw Self.malformed("The validityInfo has no signed, validFrom or validUntil, each a UTC time with tag 0.")
        }
        self.type = type
        digestAlgorithm = algorithm
        self.digests = digests
        (self.signedAt, self.validFrom, self.validUntil) = (signedAt, validFrom, validUntil)
        status = Self.status(content["status"])
    }

    /// Whether the issuer signed an element, as it was received.
    func covers(_ item: IssuerSignedItem) -> Bool {
        guard let digest = digests[CBORKey(item.nameSpace)]?[CBORKey(item.digestID)]?.bytes else { return false }
        return digest.elementsEqual(digestAlgorithm.digest(of: item.received))
    }

    private static func malformed(_ detail: String) -> PresentationDefect { PresentationDefect(.malformed, detail) }

    private static func time(_ name: CBORKey, in validity: CBORValue) -> Date? {
        guard case .tagged(let tag)? = validity[name], tag.number == 0 else { return nil }
        return tag.value.text.flatMap { Date(rfc3339: $0) }
    }

    /// The place in a token status list (ISO/IEC 18013-5 2nd edition §12.3.6).
    private static func status(_ value: CBORValue?) -> StatusClaim {
        guard let value else { return .none }
        guard let list = value["status_list"], let uri = list["uri"]?.text,
            let index = list["idx"]?.number.flatMap({ Int(exactly: $0) })
        else { return .unreadable }
        return .list(StatusReference(uri: uri, index: index))
    }
}
